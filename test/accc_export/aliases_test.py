#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and tensors in the memory of parameters that a module keeps. Needs PyTorch; scripts/sweep --package runs it.

What build/bin/accc makes of the files is compared with PyTorch where that is built.
"""

import copy
import unittest

import torch
from safetensors.torch import load_file
from torch import nn

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export



class Target:
    def __init__(self, weight):
        self.weight = weight


class Kept(nn.Linear):
    """Keeps its weight without a gradient, as losses of reinforcement learning do, in something that is no list."""

    def __init__(self, *sizes, of=torch.Tensor.detach):
        super().__init__(*sizes)
        self.of = of
        self.target = None

    def forward(self, x):
        if self.target is None:
            self.target = Target(self.of(self.weight))
        return {"loss": (super().forward(x) * (x @ self.target.weight.T)).mean()}


class Sloped(Kept):
    """Takes a derivative, too."""

    def forward(self, x):
        x = x.requires_grad_()
        loss = super().forward(x)["loss"]
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        return {"loss": loss + slope.square().mean()}


class Apart(nn.Linear):
    """Keeps what it does not read, and a copy that it does."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.kept, self.first = self.weight.detach(), self.weight.detach().clone()

    def forward(self, x):
        return {"loss": (super().forward(x) * (x @ self.first.T)).mean()}


class Moving(nn.Linear):
    """Reads a buffer by an attribute that holds it, too, or what `of` gives of it."""

    def __init__(self, *sizes, of=lambda scale: scale):
        super().__init__(*sizes)
        self.register_buffer("scale", torch.ones(sizes[1]))
        self.kept = of(self.scale)

    def forward(self, x):
        before = self.kept.sum()
        self.scale.mul_(0.5)
        return {"loss": (super().forward(x) * self.kept).square().mean() + before}


class AliasesTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.x = torch.randn(3, 4)

    def trained(self, module, exporter):
        golden = self.folder / "golden"
        accc_export.golden(module, self.x, golden, loss="output:loss", exporter=exporter, steps=3, lr=0.5)
        follows = hasattr(module, "target") or isinstance(module, Moving)
        for name in ("golden", "golden64") if follows else ("golden",):  # what is a copy stays in float32
            torch.testing.assert_close(load_file(golden / f"{name}.safetensors")["losses"], self.losses(module))
        self.compare(golden)

    def losses(self, module):
        """What PyTorch makes of the module itself, whose numbers are put back."""
        state = copy.deepcopy(module.state_dict())
        optimizer, losses = torch.optim.SGD(module.parameters(), lr=0.5), []
        for _ in range(3):
            loss = module(self.x)["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        module.load_state_dict(state)
        return torch.stack(losses)

    def test_what_is_kept_is_trained(self):
        for module in Kept(4, 2), Sloped(4, 2):
            for exporter in ("torch.export", "joint") if type(module) is Kept else ("joint",):
                self.trained(module, exporter)  # also where a pass has been before

    def test_buffers_that_move(self):
        module = Moving(4, 2)
        self.trained(module, "torch.export")
        self.assertIs(module.kept, module.scale)
        with self.refusal("a part of the buffer scale that it keeps"):
            accc_export.export(Moving(4, 2, of=lambda scale: scale[:1]), self.x, self.folder / "m.pt2")
        with self.refusal("changes the buffer scale"):
            accc_export.export(module, self.x, self.folder / "m.onnx")

    def test_what_is_not_read(self):
        for exporter in ("torch.export", "joint"):
            self.trained(Apart(4, 2), exporter)
        accc_export.export(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), self.x, self.folder / "m.onnx")

    def test_refusals(self):
        module = Kept(4, 2)
        for _ in range(2):
            with self.refusal("keeps in the memory of the parameter weight .*ends in .pt2"):
                accc_export.export(module, self.x, self.folder / "m.onnx")
            module(self.x)
        with self.refusal("a part of the parameter weight that it keeps"):
            accc_export.export(Kept(4, 2, of=lambda weight: weight.detach()[:1]), self.x, self.folder / "m.pt2")


if __name__ == "__main__":
    unittest.main()
