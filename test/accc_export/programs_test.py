#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of torch.export that python/accc_export writes. Needs PyTorch; scripts/sweep --package runs it.

What build/bin/accc makes of them is compared with PyTorch where that is built.
"""

import json
import subprocess
import unittest
import zipfile

import safetensors.torch
import torch
from torch import nn
from torch.nn import functional

from export_case import ACCC, ROOT, ExportCase  # first: it makes accc_export importable
import accc_export
import program_modules as modules
from accc_export.functions import differing

torch.set_num_threads(1)


class ProgramsTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.pt2"

    def refused(self, pattern, call, *args, **options):
        with self.refusal(pattern):
            call(*args, **options)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_open_dimensions_of_a_range(self):
        tokens, points = {"tokens": torch.randint(5, (2, 8))}, {"points": torch.randn(7, 4)}
        for module, inputs, dim, sizes in (
            (modules.Following(3), tokens, "tokens.1", (5, float("inf"))),
            (modules.Shifted(5, 5), tokens, "tokens.1", (3, float("inf"))),
            (modules.Apart(4, 4), points, "points.0", (0, 25)),
        ):
            (name, x), axis = *inputs.items(), int(dim[-1])
            accc_export.export(module, inputs, self.path, dynamic={"size": {name: axis}})
            program = torch.export.load(self.path)
            self.assertEqual([(float(x.lower), float(x.upper)) for x in program.range_constraints.values()], [sizes])
            longer = x.repeat_interleave(2, axis)
            torch.testing.assert_close(program.module()(longer)["loss"], module(longer)["loss"])
            done = accc_export.export_joint(module, inputs, self.path, loss="output:loss", dynamic={"size": {name: axis}})
            self.assertEqual(done.dims, {dim: x.shape[axis]})
            self.path.unlink()
        dynamic = {"size": {"tokens": 1}}
        with self.assertWarnsRegex(accc_export.ExportWarning, r"for these sizes of open dimensions alone.*: size >= 4"):
            accc_export.export(modules.Following(3), tokens, self.path.with_suffix(".onnx"), exporter="dynamo", dynamic=dynamic)
        self.path.with_suffix(".onnx").unlink()
        self.refused("specialized it to be a constant", accc_export.export, modules.Standing(3), tokens, self.path, dynamic=dynamic)

    def test_open_dimensions_that_pytorch_fixes(self):
        """In joint graphs of Fourier transforms along some dimensions (2.15)."""

        class Mixed(nn.Linear):
            def forward(self, x):
                return {"loss": torch.fft.fftn(super().forward(x), dim=(1, 2)).real.square().mean()}

        dynamic, x = {"batch": {"x": 0}}, {"x": torch.randn(3, 4, 4)}
        message = r"the dimension batch \(axis 0 of x\) is not open, but 3"
        self.refused(message, accc_export.export_joint, Mixed(4, 4), x, self.path, loss="output:loss", dynamic=dynamic)
        accc_export.export_joint(Mixed(4, 4), x, self.path, loss="output:loss")
        self.assertEqual(accc_export.export(Mixed(4, 4), x, self.path, dynamic=dynamic).dims, {"x.0": 3})

    def test_a_teacher_that_follows(self):
        for exporter in ("joint", "torch.export"):
            golden = self.folder / exporter
            accc_export.golden(modules.Averaging(), torch.randn(5, 4), golden, loss="output:loss", exporter=exporter, steps=3)
            self.compare(golden)

    def test_a_program(self):
        module, inputs, _ = modules.everything()
        module.eval()
        state = {name: x.clone() for name, x in module.state_dict().items()}
        done = accc_export.export(module, inputs, self.path, dynamic={"batch": {"tokens": 0, "shift": 0}})
        self.assertEqual((done.inputs, done.outputs), (("tokens", "shift"), ("logits", "hidden")))
        self.assertEqual((done.exporter, done.opset, done.random), ("torch.export", None, False))
        self.assertEqual(done.dims, {"tokens.0": 4, "shift.0": 4})
        self.assertEqual(done.frozen, ("fixed.weight", "fixed.bias"))
        self.assertEqual(done.statistics, ("average", "recent", "batch_norm.running_mean", "batch_norm.running_var"))
        self.assertNotIn("unused.weight", done.parameters)
        self.assertNotIn("dead.weight", done.parameters)
        self.assertFalse(any(part.training for part in module.modules()))
        self.assertNotIn("forward", vars(module))
        self.assertTrue(all(torch.equal(x, state[name]) for name, x in module.state_dict().items()))
        with zipfile.ZipFile(self.path) as archive:
            text = next(archive.read(name).decode() for name in archive.namelist() if "/models/" in name)
        for told in ("stack_trace", "from_node"):
            self.assertNotIn(told, text)
        self.assertNotIn(str(ROOT), text)

    def test_what_is_written_into_what_is_read(self):
        done = accc_export.export(modules.Halves(4, 4), torch.randn(3, 4), self.path)
        self.assertEqual(done.parameters, ("weight", "bias"))

    def test_what_is_read_without_gradients(self):
        done = accc_export.export(modules.Teaching(), torch.randn(3, 4), self.path)
        self.assertEqual(done.parameters, tuple(f"{part}.{name}" for part in ("student", "teacher") for name in ("weight", "bias")))

    def test_what_a_forward_pass_writes_is_put_back(self):
        torch.manual_seed(0)
        module = modules.Written()
        state = {name: x.clone() for name, x in module.state_dict().items()}
        accc_export.export(module, torch.tensor([[1, 2], [2, 3]]), self.path)
        for kept in (module.state_dict(), torch.export.load(self.path).state_dict):
            self.assertTrue(all(torch.equal(x, state[name]) for name, x in kept.items()))

    def test_a_joint_graph(self):
        module, inputs, target = modules.everything()

        def weighted(found, target):
            return functional.cross_entropy(found["logits"], target) + found["hidden"].square().mean()

        for loss in ("cross_entropy=logits", weighted):
            done = accc_export.export_joint(module, inputs, self.path, loss=loss, target=target)
            self.assertEqual((done.inputs, done.outputs), (("tokens", "shift", "target"), ("logits", "hidden")))
            program = torch.export.load(self.path)
            state = module.state_dict()
            self.assertTrue(all(torch.equal(x, state[name]) for name, x in program.state_dict.items()))
            specs = program.graph_signature
            gradients = {x.target for x in specs.output_specs if x.kind.name == "GRADIENT_TO_PARAMETER"}
            norms = {f"{norm}.{part}" for norm in ("norm", "batch_norm") for part in ("weight", "bias")}
            self.assertEqual(gradients, norms | {"words.weight"})
            self.assertEqual([x.kind.name for x in specs.output_specs].count("LOSS_OUTPUT"), 1)
        done = accc_export.export_joint(modules.Scalar(), torch.randn(3, 4), self.path, loss="output:loss")
        self.assertEqual(done.outputs, ("scores",))
        self.assertEqual(set(done.returned), {"loss", "scores"})
        folder = self.path.with_name("golden")
        accc_export.golden(modules.Scalar(), torch.randn(3, 4), folder, loss="output:loss", exporter="joint", steps=1, noise=False)
        self.assertEqual(safetensors.torch.load_file(folder / "golden.safetensors")["scores"].shape, (3, 2))
        accc_export.export_joint(nn.Linear(4, 2), torch.randn(3, 4), self.path, loss=lambda found: found["output"].sum())

    def test_a_joint_graph_whose_inputs_are_named_like_operators(self):
        inputs = {"t": torch.randn(3, 4), "mul": torch.randn(3, 2), "T": torch.tensor(2.0)}
        accc_export.export_joint(modules.Tempered(), inputs, self.path, loss="output:loss")
        program = torch.export.load(self.path)
        specs = program.graph_signature
        self.assertEqual(specs.user_inputs[0], "t")
        self.assertEqual(len({node.name for node in program.graph.nodes}), len(program.graph.nodes))
        module = modules.Tempered()
        module.load_state_dict(program.state_dict)
        module(**inputs)["loss"].backward()
        kinds = [x.kind.name for x in specs.output_specs]
        results = program.graph_module(*module.parameters(), *inputs.values())
        torch.testing.assert_close(results[kinds.index("GRADIENT_TO_PARAMETER")], module.layer.weight.grad)
        if ACCC.exists():
            shown = subprocess.run([ACCC, "inspect", "--json", self.path], check=True, capture_output=True, text=True, timeout=60).stdout
            self.assertTrue(all(f'"{name}"' in shown for name in inputs))

    def test_refusals(self):
        x, y = torch.randn(3, 4), torch.randn(3, 2)
        linear = nn.Linear(4, 2)
        joint = accc_export.export_joint
        self.refused("whose file ends in .pt2", joint, linear, x, self.folder / "m.onnx", loss="mse", target=y)
        self.refused("mse needs a target", joint, linear, x, self.path, loss="mse")
        self.refused("takes no target", joint, modules.Scalar(), x, self.path, loss="output:loss", target=y)
        averaging = nn.Sequential(nn.BatchNorm1d(4, momentum=None), linear)
        self.refused("the batch norm 0 averages over all batches", accc_export.export, averaging, x, self.path)
        self.refused("the batch norm 0 averages over all batches", joint, averaging, x, self.path, loss="mse", target=y)
        layers = nn.GRU(4, 2, num_layers=2, dropout=0.5), nn.LSTM(4, 2, num_layers=2, dropout=0.5)
        for layer in layers:
            self.refused("1 random operations .* and 0 are in the joint graph", joint, layer, x, self.path, loss=lambda found: found["output_0"].sum())
        self.refused("alpha_dropout drops in training alone", joint, nn.Sequential(linear, nn.AlphaDropout()), x, self.path, loss="mse", target=y)
        joint(nn.Sequential(linear, nn.Dropout(inplace=True), nn.Dropout1d(), nn.RReLU()), x, self.path, loss="mse", target=y)
        called = [str(node.target) for node in torch.export.load(self.path).graph.nodes]
        self.assertEqual(called.count("aten.native_dropout.default"), 2)
        self.assertFalse([name for name in called if "bernoulli" in name])
        self.path.unlink()
        self.refused("makes no joint graph of the module .*export\\(\\) writes it", joint, modules.Alike(), x, self.path, loss="output:loss")
        self.refused("no joint graph .* loses what lies between them.* export\\(\\) writes it", joint, modules.Windowed(3), x, self.path, loss="output:loss")
        joint(modules.Windowed(2), x, self.path, loss="output:loss")
        self.path.unlink()
        self.refused("an output is called loss", joint, modules.Scalar(), x, self.path, loss="mse=scores", target=y)
        self.refused("no scalar, but torch.float32 of shape", joint, linear, x, self.path, loss=lambda found: found["output"])
        self.refused("names the input z; there are input, target", joint, linear, x, self.path, loss="mse", target=y, dynamic={"n": {"z": 0}})
        self.refused("no exporter or external_data", accc_export.export, linear, x, self.path, exporter="dynamo")
        self.refused("no exporter or external_data", accc_export.export, linear, x, self.path, external_data=True)
        self.refused("the input a.b has a name", accc_export.export, linear, x, self.path, input_names=["a.b"])
        self.refused("torch.export fails: what .*program_modules.py:.*if x.sum.. > 0.* depends on the values of a tensor", accc_export.export, modules.Branch(), x, self.path)
        self.refused("torch.export fails: what .*if not self.ready.* depends on the values", accc_export.export, modules.Initialised(4, 2), x, self.path)
        self.refused("torch.export fails: what .*program_modules.py:.*torch.equal.* depends on .*aten.equal", accc_export.export, modules.Comparing(4, 2), x, self.path)
        self.refused("other values than the module, also in PyTorch: output", accc_export.export, modules.Asking(4, 2), x, self.path)
        averages = nn.Sequential(modules.Average(), nn.Linear(4, 2))
        self.refused("leaves other values in buffers .*: 0.mean. It loses", accc_export.export, averages, x, self.path)
        self.refused("buffer row shares its memory with the parameter weight", accc_export.export, modules.Row(4, 2), x, self.path)

    def test_masks_that_forward_makes_are_known(self):
        for make in (
            lambda size: torch.triu(torch.ones(size, size, dtype=torch.bool), 1),
            lambda size: torch.zeros(size, size).masked_fill(torch.eye(size).cumsum(1).t() == 0, -torch.inf),
            lambda size: torch.full((size, size), -torch.inf).triu(1),
        ):
            for size in (5, 80):
                accc_export.export(modules.Causal(lambda: make(size)), torch.randn(2, size, 4), self.path)

    def test_flags_that_no_pass_writes_are_known(self):
        x = torch.randn(5, 4)
        for kind in (modules.Initialised, modules.Replaced):
            with self.refusal(r"program_modules.py:\d+ \(`if not self.ready:`\) does depends on the values of a tensor"):
                accc_export.export(kind(4, 2), x, self.path)
        module = modules.Initialised(4, 2)
        module(x)
        self.assertFalse(module.bias.equal(torch.zeros(2)))
        accc_export.export(module, x, self.path)
        self.assertIn("ready", torch.export.load(self.path).state_dict)
        self.trained_as_joint_graph(module, x)
        if ACCC.exists():
            accc_export.golden(modules.Squared(module), x, self.folder / "golden", exporter="torch.export", loss="output:loss", steps=2)
            self.compare(self.folder / "golden", "model.pt2")

    def test_buffers_have_no_gradient(self):
        inputs = {"x": torch.randn(5, 4)}
        accc_export.export(modules.Buffered(4, 2, of=torch.Tensor.detach), inputs, self.path)
        accc_export.export_joint(modules.Buffered(4, 2, of=torch.Tensor.detach), inputs, self.path, loss="output:loss")
        for call, options in (accc_export.export, {}), (accc_export.export_joint, {"loss": "output:loss"}):
            with self.refusal("gradient flows through the buffer first to what it was computed of"):
                call(modules.Buffered(4, 2), inputs, self.path, **options)

    def test_a_part_in_two_places(self):
        golden = self.folder / "shared"
        for exporter in ("torch.export", "joint"):
            (done,) = accc_export.golden(modules.Shared(), torch.randn(5, 4), golden, exporter=exporter, loss="output:loss", steps=2)
            self.assertEqual(done.statistics, ("layer.1.running_mean", "layer.1.running_var"))
            self.compare(golden, "model.pt2")

    def test_functions_with_a_backward_of_their_own(self):
        inputs = {"x": torch.randn(5, 4)}
        for name in ("model.pt2", "model.onnx"):
            accc_export.export(modules.Reversed(1.0), inputs, self.folder / name)  # the gradient of its forward
            with self.refusal(r"other gradients .*mix.weight.*\(Scaled\)"):
                accc_export.export(modules.Reversed(-0.5), inputs, self.folder / f"reversed_{name}")
        with self.refusal("PyTorch finds no gradient of the exported program, .*inplace"):
            accc_export.export(modules.Attending(4, 4), inputs, self.folder / "attending.pt2")
        with self.refusal(r"\(Scaled\).* where g has the gradient wanted\nOf what autograd runs: ") as raised:
            averaged = nn.Sequential(modules.Average(), modules.Reversed(-0.5))
            accc_export.export_joint(averaged, torch.randn(5, 4), self.folder / "averaged.pt2", loss=lambda found: sum(x.sum() for x in found.values()))
        self.assertNotRegex(str(raised.exception), "ONNX|export_joint")  # which is what was called
        for module in (modules.Reversed(-0.5), modules.Attending(4, 4)):  # what autograd runs
            self.trained_as_joint_graph(module, inputs)

    def test_gradients_that_an_export_loses(self):
        x = torch.randn(3, 4)
        for module in (modules.Unseen(0.0), modules.Unseen(0.5)):
            self.refused(r"torch.export's program has other gradients .*\(fixed.weight", accc_export.export, module, x, self.path)
            done = accc_export.export_joint(module, x, self.path, loss=lambda found: found["output"].sum())
            gradients = {x.target for x in torch.export.load(self.path).graph_signature.output_specs if x.kind.name.startswith("GRADIENT")}
            self.assertEqual((gradients, done.random), ({"fixed.weight", "fixed.bias", "layer.weight", "layer.bias"}, module.dropout.p > 0))
            self.path.unlink()
        for dropout in (0.0, 0.5):
            accc_export.export(nn.Sequential(nn.Linear(4, 4), nn.Dropout(dropout)), x, self.path)
            accc_export.export_joint(modules.Cancelling(), x, self.path, loss="output:loss")

    def test_what_rounding_decides_does_not_differ(self):
        x = torch.randn(5)
        self.assertEqual(differing({"w": x, "v": x}, {"w": x * 1.5, "v": x * (1 + 1e-5)}), "w")
        for share, listed in ((0.2, ""), (0.1, "w")):  # of moved weights a gradient that is so far away
            self.assertEqual(differing({"w": x}, {"w": x * 1.5}, [{"w": x}, {"w": x * (1 + share)}]), listed)
        self.assertEqual(differing({"w": x}, {}), "w")

    def test_hooks(self):
        def hooked(hook, of_parameter):
            module = modules.Hooked(None if of_parameter else hook)
            if of_parameter:
                module.mix.weight.register_hook(hook)
            return module

        for of_parameter in (False, True):
            for name in ("model.pt2", "model.onnx"):
                accc_export.export(hooked(lambda gradient: None, of_parameter), torch.randn(5, 4), self.folder / name)
                with self.refusal(r"other gradients .*mix.weight.*no hooks"):
                    module = hooked(lambda gradient: gradient / 2, of_parameter)
                    accc_export.export(module, torch.randn(5, 4), self.folder / f"hooked_{name}")

        module = hooked(lambda gradient: gradient / 2, False)
        self.trained_as_joint_graph(module, torch.randn(5, 4))
        module.mix.weight.register_hook(lambda gradient: gradient / 2)
        self.path.unlink(missing_ok=True)
        with self.refusal("joint graph has other gradients .*mix.weight.*no hooks"):
            accc_export.export_joint(module, torch.randn(5, 4), self.path, loss=lambda found: found["output"].square().mean())

    def test_hooks_of_parts(self):
        for register in (nn.Module.register_full_backward_hook, nn.Module.register_backward_hook):
            module = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
            register(module[1], lambda part, given, gradients: (given[0] * 0.5,))
            for name in ("model.pt2", "model.onnx"):
                with self.refusal(r"other gradients .*0.weight.*no hooks"):
                    accc_export.export(module, torch.randn(5, 4), self.folder / name)
            self.trained_as_joint_graph(module, torch.randn(5, 4))

    def test_hooks_behind_gradients_are_refused(self):
        module = nn.Linear(4, 2)
        handle = module.weight.register_post_accumulate_grad_hook(lambda parameter: None)
        for name in ("model.pt2", "model.onnx"):
            with self.refusal("the parameter weight has a hook that runs when its gradient is there"):
                accc_export.export(module, torch.randn(5, 4), self.folder / name)
        handle.remove()
        accc_export.export(module, torch.randn(5, 4), self.folder / "model.pt2")

    def trained_as_joint_graph(self, module, inputs):
        """Its gradients are those of the module; so are the steps of what accc makes of it, where that is built."""
        wrapped, golden = modules.Squared(module), self.folder / "joint"
        accc_export.golden(wrapped, inputs, golden, exporter="joint", loss="output:loss", steps=2, lr=0.1)
        first, _ = next(module.named_parameters())
        self.assertGreater(safetensors.torch.load_file(golden / "golden.safetensors")[f"grad.module.{first}"].norm(), 0)
        self.compare(golden, "model.pt2")

    def test_a_joint_graph_that_pytorch_cannot_run(self):
        self.trained_as_joint_graph(modules.Along(4, 3), {"x": torch.randn(2, 5, 4)})

    @unittest.skipUnless(ACCC.exists(), "accc is not built")
    def test_goldens(self):
        module, inputs, target = modules.everything()
        settings = {"loss": "cross_entropy=logits", "target": target, "optimizer": "adamw", "lr": 0.01, "steps": 3}
        dynamic = {"batch": {"tokens": 0, "shift": 0, "target": 0}}
        golden = self.folder / "golden"
        accc_export.golden(module, inputs, golden, exporter="joint", dynamic=dynamic, **settings)
        meta = json.loads((golden / "meta.json").read_text())
        self.assertEqual((meta["files"][0]["exporter"], meta["files"][0]["loss"]), ("joint", ""))
        self.compare(golden, "model.pt2")
        accc_export.golden(module, inputs, golden, exporter=["torch.export", "joint"], **settings)
        self.compare(golden, "model.pt2")
        self.compare(golden, "joint.pt2")
        with self.refusal("make a golden of each"):
            accc_export.golden(module, inputs, golden, exporter=["joint", "dynamo"], dynamic=dynamic, **settings)

    def test_goldens_of_a_module_that_keeps_what_it_computed(self):
        module, inputs, golden = modules.Policy(4, 2), torch.randn(3, 4), self.folder / "golden"
        expected = module(inputs)["loss"].detach()
        kept = module.kept["log_prob"]
        accc_export.golden(module, inputs, golden, exporter="torch.export", loss="output:loss", steps=1)
        found = safetensors.torch.load_file(golden / "golden.safetensors")
        self.assertTrue(torch.equal(found["loss"], expected))
        self.assertIs(module.kept["log_prob"], kept)

    @unittest.skipUnless(ACCC.exists(), "accc is not built")
    def test_goldens_of_complex_parameters(self):
        torch.manual_seed(0)
        module, inputs = modules.Filtered(), {"sound": torch.randn(3, 8), "shift": torch.randn(5, dtype=torch.complex64)}
        golden = self.folder / "golden"
        accc_export.golden(module, inputs, golden, exporter="torch.export", loss="output:loss", lr=0.1, steps=3)
        self.compare(golden, "model.pt2")
        trained = self.folder / "trained.safetensors"
        files = safetensors.torch.load_file(golden / "golden.safetensors")
        self.assertEqual(files["grad.scale"].shape, (5, 2))
        self.assertGreater(files["grad.scale"][:, 1].abs().max(), 1e-3)
        params = {name: files[f"param.{name}"] for name in ("mix.weight", "mix.bias", "scale")}
        safetensors.torch.save_file(params, trained)
        scale = accc_export.state_dict(module, trained)["scale"]
        self.assertEqual((scale.dtype, scale.shape), (torch.complex64, (5,)))
        self.assertTrue(torch.equal(torch.view_as_real(scale), files["param.scale"]))

    def test_goldens_of_complex_outputs(self):
        torch.manual_seed(0)
        settings = {"target": torch.randn(3, 4), "loss": "mse=sound", "lr": 0.1, "steps": 3}
        for exporter, model in (("torch.export", "model.pt2"), ("joint", "model.pt2"), ("dynamo", "model.onnx")):
            golden = self.folder / exporter
            accc_export.golden(modules.Transformed(4, 4), torch.randn(3, 4), golden, exporter=exporter, **settings)
            self.assertEqual(safetensors.torch.load_file(golden / "golden.safetensors")["spectrum"].shape, (3, 3, 2))
            self.compare(golden, model)


if __name__ == "__main__":
    unittest.main()
