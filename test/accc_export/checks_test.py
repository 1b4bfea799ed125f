#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and modules that ask for values, or for sizes that depend on values: what is traced all the same, and what is refused."""

import functools
import unittest

import torch
from torch import nn
from torch.nn import functional

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export


class Checking(nn.Linear):
    """Asks whether something holds of its input."""

    def __init__(self, *checks):
        super().__init__(4, 2)
        self.checks = checks

    def forward(self, x):
        for check in self.checks:
            check(x)
        return {"loss": super().forward(x).square().mean()}


class Deriving(Checking):
    """Takes a derivative as well, which only graphs of what autograd runs have."""

    def forward(self, x):
        x = x.detach().requires_grad_()
        return {"loss": torch.autograd.grad(super().forward(x)["loss"], x, create_graph=True)[0].square().mean()}


def raises(x):
    if x.max() > 100:
        raise ValueError("too large")


def asserts(x):
    assert (x > -100).all(), "too small"


def asserts_in_a_line(x):
    if x.dim(): assert not torch.isnan(x).any()  # noqa: E701


def asks_unless_traced(x):
    """As transformers does of masks."""
    if not torch.compiler.is_exporting() and x.mean() > 100:
        x.div_(100)


def asks_for_a_number(x):
    if not torch.isfinite(x).all().item():
        raise ValueError("infinite")


def compares(x):
    if torch.equal(x, torch.zeros_like(x)) or torch.allclose(x, torch.ones_like(x)):
        raise RuntimeError("nothing to learn")


def calls_what_raises(x):
    raises(x.abs())


def computes(x):
    if x.max() > 100:
        x.div_(100)


def reshapes(x):
    """Which PyTorch raises an error for, where the example does not call for it."""
    if x.max() > 100:
        x.view(7, 3)


def scales(x):
    """And raises an exception where it does not scale the example, but not where it need not scale an input."""
    if x.max() > 1:
        x.div_(255)
    assert x.max() <= 1


def clears(x):
    """Likewise by a number."""
    number = x.max().item()
    if x.max() > 1:
        number = 0
    if number > 0.5:
        raise ValueError("too large")


def draws(x):
    """As layers that are left out at random do."""
    if torch.rand(()).item() < 0.5:
        x.mul_(2)


def divides(x):
    x.div_(float(x.max()))


def writes(x, *, into):
    """Asks what it wrote into a part of numbers that are known."""
    known = torch.tensor([-1.0, 0.0]) if into == "tensor" else torch.zeros(2)
    (known.view(1, 2)[0] if into == "view" else known)[1] = x.sum()
    if known.sum() > 0:
        x.mul_(2)


def asks_what_is_known(x):
    known = torch.zeros(2)
    known[1] = 3.0
    if known.sum() != 3:
        x.mul_(2)


def asks_for_zeros(x):
    """Of which no value of the input decides anything."""
    if torch.zeros_like(x).any():
        x.mul_(2)


class Uncertain(nn.Linear):
    """Gives a mean and a variance. PyTorch's loss, a function in Python, checks that no variance is negative."""

    def __init__(self):
        super().__init__(4, 8)

    def forward(self, x):
        mean, deviation = super().forward(x).chunk(2, 1)
        return {"loss": functional.gaussian_nll_loss(mean, x, deviation.square())}


class Spoken(nn.Module):
    """Alignments of sounds with labels, of lengths that are lists, are known, or are given."""

    def __init__(self, **options):
        super().__init__()
        self.layer, self.options = nn.Linear(8, 6), options

    def forward(self, sound, labels, times=None, lengths=None):
        scores = functional.log_softmax(self.layer(sound), -1)
        if times is None:
            times, lengths = [scores.shape[0]] * scores.shape[1], [labels.shape[1]] * scores.shape[1]
        return {"loss": functional.ctc_loss(scores, labels, times, lengths, **self.options).sum()}


class ChecksTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.x = torch.randn(5, 4)

    def trained(self, module, inputs, exporter, **options):
        golden = self.folder / "golden"
        accc_export.golden(module, inputs, golden, loss="output:loss", exporter=exporter, steps=2, **options)
        self.compare_library(golden, exporter)

    def test_checks_that_raise(self):
        module = Checking(asks_unless_traced, raises, asserts, asserts_in_a_line, asks_for_a_number, compares, calls_what_raises)
        for exporter in ("torch.export", "joint", "dynamo"):
            with self.assertWarns(accc_export.ExportWarning) as warned:
                self.trained(module, self.x, exporter)
            text = str(warned.warning)
            for what in ("raises ValueError", "raises AssertionError", "raises RuntimeError", "no file has the checks"):
                self.assertIn(what, text)
            self.assertEqual(text.count("checks_test.py:"), 5)  # one of them is called twice
        with self.assertWarnsRegex(accc_export.ExportWarning, "forward checks values .*raises ValueError"):
            self.trained(Deriving(raises), self.x, "joint")

    def test_checks_inside_of_functions(self):
        for exporter in ("torch.export", "joint"):
            with self.assertWarnsRegex(accc_export.ExportWarning, r"forward checks values \(.*functional.py:\d+ raises ValueError\)"):
                self.trained(Uncertain(), self.x, exporter)
        # Which clamps the variance where no gradient sees it.
        with self.refusal("forward writes numbers into a tensor whose gradient does not see it"):
            accc_export.export(Uncertain(), self.x, self.folder / "m.onnx")

    def test_branches_that_compute(self):
        self.assertGreater(self.x.max(), 1)
        for check, line in (computes, 1), (reshapes, 2), (scales, 2), (clears, 3):
            module = Checking(raises, check)
            message = f"torch.export fails: what .*checks_test.py:{check.__code__.co_firstlineno + line} .* depends on the values of a tensor"
            for call, options in (accc_export.export, {}), (accc_export.export_joint, {"loss": "output:loss"}):
                with self.refusal(message):
                    call(module, self.x, self.folder / "m.pt2", **options)
            self.assertFalse((self.folder / "m.pt2").exists())
            self.assertNotIn("forward", vars(module))

    def test_what_is_written_is_not_known(self):
        x = -self.x.abs()  # the branch is that of what was known before the write
        for into, exporter in ("part", "torch.export"), ("view", "joint"), ("tensor", "dynamo"):
            with self.subTest(exporter, into=into), self.refusal("depends on the values of a tensor"):
                self.trained(Checking(functools.partial(writes, into=into)), x, exporter)
        self.trained(Checking(asks_what_is_known), x, "joint")

    def test_what_a_trace_builds_in(self):
        for check, line in (computes, 1), (draws, 2), (divides, 1), (functools.partial(writes, into="part"), 4):
            first = getattr(check, "func", check).__code__.co_firstlineno
            for exporter in ("torchscript", "auto"):
                with self.refusal(rf"depends on the values of a tensor \(.*checks_test.py:{first + line}\), of which .* writes what the example decides"):
                    accc_export.export(Checking(check), self.x, self.folder / "m.onnx", exporter=exporter)
        with self.assertWarnsRegex(accc_export.ExportWarning, "forward checks values .*raises ValueError.*raises AssertionError"):
            self.trained(Checking(raises, asserts, asks_what_is_known, asks_for_zeros), self.x, "torchscript")

    def test_alignments(self):
        sound, labels = torch.randn(10, 3, 8), torch.randint(1, 6, (3, 4))
        given = {"times": torch.tensor([10, 3, 8]), "lengths": torch.tensor([4, 3, 2])}
        for exporter in ("torch.export", "joint"):
            self.trained(Spoken(), {"sound": sound, "labels": labels}, exporter)
            self.trained(Spoken(reduction="sum", zero_infinity=True), {"sound": sound, "labels": labels, **given}, exporter)
        dynamic = {"batch": {"sound": 1, "labels": 0, "times": 0, "lengths": 0}}
        accc_export.export(Spoken(), {"sound": sound, "labels": labels, **given}, self.folder / "open.pt2", dynamic=dynamic)


if __name__ == "__main__":
    unittest.main()
