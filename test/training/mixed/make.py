# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes those of the folders beside it that are no model of examples/export: small modules with PyTorch's own training
under torch.autocast.

    python make.py [CASE...]     (needs what accc_export needs)

The others are made by examples/export/export.py --precision.
"""

import argparse
import pathlib
import sys

import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
from accc_export import golden  # noqa: E402


class Chosen(nn.Module):
    """What a product reads rounded, and something else has to read as it is: the greatest of some elements, which its
    gradient looks for among them; probabilities whose complement has a logarithm; logarithms that have an exponential."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.pooled = nn.Linear(3, 16), nn.LayerNorm(16), nn.Linear(16, 16)
        self.gate, self.mixed, self.last = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 5)

    def forward(self, x, group):
        points = torch.relu(self.norm(self.first(x)))
        whole = self.pooled(points.amax(1))
        parts, index = torch.zeros(4, 3, 16, dtype=points.dtype), group[..., None].expand(-1, -1, 16)
        parts = parts.scatter_reduce(1, index, points, "amax", include_self=False)
        likely = torch.sigmoid(3 * self.norm(self.gate(whole + self.pooled(parts).sum(1))))
        chances = torch.log_softmax(self.mixed(likely), 1)
        left = (torch.log(1 - likely) + chances.exp() * likely).mean()
        return self.last(likely) + self.last(chances) + left


class Pointed(nn.Module):
    """Probabilities of which one is nearly all, read by a product and averaged by others. The gradient of the softmax subtracts the average
    of what it is given from each of it, which leaves less than what the rounded probabilities lack of a sum of one."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Parameter(20 * torch.randn(12, 40))
        self.value, self.last = nn.Linear(6, 4), nn.Linear(4, 5)

    def forward(self, x):
        weights = torch.softmax(self.scores, dim=-1)
        place = (weights * torch.arange(2000, 2040, dtype=x.dtype)).sum(-1)
        return self.last((weights @ self.value(x)).mean(1)) + (place.mean() - 2000) * torch.arange(5, dtype=x.dtype) / 4


def points():
    return {"x": torch.randn(4, 12, 3), "group": torch.arange(48).reshape(4, 12) * 7 % 5 % 3}


def sequences():
    return {"x": torch.randn(4, 40, 6)}


CASES = {
    "chosen": (Chosen, points, "bf16"),
    "chosen_fp16": (Chosen, points, "fp16"),
    "pointed": (Pointed, sequences, "bf16"),
    "pointed_fp16": (Pointed, sequences, "fp16"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    for case in parser.parse_args().cases:
        torch.manual_seed(0)
        make, inputs, precision = CASES[case]
        golden(make(), inputs(), HERE / case, loss="cross_entropy", target=torch.arange(4), optimizer="sgd", lr=0.05,
               steps=3, precision=precision)
        print(case)


if __name__ == "__main__":
    main()
