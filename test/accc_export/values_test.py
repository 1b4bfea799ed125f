#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and ONNX files whose values are others than their module's."""

import unittest
from unittest import mock

import torch
from torch import nn

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export
from accc_export import exporting, values


class Overwriting(nn.Linear):
    """Writes into what `part` makes of its output, and reads that."""

    def __init__(self, part):
        super().__init__(4, 4)
        self.part = part

    def forward(self, x):
        y = super().forward(x)
        self.part(y)[1:3].add_(2)
        return {"loss": y.square().mean(), "y": y}


class ValuesTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.onnx"
        self.x = torch.randn(5, 4)

    def refused(self, pattern, module, **options):
        with self.refusal(pattern):
            accc_export.export(module, self.x, self.path, **options)
        self.assertFalse(self.path.exists())

    def test_writes_that_an_exporter_gets_wrong(self):
        message = r"other values than the module, by ONNX's reference evaluator \(loss, y\): forward writes into parts"
        self.refused(message, Overwriting(lambda y: y.view(-1)), exporter="torchscript")
        accc_export.export(Overwriting(lambda y: y.view(-1)), self.x, self.path)
        self.path.unlink()
        accc_export.export(Overwriting(lambda y: y), self.x, self.path, exporter="torchscript")
        with self.assertWarnsRegex(accc_export.ExportWarning, "whether it did cannot be told, as the module draws random numbers"):
            dropped = nn.Sequential(nn.Dropout(0.5), Overwriting(lambda y: y.view(-1)))
            accc_export.export(dropped, self.x, self.path, exporter="torchscript")

    def test_another_operator(self):
        """Of an exporter that writes a sine for a cosine."""
        run = exporting.run_exporter

        def changed(*args):
            model = run(*args)
            for node in model.graph.node:
                node.op_type = node.op_type.replace("Cos", "Sin")
            return model

        class Cosine(nn.Linear):
            def forward(self, x):
                return super().forward(x).cos()

        with mock.patch.object(exporting, "run_exporter", changed):
            message = r"by ONNX's reference evaluator \(output\): PyTorch's dynamo exporter gets something wrong; name another"
            self.refused(message, Cosine(4, 2), exporter="dynamo")
            with mock.patch.object(values, "_OPERATIONS", 0):  # too large to look at
                accc_export.export(Cosine(4, 2), self.x, self.path, exporter="dynamo")


if __name__ == "__main__":
    unittest.main()
