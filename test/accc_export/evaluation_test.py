#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What accc_export says of modules whose evaluation is not what a file knows of it."""

import unittest
import warnings

import torch
from torch import nn
from torch.nn import functional

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export


class By(nn.Linear):
    """What `evaluated` makes of its output in evaluation, and `trained` in training."""

    def __init__(self, trained, evaluated):
        super().__init__(4, 4)
        self.trained, self.evaluated = trained, evaluated

    def forward(self, x):
        y = super().forward(x)
        return self.trained(y) if self.training else self.evaluated(y)


class Auxiliary(By):
    """As GoogLeNet does: a tuple in training, its first element in evaluation."""

    def __init__(self):
        super().__init__(lambda y: (y, y.tanh()), lambda y: y)


class Dropping(nn.Linear):
    """Calls functions in place of modules; `always` also in evaluation."""

    def __init__(self, always):
        super().__init__(4, 4)
        self.always = always
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("variance", torch.ones(4))

    def forward(self, x):
        training = self.always or self.training
        y = functional.dropout(super().forward(x), 0.5, training)
        y = torch.dropout(functional.batch_norm(y, self.mean, self.variance, training=training), 0.5, training)
        q = y[None, None]
        return y + functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5 if training else 0.0, is_causal=True)[0, 0]


class Everything(nn.Module):
    """Whatever files know the evaluation of."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, 8), nn.BatchNorm1d(8), nn.RReLU(), nn.AlphaDropout(), nn.BatchNorm1d(8, track_running_stats=False), nn.Dropout(inplace=True)
        )
        self.norm, self.channels = nn.InstanceNorm1d(8, track_running_stats=True), nn.Dropout1d()
        self.recurrent = nn.LSTM(8, 8, 2, dropout=0.5)
        self.attention = nn.TransformerEncoderLayer(8, 2, 8)

    def forward(self, x):
        x = self.recurrent(self.layers(x))[0]
        x = self.channels(self.norm(x.t()[None]))[0].t()
        return self.attention(x[None])


class Merged(nn.Linear):
    """Adds its update to its weight for evaluation, as layers of low rank do."""

    def __init__(self):
        super().__init__(4, 4)
        self.update, self.merged = nn.Parameter(torch.randn(4, 4)), False

    def train(self, mode=True):
        if self.merged == mode:
            self.weight.data += -self.update.data if mode else self.update.data
            self.merged = not mode
        return super().train(mode)

    def forward(self, x):
        return super().forward(x) + (0 if self.merged else x @ self.update.t())


class EvaluationTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.pt2"
        self.x = torch.randn(6, 4)

    def told(self, pattern, module, paths=()):
        for path in paths or (self.path, self.path.with_suffix(".onnx")):
            with self.assertWarnsRegex(accc_export.ExportWarning, "evaluation is not what eval_step will be: " + pattern):
                accc_export.export(module, self.x, path)
            self.assertTrue(all(part.training for part in module.modules()))

    def silent(self, *modules):
        for module in modules:
            with warnings.catch_warnings():
                warnings.simplefilter("error", accc_export.ExportWarning)
                accc_export.export(module, self.x, self.path)

    def test_branches(self):
        self.told(r"output differs by 1 of its size\. forward does something by self\.training", By(lambda y: 2 * y, lambda y: y))
        self.told(r"output is of shape \[6\] in evaluation, and \[6, 4\] in the file\.", By(lambda y: y, lambda y: y.sum(1)))
        self.told("b differs by", By(lambda y: {"a": y, "b": y}, lambda y: {"a": y, "b": y.softmax(1), "c": y}))
        self.told("output_0 differs by", By(lambda y: (y, y.tanh()), lambda y: (y + 1, y.tanh())))

    def test_a_norm_of_weights_that_has_converged(self):
        layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4), n_power_iterations=50)
        self.told("output differs by", layer, [self.path])

    def test_what_is_the_same_in_evaluation(self):
        self.told("output differs by", Dropping(always=True), [self.path])
        self.silent(Dropping(always=False))

    def test_what_files_know(self):
        self.silent(Everything(), Auxiliary(), By(lambda y: y, lambda y: y / 1.0))

    def test_what_is_told_of_otherwise(self):
        """Of noise warn_of_chance tells, and what cannot be evaluated has no evaluation."""

        def fails(y):
            raise ValueError

        self.silent(By(lambda y: y, fails), By(lambda y: y + torch.randn(4), lambda y: y + torch.randn(4)))

    def test_what_a_mode_does_to_weights_is_undone(self):
        for training in (True, False):
            layer = Merged()
            layer.train(training)
            before = {name: x.clone() for name, x in layer.state_dict().items()}
            self.silent(layer)
            self.assertEqual((layer.training, layer.merged), (training, not training))
            self.assertTrue(all(torch.equal(x, before[name]) for name, x in layer.state_dict().items()))


if __name__ == "__main__":
    unittest.main()
