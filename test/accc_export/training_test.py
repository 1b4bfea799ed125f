#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses and optimizers as python/accc_export reads them. Needs PyTorch; scripts/sweep --package runs it."""

import math
import unittest

import torch
from torch import nn
from torch.nn import functional

from export_case import ExportCase  # first: it makes accc_export importable
from accc_export import training

torch.set_num_threads(1)


class TrainingTest(ExportCase):
    def loss(self, text, scores, target):
        return training.make_loss(text, ["other", "scores"])({"other": scores * 0, "scores": scores}, target)

    def test_losses(self):
        scores, classes, floats = torch.randn(4, 3, 5), torch.randint(3, (4, 5)), torch.rand(4, 3, 5)
        weight = torch.tensor([0.5, 1, 2])
        expected = functional.cross_entropy(scores, classes, weight, ignore_index=1, label_smoothing=0.1)
        text = "cross_entropy=scores,weight=0.5:1:2,ignore_index=1,label_smoothing=0.1"
        self.assertEqual(self.loss(text, scores, classes), expected)
        file = self.folder / "weights.txt"
        file.write_text("0.5 1\n2\n")
        self.assertEqual(self.loss(text.replace("0.5:1:2", str(file)), scores, classes), expected)
        last = self.loss("nll=scores,class_dim=-1", scores.movedim(1, -1), classes)
        self.assertEqual(last, functional.nll_loss(scores, classes))
        expected = functional.cross_entropy(scores, floats, weight, label_smoothing=0.1)
        text = "cross_entropy=scores,probabilities,weight=0.5:1:2,label_smoothing=0.1,class_dim="
        self.assertEqual(self.loss(text + "1", scores, floats), expected)
        self.assertEqual(self.loss(text + "-1", scores.mT, floats.mT), expected)
        for message, text in (
            ("does not say where the classes of scores stand", "cross_entropy=scores,probabilities"),
            ("ignore_index is a class, and the target holds probabilities", "cross_entropy=scores,probabilities,ignore_index=1"),
            ("is of classes, integers, and holds torch.float32; cross_entropy,probabilities takes", "cross_entropy=scores"),
        ):
            with self.refusal(message):
                self.loss(text, scores, floats)
        for name, function in training._ELEMENTS.items():
            own = scores.sigmoid() if name == "bce" else scores
            self.assertEqual(self.loss(f"{name}=scores", own, floats), function(own, floats))
        expected = functional.smooth_l1_loss(scores, floats, beta=0.1)
        self.assertEqual(self.loss("smooth_l1=scores,beta=0.1", scores, floats), expected)
        expected = functional.huber_loss(scores, floats, delta=0.1)
        self.assertEqual(self.loss("huber=scores,delta=0.1", scores, floats), expected)
        expected = functional.binary_cross_entropy_with_logits(scores.mT, floats.mT, pos_weight=weight)
        text = "bce_with_logits=scores,pos_weight=0.5:1:2"
        self.assertEqual(self.loss(text, scores.mT, floats.mT), expected)
        self.assertEqual(self.loss("output:scores", torch.tensor([3.0]), None), 3)

    def test_optimizers(self):
        named = [("b", nn.Parameter(torch.zeros(2)))]
        adam = training.Optimizer("adam,beta2=0.9,amsgrad,weight_decay=0.1,clip_grad_norm=1", None, named)
        settings = adam.torch[0].param_groups[0]
        self.assertEqual((settings["betas"], settings["amsgrad"], settings["weight_decay"]), ((0.9, 0.9), True, 0.1))
        self.assertEqual((adam.clip, adam.lr), (1, 1e-3))
        sgd = training.Optimizer("sgd,momentum=0.9,nesterov,lr=5", 0.5, named)
        self.assertEqual((sgd.lr, sgd.torch[0].param_groups[0]["nesterov"]), (0.5, True))
        valued = training.Optimizer("sgd,clip_grad_value=0.5,lr=1", None, named)
        named[0][1].grad = torch.tensor([3.0, -0.25])
        valued.step()
        self.assertEqual(named[0][1].tolist(), [-0.5, 0.25])
        rmsprop = training.Optimizer("rmsprop,alpha=0.9,centered,clip_grad_norm=0", None, named)
        settings = rmsprop.torch[0].param_groups[0]
        self.assertEqual((rmsprop.lr, settings["alpha"], settings["centered"]), (0.01, 0.9, True))
        self.assertIsNone(rmsprop.clip)
        adagrad = training.Optimizer("adagrad,lr_decay=0.1", None, named)
        self.assertEqual((adagrad.lr, adagrad.torch[0].param_groups[0]["lr_decay"]), (0.01, 0.1))
        nadam = training.Optimizer("nadam,momentum_decay=0.1,decoupled_weight_decay", None, named)
        settings = nadam.torch[0].param_groups[0]
        self.assertEqual((nadam.lr, settings["momentum_decay"]), (2e-3, 0.1))
        self.assertTrue(settings["decoupled_weight_decay"])
        adafactor = training.Optimizer("adafactor,eps2=0.1", None, named)
        self.assertEqual(adafactor.torch[0].param_groups[0]["eps"], (torch.finfo(torch.float32).eps, 0.1))
        lion = training.Optimizer("lion,beta1=0.5", None, named)
        self.assertEqual((lion.lr, lion.torch[0].param_groups[0]["betas"]), (1e-4, (0.5, 0.99)))
        muon = training.Optimizer("muon,ns_steps=3,nesterov=false", None, [("w", nn.Parameter(torch.zeros(2, 3)))])
        settings = muon.torch[0].param_groups[0]
        self.assertEqual((settings["ns_steps"], settings["nesterov"]), (3, False))
        with self.refusal(r"muon: muon updates matrices, and is given .* shape \[2\]"):
            training.Optimizer("muon", None, named)

    def test_parameter_groups(self):
        named = [(n, nn.Parameter(torch.zeros(2, 2))) for n in ("words", "inner.weight", "inner.bias", "head.weight")]
        named.append(("output", named[0][1]))  # tied
        groups = [("output", "sgd,lr=0.2"), ("bias$", "weight_decay=0,lr=0.03"), ("head", "muon"), ("words", "lr=7")]
        made = training.Optimizer("adamw,lr=0.01,weight_decay=0.3,clip_grad_norm=2", 0.1, named, groups[:3])
        rest, words, bias, head = (each.param_groups[0] for each in made.torch)
        self.assertEqual([len(each["params"]) for each in (rest, words, bias, head)], [1, 1, 1, 1])
        self.assertIs(words["params"][0], named[0][1])
        for each, rate in ((rest, 0.1), (words, 2), (bias, 0.3), (head, 0.01)):
            self.assertAlmostEqual(each["lr"], rate)
        self.assertEqual((rest["weight_decay"], bias["weight_decay"], made.clip), (0.3, 0, 2))
        with self.refusal("the group words: no parameter has such a name"):
            training.Optimizer("adamw", None, named, groups)
        with self.refusal("clip_grad_norm and clip_grad_value are for all"):
            training.Optimizer("adamw", None, named, [("words", "sgd,clip_grad_norm=1")])
        with self.refusal("in proportion to one that is 0"):
            training.Optimizer("adamw,lr=0", None, named, [("words", "lr=1")])

    def test_what_is_wrong_is_named(self):
        for pattern, text in (
            ("there is no loss 'hinge': choose cross_entropy", "hinge"),
            ("mse,label_smoothing=1: there is no option label_smoothing", "mse,label_smoothing=1"),
            ("there is no output logits; there are other, scores", "mse=logits"),
            ("there is no output loss", "output:loss"),
            ("neither numbers nor a file", "nll,weight=none.txt"),
            ("needs a value", "nll,ignore_index"),
            ("the option delta is given twice", "huber,delta=1,delta=2"),
            ("the option delta needs a number, not 1_0", "huber,delta=1_0"),
            ("the option ignore_index needs an integer, not 0.5", "nll,ignore_index=0.5"),
        ):
            with self.refusal(pattern):
                training.make_loss(text, ["other", "scores"])
        named = [("w", nn.Parameter(torch.zeros(1)))]
        for pattern, text in (
            ("no optimizer 'lbfgs': choose sgd", "lbfgs"),
            ("no option beta1", "sgd,beta1=0.9"),
            ("the option momentum is given twice", "sgd,momentum=0.9,momentum=0.5"),
            ("the option lr needs a number, not nan", "sgd,lr=nan"),
            ("the option momentum needs a number, not 0x1p-1", "sgd,momentum=0x1p-1"),
            ("nesterov is true or false, not yes", "sgd,momentum=0.9,nesterov=yes"),
            ("is at least 0", "sgd,clip_grad_norm=-1"),
        ):
            with self.refusal(pattern):
                training.Optimizer(text, None, named)
        self.assertAlmostEqual(training.Optimizer("sgd", torch.tensor(0.1), named).lr, 0.1)
        with self.refusal("the learning rate is nan"):
            training.Optimizer("sgd", math.nan, named)
        with self.refusal("a group of parameters: missing"):
            training.Optimizer("sgd", None, named, [("(", "lr=0.1")])
        with self.refusal("the decay is between 0 and 1"):
            training.WeightAverage("ema,decay=2", named)


if __name__ == "__main__":
    unittest.main()
