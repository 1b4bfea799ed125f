#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and what forward reads and writes by a tensor's `.data`, and sets for buffers. Needs PyTorch; scripts/sweep --package runs it.

What build/bin/accc makes of the files is compared with PyTorch where that is built.
"""

import unittest

import torch
from torch import nn

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export



class Scaled(nn.Linear):
    """Multiplies with what gets no gradient."""

    def forward(self, x):
        return {"loss": (super().forward(x) * self.weight.data.abs().mean()).square().mean()}


class Ranked(nn.Linear):
    """Sums pairs of results that their order decides, as Lovasz losses do."""

    def forward(self, x):
        y = super().forward(x).flatten()
        errors, order = y.abs().sort(descending=True)
        return {"loss": (errors * torch.arange(len(y)) * x.flatten()[order.data % x.numel()]).mean()}


class Placed(nn.Linear):
    """Puts its weight where the input is, which it is already."""

    def forward(self, x):
        self.weight.data = self.weight.data.to(x.device)
        return {"loss": super().forward(x).square().mean()}


class Moved(nn.Module):
    """Puts a part where the input is, in its type, and itself."""

    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2))

    def forward(self, x):
        self.float()
        return {"loss": self.part.to(x.device, x.dtype)(x).square().mean()}


class Widened(Moved):
    def forward(self, x):
        return {"loss": self.part.double()(x.double()).square().mean().float()}


class Averaged(nn.Linear):
    """Keeps an average in a buffer, as a codebook does, and another in a tensor that it sets for one."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("mean", torch.zeros(sizes[0]))
        self.register_buffer("size", torch.ones(sizes[0]))

    def forward(self, x):
        self.mean.data.lerp_(x.mean(0), 0.1)
        self.size.data = 0.9 * self.size + 0.1 * x.abs().mean(0)
        return {"loss": super().forward((x - self.mean) / self.size).square().mean()}


class Centred(nn.Module):
    """Sets another tensor for its buffer, in a part of a module."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(4))

    def forward(self, x):
        y = x - self.mean
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return y * y


class Shrunk(nn.Linear):
    """Has its weight smaller with each step."""

    def forward(self, x):
        self.weight.data = 0.9 * self.weight.data
        return {"loss": super().forward(x).square().mean()}


class Overwritten(nn.Linear):
    """Its backward pass reads what was written over."""

    def forward(self, x):
        y = super().forward(x)
        squares = (y * y).sum()
        y.data.mul_(2.0)
        return {"loss": squares + y.sum()}


class Adversarial(nn.Module):
    """A generator against a discriminator, which is frozen while that is trained; `by_attribute`: it sets the attribute."""

    def __init__(self, by_attribute):
        super().__init__()
        self.generator, self.discriminator, self.by_attribute = nn.Linear(4, 4), nn.Linear(4, 1), by_attribute

    def require(self, required):
        if not self.by_attribute:
            self.discriminator.requires_grad_(required)
            return
        for x in self.discriminator.parameters():
            x.requires_grad = required

    def forward(self, x):
        found = self.generator(x)
        self.require(False)
        fooled = self.discriminator(found).sigmoid().mean()
        self.require(True)
        return {"loss": self.discriminator(found.detach()).sigmoid().mean() - fooled}


class Thawing(nn.Linear):
    """Says in forward that a parameter is trained."""

    def forward(self, x):
        self.weight.requires_grad_(True)
        return {"loss": super().forward(x).square().mean()}


class DataTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.x = torch.randn(6, 4)

    def trained(self, module, *exporters):
        """What is trained from each exporter's file is what PyTorch trains, and the module stays as it was."""
        state = {name: x.clone() for name, x in module.state_dict().items()}
        memory = {name: x.data_ptr() for name, x in module.named_parameters()}
        for exporter in exporters:
            golden = self.folder / f"{type(module).__name__}.{exporter}"
            accc_export.golden(module, self.x, golden, loss="output:loss", exporter=exporter, steps=3, lr=0.1)
            self.assertTrue(all(torch.equal(x, state[name]) for name, x in module.state_dict().items()))
            self.assertEqual({name: x.data_ptr() for name, x in module.named_parameters()}, memory)
            self.compare(golden)

    def test_what_is_read(self):
        self.trained(Scaled(4, 2), "torch.export", "joint")
        self.trained(Ranked(4, 2), "torch.export", "joint", "dynamo", "torchscript")

    def test_what_is_written(self):
        self.trained(Averaged(4, 2), "torch.export", "joint")
        self.trained(Shrunk(4, 2), "torch.export")

    def test_what_is_set(self):
        class Net(nn.Sequential):
            def forward(self, x):
                return {"loss": super().forward(x).square().mean()}

        self.trained(Net(Centred(), nn.Linear(4, 2)), "torch.export", "joint")

    def test_what_is_frozen_for_a_while(self):
        for by_attribute in (False, True):
            module = Adversarial(by_attribute)
            self.trained(module, "torch.export", "joint")
            with self.refusal(r"gradient stops in the module \(.*discriminator.bias would be trained by"):
                accc_export.export(module, self.x, self.folder / "m.onnx")
            self.assertTrue(all(x.requires_grad for x in module.parameters()))

    def test_what_is_thawed(self):
        module = Thawing(4, 2)
        module.weight.requires_grad_(False)
        for path in "m.pt2", "m.onnx":
            with self.refusal("forward sets requires_grad=True for the parameter weight"):
                accc_export.export(module, self.x, self.folder / path)
            self.assertFalse(module.weight.requires_grad)

    def test_what_is_there_already(self):
        self.trained(Placed(4, 2), "torch.export", "joint", "dynamo", "torchscript")
        self.trained(Moved(), "torch.export", "joint", "dynamo", "torchscript")
        with self.refusal("forward converts a Sequential, of torch.float32 on cpu: convert it before the export"):
            accc_export.export(Widened(), self.x, self.folder / "m.pt2")

    def test_what_the_backward_pass_reads(self):
        with self.refusal("no gradient of the exported program, .*modified by an inplace operation"):
            accc_export.export(Overwritten(4, 2), self.x, self.folder / "m.pt2")

    def test_what_onnx_cannot_say(self):
        for module, problem in (
            (Scaled(4, 2), "gradient stops .*weight would be trained by another gradient"),
            (Averaged(4, 2), "changes the buffer mean"),
            (Shrunk(4, 2), "writes into the parameter weight"),
        ):
            state = {name: x.clone() for name, x in module.state_dict().items()}
            with self.refusal(problem):
                accc_export.export(module, self.x, self.folder / "m.onnx")
            self.assertTrue(all(torch.equal(x, state[name]) for name, x in module.state_dict().items()))


if __name__ == "__main__":
    unittest.main()
