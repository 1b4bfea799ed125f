#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of torch.export that python/accc_export writes. Needs PyTorch; scripts/sweep --package runs it.

What build/bin/accc makes of them is compared with PyTorch where that is built.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import accc_export  # noqa: E402
from accc_export.functions import differing  # noqa: E402

torch.set_num_threads(1)
ACCC = ROOT / "build" / "bin" / "accc"


class Everything(nn.Module):
    """What programs have that ONNX models have not: tied weights, buffers that change, gradients that stop."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 8, padding_idx=0)
        self.norm, self.batch_norm, self.fixed = nn.LayerNorm(8), nn.BatchNorm1d(8), nn.Linear(8, 8)
        self.head = nn.Linear(8, 9, bias=False)
        self.head.weight = self.words.weight
        self.unused, self.stopped, self.dead = nn.Linear(2, 2), nn.Linear(8, 8), nn.Linear(8, 8)
        self.fixed.requires_grad_(False)
        self.register_buffer("average", torch.zeros(8))
        self.register_buffer("recent", torch.arange(24.0).view(3, 8))

    def forward(self, tokens, *, shift):
        x = self.norm(self.words(tokens))
        self.dead(x).relu_()
        q = self.fixed(x).unsqueeze(1)
        x = x + functional.scaled_dot_product_attention(q, q, q, is_causal=True).squeeze(1)
        x = self.batch_norm(x.mean(dim=1) + shift) + self.stopped(shift).detach()
        with torch.no_grad():
            self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
        x = x + self.recent.mean(0)
        self.recent = torch.cat([self.recent[1:], shift[:1]])
        return {"logits": self.head(x), "hidden": x}


class Teaching(nn.Module):
    """Of what its teacher computes without gradients, one result is read."""

    def __init__(self):
        super().__init__()
        self.student, self.teacher, self.dead = (nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        y = self.student(x)
        with torch.no_grad():
            taught = self.teacher(x)
            self.dead(taught)
        return (y - taught).square().mean()


class Causal(nn.Module):
    """An encoder, which asks whether its mask is the causal one."""

    def __init__(self, mask):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
        self.encoder, self.mask = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), mask

    def forward(self, x):
        return self.encoder(x, mask=self.mask())


class Written(nn.Module):
    """Forward passes write into its parameters."""

    def __init__(self):
        super().__init__()
        self.words, self.mix = nn.Embedding(9, 4, max_norm=0.5), nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            self.mix.weight.clamp_(-0.1, 0.1)
        return Scaled.apply(self.mix(self.words(x)).tanh(), 1.0)


class Scaled(torch.autograd.Function):
    """The identity, whose gradient is scaled."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.scale * gradient, None


class Overwritten(torch.autograd.Function):
    """A softmax whose result its forward pass writes into."""

    @staticmethod
    def forward(ctx, x):
        y = x.softmax(-1)
        ctx.save_for_backward(y)
        return y.masked_fill_(y < 0.1, 0.0)

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return y * (gradient - (y * gradient).sum(-1, keepdim=True))


class Attending(nn.Linear):
    def forward(self, x):
        return Overwritten.apply(super().forward(x))


class Reversed(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale, self.mix, self.norm = scale, nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return Scaled.apply(self.norm(self.mix(x)), self.scale) ** 2


class Hooked(nn.Module):
    def __init__(self, hook):
        super().__init__()
        self.mix, self.hook = nn.Linear(4, 4), hook

    def forward(self, x):
        x = self.mix(x)
        if self.hook and x.requires_grad:
            x.register_hook(self.hook)
        return x.tanh()


class Filtered(nn.Module):
    """Has complex numbers for parameter, buffer and input."""

    def __init__(self):
        super().__init__()
        self.mix, self.scale = nn.Linear(8, 8), nn.Parameter(torch.randn(5, dtype=torch.complex64))
        self.register_buffer("turn", torch.polar(torch.ones(5), torch.arange(5.0)))

    def forward(self, sound, shift):
        spectrum = torch.fft.rfft(self.mix(sound)) * self.scale * self.turn + shift
        return {"loss": torch.fft.irfft(spectrum.abs() * spectrum, n=8).square().mean()}


def everything():
    torch.manual_seed(0)
    return Everything(), {"tokens": torch.randint(9, (4, 5)), "shift": torch.randn(4, 8)}, torch.randint(9, (4,))


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "m.pt2"

    def refused(self, pattern, call, *args, **options):
        with self.assertRaisesRegex(accc_export.ExportError, pattern):
            call(*args, **options)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_open_dimensions_of_a_range(self):
        tokens, points = {"tokens": torch.randint(5, (2, 8))}, {"points": torch.randn(7, 4)}
        for module, inputs, dim, sizes in (
            (Following(3), tokens, "tokens.1", (5, float("inf"))),
            (Shifted(5, 5), tokens, "tokens.1", (3, float("inf"))),
            (Apart(4, 4), points, "points.0", (0, 25)),
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
            accc_export.export(Following(3), tokens, self.path.with_suffix(".onnx"), exporter="dynamo", dynamic=dynamic)
        self.path.with_suffix(".onnx").unlink()
        self.refused("specialized it to be a constant", accc_export.export, Standing(3), tokens, self.path, dynamic=dynamic)

    def test_a_program(self):
        module, inputs, _ = everything()
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
        done = accc_export.export(Halves(4, 4), torch.randn(3, 4), self.path)
        self.assertEqual(done.parameters, ("weight", "bias"))

    def test_what_is_read_without_gradients(self):
        done = accc_export.export(Teaching(), torch.randn(3, 4), self.path)
        self.assertEqual(done.parameters, tuple(f"{part}.{name}" for part in ("student", "teacher") for name in ("weight", "bias")))

    def test_what_a_forward_pass_writes_is_put_back(self):
        torch.manual_seed(0)
        module = Written()
        state = {name: x.clone() for name, x in module.state_dict().items()}
        accc_export.export(module, torch.tensor([[1, 2], [2, 3]]), self.path)
        for kept in (module.state_dict(), torch.export.load(self.path).state_dict):
            self.assertTrue(all(torch.equal(x, state[name]) for name, x in kept.items()))

    def test_a_joint_graph(self):
        module, inputs, target = everything()

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
        done = accc_export.export_joint(Scalar(), torch.randn(3, 4), self.path, loss="output:loss")
        self.assertEqual(done.outputs, ("scores",))
        self.assertEqual(set(done.returned), {"loss", "scores"})
        folder = self.path.with_name("golden")
        accc_export.golden(Scalar(), torch.randn(3, 4), folder, loss="output:loss", exporter="joint", steps=1, noise=False)
        self.assertEqual(safetensors.torch.load_file(folder / "golden.safetensors")["scores"].shape, (3, 2))
        accc_export.export_joint(nn.Linear(4, 2), torch.randn(3, 4), self.path, loss=lambda found: found["output"].sum())

    def test_a_joint_graph_whose_inputs_are_named_like_operators(self):
        inputs = {"t": torch.randn(3, 4), "mul": torch.randn(3, 2), "T": torch.tensor(2.0)}
        accc_export.export_joint(Tempered(), inputs, self.path, loss="output:loss")
        program = torch.export.load(self.path)
        specs = program.graph_signature
        self.assertEqual(specs.user_inputs[0], "t")
        self.assertEqual(len({node.name for node in program.graph.nodes}), len(program.graph.nodes))
        module = Tempered()
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
        self.refused("takes no target", joint, Scalar(), x, self.path, loss="output:loss", target=y)
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
        self.refused("makes no joint graph of the module .*export\\(\\) writes it", joint, Alike(), x, self.path, loss="output:loss")
        self.refused("no joint graph .* loses what lies between them.* export\\(\\) writes it", joint, Windowed(3), x, self.path, loss="output:loss")
        joint(Windowed(2), x, self.path, loss="output:loss")
        self.path.unlink()
        self.refused("an output is called loss", joint, Scalar(), x, self.path, loss="mse=scores", target=y)
        self.refused("no scalar, but torch.float32 of shape", joint, linear, x, self.path, loss=lambda found: found["output"])
        self.refused("names the input z; there are input, target", joint, linear, x, self.path, loss="mse", target=y, dynamic={"n": {"z": 0}})
        self.refused("no exporter or external_data", accc_export.export, linear, x, self.path, exporter="dynamo")
        self.refused("no exporter or external_data", accc_export.export, linear, x, self.path, external_data=True)
        self.refused("the input a.b has a name", accc_export.export, linear, x, self.path, input_names=["a.b"])
        self.refused("torch.export fails: what .*programs_test.py:.*if x.sum.. > 0.* depends on the values of a tensor", accc_export.export, Branch(), x, self.path)
        self.refused("torch.export fails: what .*if not self.ready.* depends on the values", accc_export.export, Initialised(4, 2), x, self.path)
        self.refused("torch.export fails: what .*programs_test.py:.*torch.equal.* depends on .*aten.equal", accc_export.export, Comparing(4, 2), x, self.path)
        self.refused("other values than the module, also in PyTorch: output", accc_export.export, Asking(4, 2), x, self.path)
        averages = nn.Sequential(Average(), nn.Linear(4, 2))
        self.refused("leaves other values in buffers .*: 0.mean. It loses", accc_export.export, averages, x, self.path)
        self.refused("buffer row shares its memory with the parameter weight", accc_export.export, Row(4, 2), x, self.path)

    def test_masks_that_forward_makes_are_known(self):
        for make in (
            lambda size: torch.triu(torch.ones(size, size, dtype=torch.bool), 1),
            lambda size: torch.zeros(size, size).masked_fill(torch.eye(size).cumsum(1).t() == 0, -torch.inf),
            lambda size: torch.full((size, size), -torch.inf).triu(1),
        ):
            for size in (5, 80):
                accc_export.export(Causal(lambda: make(size)), torch.randn(2, size, 4), self.path)

    def test_flags_that_no_pass_writes_are_known(self):
        module, x = Initialised(4, 2), torch.randn(5, 4)
        module(x)
        self.assertFalse(module.bias.equal(torch.zeros(2)))
        accc_export.export(module, x, self.path)
        self.assertIn("ready", torch.export.load(self.path).state_dict)
        self.trained_as_joint_graph(module, x)
        if ACCC.exists():
            accc_export.golden(Squared(module), x, self.folder / "golden", exporter="torch.export", loss="output:loss", steps=2)
            self.compare(self.folder / "golden", "model.pt2")

    def test_buffers_have_no_gradient(self):
        inputs = {"x": torch.randn(5, 4)}
        accc_export.export(Buffered(4, 2, of=torch.Tensor.detach), inputs, self.path)
        accc_export.export_joint(Buffered(4, 2, of=torch.Tensor.detach), inputs, self.path, loss="output:loss")
        for call, options in (accc_export.export, {}), (accc_export.export_joint, {"loss": "output:loss"}):
            with self.assertRaisesRegex(accc_export.ExportError, "gradient flows through the buffer first to what it was computed of"):
                call(Buffered(4, 2), inputs, self.path, **options)

    def test_a_part_in_two_places(self):
        golden = self.folder / "shared"
        for exporter in ("torch.export", "joint"):
            (done,) = accc_export.golden(Shared(), torch.randn(5, 4), golden, exporter=exporter, loss="output:loss", steps=2)
            self.assertEqual(done.statistics, ("layer.1.running_mean", "layer.1.running_var"))
            if ACCC.exists():
                self.compare(golden, "model.pt2")

    def test_functions_with_a_backward_of_their_own(self):
        inputs = {"x": torch.randn(5, 4)}
        for name in ("model.pt2", "model.onnx"):
            accc_export.export(Reversed(1.0), inputs, self.folder / name)  # the gradient of its forward
            with self.assertRaisesRegex(accc_export.ExportError, r"other gradients .*mix.weight.*\(Scaled\)"):
                accc_export.export(Reversed(-0.5), inputs, self.folder / f"reversed_{name}")
        with self.assertRaisesRegex(accc_export.ExportError, "PyTorch finds no gradient of the exported program, .*inplace"):
            accc_export.export(Attending(4, 4), inputs, self.folder / "attending.pt2")
        with self.assertRaisesRegex(accc_export.ExportError, r"\(Scaled\).* where g has the gradient wanted\nOf what autograd runs: ") as raised:
            averaged = nn.Sequential(Average(), Reversed(-0.5))
            accc_export.export_joint(averaged, torch.randn(5, 4), self.folder / "averaged.pt2", loss=lambda found: sum(x.sum() for x in found.values()))
        self.assertNotRegex(str(raised.exception), "ONNX|export_joint")  # which is what was called
        for module in (Reversed(-0.5), Attending(4, 4)):  # what autograd runs
            self.trained_as_joint_graph(module, inputs)

    def test_gradients_that_an_export_loses(self):
        x = torch.randn(3, 4)
        for module in (Unseen(0.0), Unseen(0.5)):
            self.refused(r"torch.export's program has other gradients .*\(fixed.weight", accc_export.export, module, x, self.path)
            done = accc_export.export_joint(module, x, self.path, loss=lambda found: found["output"].sum())
            gradients = {x.target for x in torch.export.load(self.path).graph_signature.output_specs if x.kind.name.startswith("GRADIENT")}
            self.assertEqual((gradients, done.random), ({"fixed.weight", "fixed.bias", "layer.weight", "layer.bias"}, module.dropout.p > 0))
            self.path.unlink()
        for dropout in (0.0, 0.5):
            accc_export.export(nn.Sequential(nn.Linear(4, 4), nn.Dropout(dropout)), x, self.path)
            accc_export.export_joint(Cancelling(), x, self.path, loss="output:loss")

    def test_what_rounding_decides_does_not_differ(self):
        x = torch.randn(5)
        self.assertEqual(differing({"w": x, "v": x}, {"w": x * 1.5, "v": x * (1 + 1e-5)}), "w")
        for share, listed in ((0.2, ""), (0.1, "w")):  # of moved weights a gradient that is so far away
            self.assertEqual(differing({"w": x}, {"w": x * 1.5}, [{"w": x}, {"w": x * (1 + share)}]), listed)
        self.assertEqual(differing({"w": x}, {}), "w")

    def test_hooks(self):
        def hooked(hook, of_parameter):
            module = Hooked(None if of_parameter else hook)
            if of_parameter:
                module.mix.weight.register_hook(hook)
            return module

        for of_parameter in (False, True):
            for name in ("model.pt2", "model.onnx"):
                accc_export.export(hooked(lambda gradient: None, of_parameter), torch.randn(5, 4), self.folder / name)
                with self.assertRaisesRegex(accc_export.ExportError, r"other gradients .*mix.weight.*no hooks"):
                    module = hooked(lambda gradient: gradient / 2, of_parameter)
                    accc_export.export(module, torch.randn(5, 4), self.folder / f"hooked_{name}")

        module = hooked(lambda gradient: gradient / 2, False)
        self.trained_as_joint_graph(module, torch.randn(5, 4))
        module.mix.weight.register_hook(lambda gradient: gradient / 2)
        self.path.unlink(missing_ok=True)
        with self.assertRaisesRegex(accc_export.ExportError, "joint graph has other gradients .*mix.weight.*no hooks"):
            accc_export.export_joint(module, torch.randn(5, 4), self.path, loss=lambda found: found["output"].square().mean())

    def test_hooks_of_parts(self):
        for register in (nn.Module.register_full_backward_hook, nn.Module.register_backward_hook):
            module = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
            register(module[1], lambda part, given, gradients: (given[0] * 0.5,))
            for name in ("model.pt2", "model.onnx"):
                with self.assertRaisesRegex(accc_export.ExportError, r"other gradients .*0.weight.*no hooks"):
                    accc_export.export(module, torch.randn(5, 4), self.folder / name)
            self.trained_as_joint_graph(module, torch.randn(5, 4))

    def test_hooks_behind_gradients_are_refused(self):
        module = nn.Linear(4, 2)
        handle = module.weight.register_post_accumulate_grad_hook(lambda parameter: None)
        for name in ("model.pt2", "model.onnx"):
            with self.assertRaisesRegex(accc_export.ExportError, "the parameter weight has a hook that runs when its gradient is there"):
                accc_export.export(module, torch.randn(5, 4), self.folder / name)
        handle.remove()
        accc_export.export(module, torch.randn(5, 4), self.folder / "model.pt2")

    def trained_as_joint_graph(self, module, inputs):
        """Its gradients are those of the module; so are the steps of what accc makes of it, where that is built."""
        wrapped, golden = Squared(module), self.folder / "joint"
        accc_export.golden(wrapped, inputs, golden, exporter="joint", loss="output:loss", steps=2, lr=0.1)
        first, _ = next(module.named_parameters())
        self.assertGreater(safetensors.torch.load_file(golden / "golden.safetensors")[f"grad.module.{first}"].norm(), 0)
        if ACCC.exists():
            self.compare(golden, "model.pt2")

    def test_a_joint_graph_that_pytorch_cannot_run(self):
        self.trained_as_joint_graph(Along(4, 3), {"x": torch.randn(2, 5, 4)})

    @unittest.skipUnless(ACCC.exists(), "accc is not built")
    def test_goldens(self):
        module, inputs, target = everything()
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
        with self.assertRaisesRegex(accc_export.ExportError, "make a golden of each"):
            accc_export.golden(module, inputs, golden, exporter=["joint", "dynamo"], dynamic=dynamic, **settings)

    def test_goldens_of_a_module_that_keeps_what_it_computed(self):
        module, inputs, golden = Policy(4, 2), torch.randn(3, 4), self.folder / "golden"
        expected = module(inputs)["loss"].detach()
        kept = module.kept["log_prob"]
        accc_export.golden(module, inputs, golden, exporter="torch.export", loss="output:loss", steps=1)
        found = safetensors.torch.load_file(golden / "golden.safetensors")
        self.assertTrue(torch.equal(found["loss"], expected))
        self.assertIs(module.kept["log_prob"], kept)

    @unittest.skipUnless(ACCC.exists(), "accc is not built")
    def test_goldens_of_complex_parameters(self):
        torch.manual_seed(0)
        module, inputs = Filtered(), {"sound": torch.randn(3, 8), "shift": torch.randn(5, dtype=torch.complex64)}
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
            accc_export.golden(Transformed(4, 4), torch.randn(3, 4), golden, exporter=exporter, **settings)
            self.assertEqual(safetensors.torch.load_file(golden / "golden.safetensors")["spectrum"].shape, (3, 3, 2))
            self.compare(golden, model)

    def compare(self, golden, model):
        done = subprocess.run([ACCC, "diff", golden / model, golden], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Following(nn.Module):
    """Tells a token by those before it, and takes no rows that are too short for that."""

    def __init__(self, count):
        super().__init__()
        self.table, self.mix, self.count = nn.Embedding(5, 4), nn.Conv1d(4, 5, count), count

    def forward(self, tokens):
        scores = self.mix(self.table(tokens[:, :-1]).transpose(1, 2)).log_softmax(1)
        return {"loss": -scores.gather(1, tokens[:, None, self.count :]).mean()}


class Standing(Following):
    """Has a weight for each of eight tokens."""

    def forward(self, tokens):
        return {"loss": super().forward(tokens)["loss"] * (tokens * torch.arange(8.0)).mean()}


class Shifted(nn.Embedding):
    """Tells a token by the one before it. Of a mean over one token, PyTorch takes for granted that it is none."""

    def forward(self, tokens):
        scores = super().forward(tokens)[:, :-1].log_softmax(-1)
        return {"loss": -torch.gather(scores, 2, tokens[:, 1:, None]).squeeze(2).sum(-1).mean()}


class Apart(nn.Linear):
    """PyTorch computes distances of few points otherwise than of more."""

    def forward(self, points):
        return {"loss": torch.cdist(super().forward(points), points).mean()}


class Transformed(nn.Linear):
    """Returns the spectrum of its output as well."""

    def forward(self, x):
        sound = super().forward(x)
        return {"sound": sound, "spectrum": torch.fft.rfft(sound)}


class Policy(nn.Linear):
    """Keeps the distribution of its latest pass where no other module sees it, as libraries of reinforcement learning do."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.kept = {}

    def forward(self, x):
        mean, log_scale = super().forward(x).unbind(1)
        self.kept["log_prob"] = torch.distributions.Normal(mean, log_scale.exp()).log_prob(x[:, 0])
        return {"loss": -self.kept["log_prob"].mean()}


class Scalar(nn.Linear):
    def __init__(self):
        super().__init__(4, 2)

    def forward(self, x):
        scores = super().forward(x)
        return {"loss": scores.square().mean(), "scores": scores}


class Tempered(nn.Module):
    """Its arguments are in the graph, in lower case, beside operators of these names."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, t, mul, T):
        return {"loss": (self.layer(t) * mul / T).square().sum()}


class Windowed(nn.Module):
    """Writes into windows of two elements."""

    def __init__(self, step):
        super().__init__()
        self.layer, self.step = nn.Linear(4, 4), step

    def forward(self, x):
        y = self.layer(x)
        y.unfold(1, 2, self.step)[..., 1:] *= 2
        return {"loss": y.square().sum()}


class Alike(nn.Module):
    """Two parameters whose gradient is the same tensor."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return {"loss": ((self.first + self.second) * x).sum()}


class Squared(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return {"loss": self.module(x).square().mean()}


class Unseen(nn.Module):
    """Of its torch.no_grad() PyTorch (2.15) exports nothing."""

    def __init__(self, dropout):
        super().__init__()
        self.fixed, self.layer, self.dropout = nn.Linear(4, 4), nn.Linear(4, 4), nn.Dropout(dropout)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad():
                h = self.fixed(x)
            return self.dropout(self.layer(h + self.fixed(x).tanh()).float())


class Cancelling(nn.Linear):
    """Has a parameter whose gradient is rounding alone: softmax does not see what all scores have in common."""

    def __init__(self):
        super().__init__(4, 4)
        self.common = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        return {"loss": -(super().forward(x) + self.common).log_softmax(1)[:, 0].mean()}


class Asking(nn.Linear):
    """Gives something else while it is exported."""

    def forward(self, x):
        y = super().forward(x)
        return y if torch.compiler.is_exporting() else torch.tanh(y)


class Buffered(nn.Linear):
    """Begins a sum with a buffer that asks for a gradient, and has another that was computed of its weight."""

    def __init__(self, *sizes, of=lambda x: x):
        super().__init__(*sizes)
        self.register_buffer("zero", torch.zeros(()))
        self.register_buffer("first", self.weight.clone())
        self.of = of

    def forward(self, x):
        loss = self.zero.requires_grad_() + super().forward(x).square().mean()
        return {"loss": loss + (self.of(self.first) * self.weight).sum()}


class Along(nn.Linear):
    """The gradient of softplus has other strides than PyTorch expects while it traces, so that a view of it does not exist."""

    def forward(self, x):
        return functional.softplus(super().forward(x)).transpose(1, 2).cumsum(-1)


class Halves(nn.Linear):
    """Writes into parts of a tensor, which is read as a whole behind."""

    def forward(self, x):
        y = x.clone()
        y[:, :2].mul_(super().forward(x)[:, :2])
        y[:, 2:][:, 0].add_(1)
        return y


class Shared(nn.Module):
    """Has a batch norm in two places."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.again = nn.Sequential(self.layer, nn.Tanh())

    def forward(self, x):
        return {"loss": (self.again(self.layer(x)) * x).mean()}


class Average(nn.Module):
    """Sets a tensor of another shape for its buffer, of which torch.export says nothing in a part of a module."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, x):
        y = x - self.mean
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return y


class Branch(nn.Linear):
    def __init__(self):
        super().__init__(4, 2)

    def forward(self, x):
        return super().forward(x if x.sum() > 0 else -x)


class Initialised(nn.Linear):
    """Takes its bias from the first batch, and the sine of some columns: flags, in a buffer and in an attribute that is none."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("ready", torch.tensor(False))
        self.is_angle = torch.tensor([True, False, False, True])

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.bias.copy_(x.mean(0)[: self.out_features])
                self.ready.fill_(True)
        columns = [x[:, i].sin() if is_angle else x[:, i] for i, is_angle in enumerate(self.is_angle)]
        return super().forward(torch.stack(columns, 1))


class Comparing(nn.Linear):
    def forward(self, x):
        return super().forward(x) if torch.equal(x, x.relu()) else x


class Row(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("row", self.weight.data[0], persistent=False)

    def forward(self, x):
        return super().forward(x) + (x * self.row).sum(1, keepdim=True)


if __name__ == "__main__":
    unittest.main()
