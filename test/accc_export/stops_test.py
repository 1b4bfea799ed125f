#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and gradients that are others in a file, where the example alone does not show it."""

import unittest

import torch
from torch import nn

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export


class Joined(nn.Module):
    """A loss of what two layers give, by a function of both."""

    def __init__(self, function):
        super().__init__()
        self.left, self.right, self.function = nn.Linear(4, 3), nn.Linear(4, 3), function

    def forward(self, x):
        return {"loss": self.function(self.left(x), self.right(x)).square().mean()}


class Clamping(torch.autograd.Function):
    """Passes on the gradient of what it clamps, as quantizations do."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(-2, 2)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Clipping(torch.autograd.Function):
    """Clips gradients."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.clamp(-5, 5)


class Scaling(torch.autograd.Function):
    """Has the gradient that any exporter derives."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        y = x.sigmoid()
        return gradient * y * (1 + x * (1 - y))


def penalized(left, right):
    return left * (1 + (right.mean() - 9).clamp(min=0).detach())


def masked(left, right):
    return torch.where(left > -9, left, right.detach())


def without_gradients(left, right):
    with torch.no_grad():
        weight = (right - 9).relu()
    return left + weight


def bounded(left, right):
    return torch.max(left + 9, right.detach())


def shifted(left, right):
    """The logarithm of a sum of exponentials, which the greatest term does not change."""
    most = right.detach().amax(1, keepdim=True)
    return left + (right - most).exp().sum(1, keepdim=True).log() + most


def rounded(left, right):
    with torch.no_grad():
        places, steps = right.argmax(1, keepdim=True), (right * 4).round()
    return left.gather(1, places) * steps


def clamped_in_place(left, right):
    with torch.no_grad():
        left.clamp_(-9, 9)
    return left + right


def clamped_by_detach(left, right):
    left.detach().clamp_(-9, 9)
    return left + right


def filled(left, right):
    with torch.no_grad():
        left[left > 9] = 9
    return left + right


def written_elsewhere(left, right):
    """What is written has a memory of its own, or a gradient that sees it."""
    with torch.no_grad():
        scale = right.abs()
        scale.clamp_(min=0.1)
        weight = torch.zeros(3)
        weight.add_(left.mean(0)).div_(9)
    return left.mul(right).clamp_(-9, 9) * (scale > 0.2) * (weight > 0)


def alike(left, right):
    """PyTorch's operator clamps norms where no gradient sees it."""
    return torch.nn.functional.cosine_similarity(left, right, dim=0) * left


class StopsTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.x = 0.3 * torch.randn(8, 4)

    def test_stops_of_what_is_zero_in_the_example(self):
        for function in (penalized, masked, without_gradients, bounded):
            with self.subTest(function.__name__):
                with self.refusal("the gradient stops in the module .*of the example none would come further"):
                    accc_export.export(Joined(function), self.x, self.folder / "m.onnx")
                accc_export.export(Joined(function), self.x, self.folder / "m.pt2")

    def test_writes_that_gradients_do_not_see(self):
        for function in (clamped_in_place, clamped_by_detach, filled):
            with self.subTest(function.__name__):
                with self.refusal("forward writes numbers into a tensor whose gradient does not see it"):
                    accc_export.export(Joined(function), self.x, self.folder / "m.onnx")
                golden = self.folder / function.__name__
                accc_export.golden(Joined(function), self.x, golden, loss="output:loss", exporter="torch.export", steps=2)
                self.compare(golden)

    def test_stops_that_change_nothing(self):
        for function in (shifted, rounded, written_elsewhere, alike):
            accc_export.export(Joined(function), self.x, self.folder / f"{function.__name__}.onnx", exporter="torchscript")

    def test_functions_that_differ_elsewhere(self):
        for function in (Clamping, Clipping):
            module = Joined(lambda left, right, function=function: function.apply(left) + right)
            for name in ("m.pt2", "m.onnx"):
                with self.subTest(function.__name__), self.refusal(rf"other gradients .*with other values than it has now: .*{function.__name__}"):
                    accc_export.export(module, self.x, self.folder / name)
            golden = self.folder / function.__name__
            accc_export.golden(module, self.x, golden, loss="output:loss", optimizer="sgd", lr=0.1, exporter="joint", steps=3)
            self.compare(golden)

    def test_functions_that_differ_nowhere(self):
        module = Joined(lambda left, right: Scaling.apply(left) + right)
        golden = self.folder / "golden"
        accc_export.golden(module, self.x, golden, loss="output:loss", exporter="torch.export", steps=2)
        self.compare(golden)


if __name__ == "__main__":
    unittest.main()
