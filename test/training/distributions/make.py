# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `distributions.pt2` and `distributions.pt`, which draw from each distribution that PyTorch has.

    python make.py     (needs torch)
"""

import pathlib
import sys
import zipfile

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "exported"))
from make import tidy_script  # noqa: E402
from models import tidy  # noqa: E402

COUNT = 4096


class Distributions(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("weights", torch.tensor([1.0, 0.0, 3.0, 4.0]))

    def forward(self, x):
        zeros, many = x.expand(COUNT), self.weights.expand(COUNT, 4)
        noise = torch.randn(COUNT) * self.scale
        return {
            "loss": noise.square().mean(),
            "exponential": torch.empty_like(zeros).exponential_(2.0),
            "geometric": torch.empty_like(zeros).geometric_(0.3),
            "log_normal": torch.empty_like(zeros).log_normal_(0.2, 0.5),
            "cauchy": torch.empty_like(zeros).cauchy_(1.0, 0.5),
            "normal": torch.normal(zeros + 3, zeros + 0.5),
            "replaced": torch.multinomial(self.weights, COUNT, replacement=True),
            "chosen": torch.multinomial(many, 2),
            "permutation": torch.randperm(64),
            "alpha_dropout": F.alpha_dropout(noise, 0.3, training=True),
            "rrelu": F.rrelu(zeros - 1, training=True),
            "gumbel": F.gumbel_softmax(many.log(), hard=True).argmax(1),
        }


def main():
    inputs = {"x": torch.zeros(1)}
    path = HERE / "distributions.pt2"
    torch.export.save(torch.export.export(Distributions(), (), kwargs=inputs), path)
    tidy(path, zipfile.ZIP_DEFLATED)
    path = HERE / "distributions.pt"
    torch.jit.save(torch.jit.trace(Distributions(), example_kwarg_inputs=inputs, check_trace=False, strict=False), path)
    tidy_script(path)


if __name__ == "__main__":
    main()
