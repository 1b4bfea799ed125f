#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and modules of which two calls compute something else: exports record one call."""

import functools
import random
import types
import unittest

import numpy
import torch
from safetensors.torch import load_file
from torch import nn

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export

CALLS = [0]


class Steps(nn.Linear):
    """A factor that falls with the number of calls, which `count` gives."""

    def __init__(self, count):
        super().__init__(4, 2)
        self.count = count

    def forward(self, x):
        return {"loss": super().forward(x).square().mean() / self.count()}


def of_global():
    CALLS[0] += 1
    return CALLS[0]


def of_object():
    held = types.SimpleNamespace(calls=0)

    def count():
        held.calls += 1
        return held.calls

    return count


def of_class():
    Steps.calls = getattr(Steps, "calls", 0) + 1
    return Steps.calls


def of_default(held=[]):  # noqa: B006
    held.append(None)
    return len(held)


class Mean(nn.Linear):
    """A mean of all batches in a list of lists, of little weight."""

    def __init__(self):
        super().__init__(4, 2)
        self.held = [[torch.zeros(2)]]

    def forward(self, x):
        y = super().forward(x)
        self.held[0][0] = 0.9999 * self.held[0][0] + 0.0001 * y.detach().mean(0)
        return {"loss": (y - self.held[0][0]).square().mean()}


class Chosen(nn.Linear):
    """A layer that is left out by what a generator gives, in training alone and with little probability."""

    def __init__(self, generator):
        super().__init__(4, 4)
        self.generator = generator

    def forward(self, x):
        left_out = self.training and self.generator.random() < 1e-3
        return {"loss": (x if left_out else super().forward(x)).square().mean() + self.weight.sum()}


class Scaled(nn.Linear):
    """Noise of a generator that nobody sees."""

    def __init__(self):
        super().__init__(4, 2)
        generator = numpy.random.default_rng(0)
        self.draw = lambda: generator.random()

    def forward(self, x):
        return {"loss": super().forward(x).square().mean() * self.draw()}


class Seeded(nn.Linear):
    """Noise from a generator of its own."""

    def __init__(self):
        super().__init__(4, 2)
        self.generator = torch.Generator().manual_seed(0)

    def forward(self, x):
        noise = torch.randn(x.shape, generator=self.generator)
        return {"loss": super().forward(x + noise).square().mean()}


@functools.lru_cache
def table(count):
    return torch.arange(count).cos()


class Cached(nn.Linear):
    """A table that the first call makes for all modules."""

    def forward(self, x):
        return {"loss": (super().forward(x) * table(len(x))[:, None]).square().mean()}


class Doubled(nn.Linear):
    """Writes into its input."""

    def forward(self, x):
        x.mul_(2)
        return {"loss": super().forward(x).square().mean()}


class Freezing(nn.Linear):
    """Sets which parameters are trained in forward."""

    def forward(self, x):
        self.bias.requires_grad_(False)
        return {"loss": super().forward(x).square().mean()}


class Inferring(nn.Linear):
    """A factor that has no gradient."""

    def forward(self, x):
        y = super().forward(x)
        with torch.inference_mode():
            scale = y.std()
        return {"loss": (y / (scale.clone() + 1)).square().sum()}


class Warming(nn.BatchNorm1d):
    """Normalises more and more from batch to batch."""

    def forward(self, x):
        y = super().forward(x)
        return {"loss": x.lerp(y, (0.1 * self.num_batches_tracked).clamp(max=1)).square().mean()}


class RepeatsTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.x = torch.randn(5, 4)

    def refused(self, module, message):
        for path in "m.pt2", "m.onnx":
            with self.refusal(message):
                accc_export.export(module, self.x, self.folder / path)
        with self.refusal(message):
            accc_export.export_joint(module, self.x, self.folder / "m.pt2", loss="output:loss")
        with self.refusal(message):
            accc_export.golden(module, self.x, self.folder / "golden", loss="output:loss")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_kept_elsewhere(self):
        for module in (*map(Steps, (of_global, of_object(), of_class, of_default)), Mean()):
            self.refused(module, "forward computes something else when it is called again with the same inputs")

    def test_draws_of_others(self):
        for generator, name in (
            (random, "Python's random"),
            (numpy.random, "NumPy's random"),
            (random.Random(0), "the generator 1.generator"),
            (numpy.random.default_rng(0), "the generator 1.generator"),
        ):
            module = nn.Sequential(nn.Identity(), Chosen(generator))
            self.refused(module, f"forward draws from {name}, and exports record one outcome")
        self.refused(Scaled(), "or draws from another generator than PyTorch's")

    def test_what_is_written_into_inputs(self):
        x = self.x.clone()
        for exporter in "torch.export", "dynamo", "torchscript", "joint":
            accc_export.golden(Doubled(4, 2), x, self.folder / "golden", loss="output:loss", exporter=exporter, steps=2, noise=False)
            self.assertTrue(torch.equal(load_file(self.folder / "golden" / "inputs.safetensors")["x"], self.x))
            self.assertTrue(torch.equal(x, self.x))

    def test_what_is_frozen_in_forward(self):
        module = Freezing(4, 2)
        self.refused(module, "forward sets requires_grad=False for the parameter bias")
        self.assertTrue(module.bias.requires_grad)

    def test_how_many_batches_a_norm_has_seen(self):
        with self.refusal("forward reads how many batches a batch norm has seen"):
            accc_export.export(Warming(4), self.x, self.folder / "m.onnx")
        accc_export.export(Warming(4), self.x, self.folder / "m.pt2")

    def test_inference_mode(self):
        with self.refusal("the gradient stops in the module"):
            accc_export.export(Inferring(4, 2), self.x, self.folder / "m.onnx")
        with self.refusal("other gradients than the module.*inference_mode"):
            accc_export.export(Inferring(4, 2), self.x, self.folder / "m.pt2")
        accc_export.export_joint(Inferring(4, 2), self.x, self.folder / "m.pt2", loss="output:loss")

    def test_what_does_no_harm(self):
        seeded = Seeded()
        before = seeded.generator.get_state()
        accc_export.export(seeded, self.x, self.folder / "m.pt2")
        self.assertTrue(torch.equal(seeded.generator.get_state(), before))
        for path in "m.pt2", "m.onnx":
            accc_export.export(Cached(4, 2), self.x, self.folder / path)
            accc_export.export(nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.5)), self.x, self.folder / path)


if __name__ == "__main__":
    unittest.main()
