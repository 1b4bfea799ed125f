#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and what is around a module or its parts: other names, PyTorch's modes, passes that run again."""

import functools
import json
import threading
import unittest
import warnings

import onnx
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.utils.checkpoint import checkpoint

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export


class Around(nn.Module):
    """Takes its own name out of those of what it is around, as a checkpoint's does."""

    def __init__(self, held):
        super().__init__()
        self.held = held
        self._register_state_dict_hook(self.rename)

    @staticmethod
    def rename(module, found, prefix, rest):
        for name in [name for name in found if name.startswith(f"{prefix}held.")]:
            found[prefix + name.removeprefix(f"{prefix}held.")] = found.pop(name)

    def forward(self, x):
        return self.held(x)


class Recomputed(nn.Module):
    """Its norm runs again in the backward pass."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return checkpoint(lambda x: self.norm(x).square(), x, use_reentrant=False)


class Twice(torch.autograd.Function):
    """Runs a layer again in the backward pass, as reversible networks do."""

    @staticmethod
    def forward(ctx, x, layer):
        ctx.layer = layer
        ctx.save_for_backward(x)
        with torch.no_grad():
            return layer(x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            ctx.layer(x).backward(gradient)
        return x.grad, None


class Reversible(nn.Module):
    def __init__(self, checkpointed):
        super().__init__()
        self.first, self.second, self.checkpointed = nn.Linear(2, 3), nn.Linear(3, 3), checkpointed

    def forward(self, x):
        x = x.clone().requires_grad_()
        return self.second(checkpoint(self.first, x, use_reentrant=True) if self.checkpointed else Twice.apply(x, self.first))


class SurroundingsTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.onnx"

    def test_backward_passes_that_add_gradients_themselves(self):
        joint = functools.partial(accc_export.export_joint, loss="output:output")
        for name, module in (("CheckpointFunction", Reversible(True)), ("Twice", Reversible(False))):
            module.second.weight.grad = torch.ones(3, 3)
            for export, path in ((accc_export.export, "m.onnx"), (accc_export.export, "m.pt2"), (joint, "m.pt2")):
                with self.refusal(rf"\({name}\) calls backward\(\) itself, .* of first.weight, first.bias "):
                    export(module, torch.randn(4, 2), self.folder / path)
            self.assertTrue(torch.equal(module.second.weight.grad, torch.ones(3, 3)))
            self.assertIsNone(module.first.weight.grad)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_state_dict_with_other_names_than_the_module(self):
        module = nn.Sequential(Around(nn.Linear(2, 2)), Around(nn.BatchNorm1d(2)))
        done = accc_export.export(module, torch.randn(3, 2), self.path)
        self.assertIn("0.held.weight", done.parameters)
        metadata = {x.key: x.value for x in onnx.load(self.path).metadata_props}["accc.export"]
        self.assertIn({"name": "1.held.running_mean", "persistent": True}, json.loads(metadata)["buffers"])
        trained = {name: x + 1 for name, x in (*module.named_parameters(), *module.named_buffers()) if x.is_floating_point()}
        save_file(trained, self.folder / "trained.safetensors")
        found = accc_export.state_dict(module, self.folder / "trained.safetensors")
        self.assertEqual(found.keys(), module.state_dict().keys())
        self.assertTrue(torch.equal(found["0.weight"], trained["0.held.weight"]))
        self.assertTrue(torch.equal(found["1.running_var"], trained["1.held.running_var"]))
        layer = nn.Linear(2, 2)
        layer._register_state_dict_hook(lambda module, found, *rest: found.__delitem__("bias"))
        save_file({name: x + 1 for name, x in layer.named_parameters()}, self.folder / "trained.safetensors")
        with self.refusal(r"state_dict\(\) of the module has no bias"):
            accc_export.state_dict(layer, self.folder / "trained.safetensors")

    def test_what_pytorch_was_told_around_the_call(self):
        module, x = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), torch.randn(4, 3)
        settings = {"loss": "mse", "target": torch.zeros(4, 3), "exporter": ["torch.export", "joint", "dynamo"], "noise": False}
        accc_export.golden(module, x, self.folder / "as-is", **settings)
        expected = load_file(self.folder / "as-is" / "golden.safetensors")
        for around in (torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)):
            with around(), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", accc_export.ExportWarning)
                accc_export.golden(module, x, self.folder / "around", **settings)
                self.assertEqual((torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")), (around is torch.inference_mode, "lambda" in repr(around)))
            self.assertEqual(any("autocast() is on around the export" in str(x.message) for x in told), "lambda" in repr(around))
            found = load_file(self.folder / "around" / "golden.safetensors")
            self.assertTrue(all(torch.allclose(x, found[name]) for name, x in expected.items()))
            for file in ("model.pt2", "joint.pt2"):
                graphs = [str(torch.export.load(self.folder / name / file).graph) for name in ("as-is", "around")]
                self.assertEqual(*graphs)

    def test_attributes_that_cannot_be_copied(self):
        module, settings = nn.Sequential(nn.Linear(3, 3)), {"loss": "mse", "target": torch.zeros(4, 3), "exporter": "torch.export", "noise": False}
        module[0].functions = torch.nn.functional
        accc_export.golden(module, torch.randn(4, 3), self.folder / "golden", **settings)
        module[0].lock = threading.Lock()
        accc_export.export(module, torch.randn(4, 3), self.path)
        with self.refusal(r"cannot be copied \(its attribute 0\.lock\), and goldens train a copy: cannot pickle"):
            accc_export.golden(module, torch.randn(4, 3), self.folder / "golden", **settings)

    def test_what_the_backward_pass_changes(self):
        module = Recomputed()
        with self.assertWarnsRegex(accc_export.ExportWarning, "backward pass changes norm.num_batches_tracked, norm.running_mean, norm.running_var as well"):
            accc_export.export(module, torch.randn(4, 3), self.path)


if __name__ == "__main__":
    unittest.main()
