# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More cases of operators.py: models whose forward takes derivatives, those of test/training/exported/derivatives.py in the
sizes that they are trained in."""

import pathlib
import sys

from torch import nn

from operator_cases import i, r

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "training" / "exported")]

import derivatives  # noqa: E402

CASES = {}


class Loss(nn.Module):
    """A model's loss alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs)["loss"]


def case(name, model, *inputs):
    def make():
        return Loss(model()), tuple(given() for given in inputs)

    make.is_joint = True
    CASES[name] = make


case("derived_equation_4096x64", lambda: derivatives.Equation(64), r(4096, 1), r(4096, 1), r(4096, 1))
case("derived_forces_64x64", lambda: derivatives.Forces(64), i(5, 64), r(64, 3), lambda: derivatives.pairs(64), r(64, 3))
case("derived_penalty_32x64x32x32", lambda: derivatives.Penalized(64, 32), r(32, 2, 32, 32), r(32, 2, 32, 32), r(32, 1, 1, 1))
case("derived_inner_step_25x32x28x28", lambda: derivatives.Adapted(32, 28), r(25, 1, 28, 28), i(3, 25), r(25, 1, 28, 28), i(3, 25))
case("derived_motion_256", derivatives.Motion, r(256, 4), r(256, 2))
