#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and parameters, buffers and inputs of unusual kinds: what shares memory, or is another than the numbers there."""

import unittest

import onnx
import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_map_only

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export


class Product(nn.Module):
    """With a factor and a summand made of as many numbers."""

    def __init__(self, parts):
        super().__init__()
        factor, summand = parts(torch.randn(36))
        self.factor, self.summand = nn.Parameter(factor), nn.Parameter(summand)

    def forward(self, x):
        return functional.linear(x, self.factor) + self.summand


class Coded(nn.Linear):
    """With integers and truth values among its parameters, as quantized layers have."""

    def __init__(self):
        super().__init__(4, 4)
        self.codes = nn.Parameter(torch.randint(-8, 8, (4, 4), dtype=torch.int8), requires_grad=False)
        self.mask = nn.Parameter(torch.arange(4) > 0, requires_grad=False)

    def forward(self, x):
        return super().forward(x * self.mask) + functional.linear(x, self.codes / 8)


class Mirrored(nn.Module):
    """Conjugates and negatives, of which PyTorch notes with a bit what they are."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.randn(4, 4, dtype=torch.complex64).conj())
        self.register_buffer("shift", torch.randn(4, dtype=torch.complex64).conj())
        self.register_buffer("scale", torch.randn(4, dtype=torch.complex64).conj().imag)
        self.constant = torch.randn(4, dtype=torch.complex64).conj()

    def forward(self, x):
        return functional.linear(x.to(torch.complex64), self.factor).add(self.shift * self.constant).imag * self.scale


class Wrapped(torch.Tensor):
    """A tensor made of another one, as those of several devices are."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype)

    def __init__(self, held):
        self.held = held

    def __tensor_flatten__(self):
        return ["held"], None

    @staticmethod
    def __tensor_unflatten__(held, meta, size, stride):
        return Wrapped(held["held"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        found = func(*tree_map_only(Wrapped, lambda x: x.held, args), **(kwargs or {}))
        return Wrapped(found) if func is torch.ops.aten.detach.default else found


class MemoryTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.pt2"
        self.x = torch.randn(5, 4)

    def refused(self, pattern, module, inputs=None):
        for path in (self.path, self.path.with_suffix(".onnx")):
            with self.refusal(pattern):
                accc_export.export(module, self.x if inputs is None else inputs, path)
            self.assertFalse(path.exists())

    def same(self, module, inputs):
        accc_export.export(module, inputs, self.path)
        found = torch.export.load(self.path).module()(inputs)["output"]
        self.assertTrue(torch.allclose(found, module(inputs), atol=1e-6))

    def test_memory_that_is_shared(self):
        meeting = lambda x: (x[:32].view(8, 4), x[28:])  # noqa: E731
        self.refused("the parameters factor and summand share memory, so that training one changes the other", Product(meeting))
        self.refused("the parameters", Product(lambda x: (x[:16].view(4, 4), x[:16].view(4, 4).t())))
        self.refused(r"elements of the parameter factor share memory \(expand", Product(lambda x: (x[:4].expand(8, 4), x[28:])))
        frozen = Product(meeting)
        frozen.factor.requires_grad_(False)
        self.refused("the parameters", frozen)
        frozen.summand.requires_grad_(False)
        self.same(frozen, self.x)

    def test_memory_that_is_divided(self):
        self.same(Product(lambda x: (x[:32].view(8, 4), x[28:36].clone())), self.x)
        self.same(Product(lambda x: (x[:32].view(8, 4), x[32:33])), self.x)
        columns = torch.randn(8, 5)
        self.same(Product(lambda _: (columns[:, :4], columns[:, 4])), self.x)

    def test_other_tensors(self):
        self.refused(r"the parameter factor is sparse \(torch.sparse_coo\)", Product(lambda x: (x[:16].view(4, 4).to_sparse(), x[:4])))
        layer = nn.Linear(4, 4)
        layer.register_buffer("codes", torch.quantize_per_tensor(self.x, 0.1, 0, torch.qint8))
        self.refused("codes is quantized, and a file holds plain numbers", layer)
        module = Product(lambda x: (Wrapped(x[:16].view(4, 4)), x[16:20]))
        self.assertTrue(is_traceable_wrapper_subclass(module.factor))
        self.refused("the parameter factor is a Wrapped, which is made of other tensors", module)

    def test_parts_that_were_compiled(self):
        module = nn.Sequential(nn.Linear(4, 4), torch.jit.script(nn.Linear(4, 4)))
        self.refused("the part 1 is a ScriptModule: export the module that it was made of", module)

    def test_integers_among_the_parameters(self):
        module = Coded()
        self.same(module, self.x)
        done = accc_export.export_joint(module, self.x, self.path, loss="mse", target=self.x)
        self.assertEqual(done.parameters, ("weight", "bias"))
        path = self.path.with_suffix(".onnx")
        self.assertEqual(accc_export.export(module, self.x, path).parameters, ("weight", "bias"))
        self.assertIn("codes", {x.name for x in onnx.load(path).graph.initializer})

    def test_conjugates_and_negatives(self):
        self.same(Mirrored(), self.x)
        for inputs in (torch.randn(5, 4, dtype=torch.complex64).conj(), torch.randn(5, 4, dtype=torch.complex64).conj().imag):
            self.same(nn.Sequential(Imaginary(), nn.Linear(4, 4)), inputs)
            accc_export.export_joint(nn.Sequential(Imaginary(), nn.Linear(4, 4)), inputs, self.path, loss="mse", target=self.x)

    def test_inputs(self):
        with self.refusal("the input input is nested, quantized or sparse: pass it as a dense tensor"):
            accc_export.export(nn.Linear(4, 4), self.x.to_sparse(), self.path)
        nested = torch.nested.nested_tensor([self.x, self.x[:2]], layout=torch.jagged)
        self.refused("the input input is nested", nn.Linear(4, 4), nested)
        accc_export.export_joint(nn.Linear(4, 4), self.x.clone().requires_grad_(), self.path, loss="mse", target=self.x)
        self.assertNotIn("USER_INPUT", {x.kind.name for x in torch.export.load(self.path).graph_signature.output_specs if x.target == "input"})


class Imaginary(nn.Module):
    def forward(self, x):
        return x.imag if x.is_complex() else x


if __name__ == "__main__":
    unittest.main()
