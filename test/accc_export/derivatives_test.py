#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joint graphs of modules whose forward takes derivatives. Needs PyTorch; scripts/sweep --package runs it.

What build/bin/accc makes of such models is tested in test/training/exported (derivatives.py).
"""

import json
import sys
import unittest

import torch
from torch import nn

from export_case import ROOT, ExportCase  # first: it makes accc_export importable
import accc_export

sys.path.insert(0, str(ROOT / "test" / "training" / "exported"))

import derivatives  # noqa: E402

torch.set_num_threads(1)


class DerivativesTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.pt2"

    def export(self, module, inputs, **options):
        return accc_export.export_joint(module, inputs, self.path, loss="output:loss", **options)

    def test_the_module_is_left_as_it_was(self):
        for name, (build, inputs) in derivatives.cases().items():
            with self.subTest(name):
                module = build()
                state = {name: x.clone() for name, x in module.state_dict().items()}
                done = self.export(module, inputs)
                self.assertEqual((done.exporter, sorted(done.inputs)), ("joint", sorted(inputs)))
                self.assertTrue(all(torch.equal(x, state[name]) for name, x in module.state_dict().items()))
                self.assertNotIn("forward", vars(module))
                self.assertTrue(all(x.requires_grad for x in module.parameters()))

    def test_a_golden_of_a_module_with_dropout(self):
        golden = self.path.with_name("golden")
        accc_export.golden(derivatives.Settled(), torch.randn(5, 4), golden, exporter="joint", loss="output:loss", steps=2)
        meta = json.loads((golden / "meta.json").read_text())
        self.assertTrue(meta["dropout"])
        self.assertGreater(meta["loss_std"], 0)

    def test_which_parameters_have_a_gradient(self):
        done = self.export(Sloped(), torch.randn(3, 4))
        specs = torch.export.load(self.path).graph_signature
        gradients = {x.target for x in specs.output_specs if x.kind.name == "GRADIENT_TO_PARAMETER"}
        self.assertEqual(gradients, {"first.weight", "last.weight"})
        self.assertEqual(done.parameters, ("first.weight", "last.weight", "fixed.weight"))
        self.assertEqual((done.frozen, done.outputs), (("fixed.weight",), ("slope",)))

    def test_a_part_in_two_places(self):
        module = Shared()
        state = {name: x.clone() for name, x in module.state_dict().items()}
        inputs = {"x": torch.randn(3, 4), "flag": torch.ones(1)}
        done = self.export(module, inputs)
        self.assertEqual(done.parameters, ("layer.0.weight", "layer.0.bias", "layer.1.weight", "layer.1.bias"))
        module.fails = True
        with self.refusal("PyTorch traces no graph .*depends on the values"):
            self.export(module, inputs)
        self.assertTrue(all(type(x) is nn.Parameter for x in module.parameters()))
        self.assertTrue(all(torch.equal(x, state[name]) for name, x in module.state_dict().items()))

    def test_dual_numbers(self):
        for module in (Directed(1), Directed(2)):
            with self.refusal(r"export_joint\(\) writes such a module.*calls of dual numbers"):
                accc_export.export(module, torch.randn(3, 4), self.path)
            self.assertFalse(self.path.exists())
            self.export(module, torch.randn(3, 4))
            self.assertNotIn("dual", " ".join(str(node.target) for node in torch.export.load(self.path).graph.nodes))
            self.path.unlink()

    def test_factorizations_are_checked(self):
        for module in (Solved(False), Solved(True)):  # of a program, and of what autograd runs
            self.export(module, torch.randn(3, 3))
            called = [str(node.target) for node in torch.export.load(self.path).graph.nodes]
            self.assertIn("aten._linalg_check_errors.default", called)

    def test_distributions_check_their_arguments(self):
        self.export(Scored(4, 2), torch.randn(3, 4))
        called = [str(node.target) for node in torch.export.load(self.path).graph.nodes]
        self.assertTrue(any(name.startswith("aten._assert_async") for name in called), called)

    def test_numbers_that_forward_compares_are_known(self):
        x = torch.randn(3, 4)
        for times in (
            lambda: torch.tensor([0.0, 0.5, 1.0]),
            lambda: torch.linspace(0, 1, 3),
            lambda: torch.arange(0, 1.5, 0.5, dtype=torch.float64).to(x),
            lambda: torch.logspace(-1, 0, 3, device=x.device),
        ):
            module = Timed(times)
            for path in self.path, self.path.with_suffix(".onnx"):
                accc_export.export(module, x, path)
            self.assertTrue(torch.equal(torch.export.load(self.path).module()(x)["output"], module(x)))
            self.export(nn.Sequential(module, Squares()), x)
        accc_export.export(Placed(4, 4), x, self.path)  # places stay what they are, an aten.arange
        self.assertIn(torch.ops.aten.arange.default, [node.target for node in torch.export.load(self.path).graph.nodes])
        for call, options in (accc_export.export, {}), (accc_export.export_joint, {"loss": "output:loss"}):
            call(Listed(4, 2), {"x": torch.randn(3, 5, 4)}, self.path, dynamic={"batch": {"x": 0}}, **options)
            called = [node for node in torch.export.load(self.path).graph.nodes if "aten.sum.dim_IntList" in str(node.target)]
            self.assertIn([1, 2], [node.args[1] for node in called])

    def test_open_dimensions(self):
        opened = {"equation": {"points": {"x": 0, "t": 0, "start": 0}}, "forces": {"atoms": {"kinds": 0, "positions": 0, "forces": 0}, "pairs": {"edges": 1}}}
        others = {"equation": {"x": torch.rand(5, 1), "t": torch.rand(5, 1), "start": torch.rand(5, 1)}}
        others["forces"] = {"kinds": torch.randint(5, (4,)), "positions": torch.randn(4, 3), "edges": derivatives.pairs(4), "forces": torch.randn(4, 3)}
        for name, dynamic in opened.items():
            with self.subTest(name):
                build, inputs = derivatives.cases()[name]
                module = build()
                done = self.export(module, inputs, dynamic=dynamic)
                self.assertEqual(len(done.dims), sum(map(len, dynamic.values())))
                program, inputs = torch.export.load(self.path), others[name]
                loss = module(**inputs)["loss"]
                gradients = dict(zip(dict(module.named_parameters()), torch.autograd.grad(loss, list(module.parameters()), allow_unused=True)))
                specs = program.graph_signature
                held = {**program.state_dict, **program.constants, **inputs}
                args = [held[spec.target or spec.arg.name] for spec in specs.input_specs]
                with torch.no_grad():
                    results = program.graph_module(*args)
                for spec, found in zip(specs.output_specs, results):
                    if spec.kind.name == "GRADIENT_TO_PARAMETER":
                        torch.testing.assert_close(found, gradients[spec.target])
                torch.testing.assert_close(results[0], loss.detach())

    def test_refusals(self):
        hint = r"export_joint\(\) writes such a module, with its loss"
        module, x = Sloped(), torch.randn(3, 4)
        for name in ("m.pt2", "m.onnx"):
            with self.refusal(hint):
                accc_export.export(module, x, self.path.with_name(name))
        with self.refusal("depends on the size of an open dimension"):
            self.export(Counting(), x, dynamic={"batch": {"x": 0}})
        attended = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)
        with self.refusal("second derivative through aten.native_dropout.* evaluation"):
            self.export(Attending(attended), torch.randn(2, 3, 4))
        self.assertEqual(list(self.path.parent.iterdir()), [])


class Sloped(nn.Module):
    """A slope, in which a bias is lost; weights of two names, and one that is not trained."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4, bias=False), nn.Linear(4, 1)
        self.tied, self.fixed = nn.Linear(4, 4, bias=False), nn.Linear(4, 1, bias=False)
        self.tied.weight = self.first.weight
        self.fixed.requires_grad_(False)

    def forward(self, x):
        x = x.requires_grad_()
        y = self.last(self.tied(self.first(x)).tanh())
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return {"loss": slope.square().mean() + self.fixed(slope).mean(), "slope": slope}


class Directed(nn.Linear):
    """A derivative in one direction, taken forwards. Inside of one, tensors have no memory that can be asked for."""

    def __init__(self, order):
        super().__init__(4, 4)
        self.order = order

    def forward(self, x):
        def derivative(at, order):
            if order == 0:
                return super(Directed, self).forward(at).tanh()
            return torch.func.jvp(lambda at: derivative(at, order - 1), (at,), (torch.ones_like(at),))[1]

        return {"loss": derivative(x, self.order).square().mean()}


class Shared(nn.Module):
    """Has a layer under two names."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(4, 4), nn.GroupNorm(2, 4), nn.Tanh())
        self.inner = nn.Sequential(self.layer)
        self.fails = False

    def forward(self, x, flag):
        x = x.requires_grad_()
        y = self.inner(self.layer(x))
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        if self.fails and flag.item():
            slope = -slope
        return {"loss": slope.square().mean() + y.mean()}


class Solved(nn.Module):
    def __init__(self, derives):
        super().__init__()
        self.weight, self.derives = nn.Parameter(torch.eye(3)), derives

    def forward(self, x):
        loss = torch.linalg.solve(self.weight, x).square().sum()
        return {"loss": torch.autograd.grad(loss, self.weight, create_graph=True)[0].sum() if self.derives else loss}


class Scored(nn.Linear):
    """Asks for a small score of a distribution."""

    def forward(self, x):
        x = x.requires_grad_()
        mean, log_scale = super().forward(x).unbind(1)
        likelihood = torch.distributions.Normal(mean, log_scale.exp(), validate_args=True).log_prob(x[:, 0])
        (score,) = torch.autograd.grad(likelihood.sum(), x, create_graph=True)
        return {"loss": score.square().mean()}


class Timed(nn.Linear):
    """Asks whether its times grow, as solvers of differential equations do."""

    def __init__(self, times):
        super().__init__(4, 4)
        self.times = times

    def forward(self, x):
        times = self.times()
        if not (times[1:] > times[:-1]).all():
            raise ValueError("times must grow")
        return x + sum((b - a) * super(Timed, self).forward(x) for a, b in zip(times[:-1], times[1:]))


class Squares(nn.Module):
    def forward(self, x):
        return {"loss": x.square().mean()}


class Placed(nn.Linear):
    """Weighs its inputs by their places."""

    def forward(self, x):
        return super().forward(x * torch.arange(x.shape[1]))


class Listed(nn.Linear):
    """Lists the dimensions that it sums along, as MONAI's losses do."""

    def forward(self, x):
        dims = torch.arange(1, x.ndim).tolist()
        return {"loss": super().forward(x).square().sum(dims).mean()}


class Counting(Sloped):
    def forward(self, x):
        found = super().forward(x)
        return {**found, "loss": found["loss"] / float(x.shape[0])}


class Attending(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x):
        x = x.requires_grad_()
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            y, _ = self.attention(x, x, x, need_weights=False)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return {"loss": slope.square().mean()}


if __name__ == "__main__":
    unittest.main()
