#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What python/accc_export writes and refuses. Needs PyTorch; scripts/sweep --package runs it."""

import contextlib
import copy
import json
import math
import pathlib
import re
import sys
import tempfile
import unittest
import warnings
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import onnx  # noqa: E402
import torch  # noqa: E402
from onnx.numpy_helper import to_array  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import accc_export  # noqa: E402
from accc_export import exporting, training  # noqa: E402
from accc_export.optimizers import Muon  # noqa: E402

torch.set_num_threads(1)


class Everything(nn.Module):
    """Whatever an exporter may lose: see the tests."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 8, padding_idx=0)
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)  # equal values, two parameters
        self.batch_norm, self.dropout = nn.BatchNorm1d(8), nn.Dropout(0.5)
        self.head = nn.Linear(8, 9, bias=False)
        self.head.weight = self.words.weight
        self.unused = nn.Linear(2, 2)
        self.norm2.requires_grad_(False)
        self.register_buffer("mask", torch.full((5, 5), -1e4).triu(1), persistent=False)

    def forward(self, tokens, scale=1.0, *, shift):
        x = self.norm2(self.norm1(self.words(tokens)))
        q = x.unsqueeze(1)
        x = x + functional.scaled_dot_product_attention(q, q, q, self.mask, dropout_p=0.25).squeeze(1)
        x = self.batch_norm(x.mean(dim=1) * scale + shift)
        return {"logits": self.head(self.dropout(x)), "parts": (x, None, [x + 1])}


def everything():
    torch.manual_seed(0)
    return Everything(), {"tokens": torch.randint(9, (3, 5)), "shift": torch.randn(3, 8)}


class Stopped(nn.Module):
    """What `stop` gives of the first layer's result reaches the second beside it."""

    def __init__(self, stop):
        super().__init__()
        self.first, self.second, self.stop = nn.Linear(4, 4), nn.Linear(4, 2), stop

    def forward(self, x):
        x = self.first(x).tanh()
        return self.second(x + self.stop(x))


class Beside(Stopped):
    def __init__(self):
        super().__init__(torch.zeros_like)

    def forward(self, x):
        return super().forward(x), self.first(x).detach()


class Scattered(nn.Linear):
    def __init__(self):
        super().__init__(4, 4)

    def forward(self, x):
        return torch.zeros(2, 4).index_put((torch.tensor([0, 1, 0]),), super().forward(x), accumulate=True)


class ScatteredMeans(nn.Linear):
    def __init__(self):
        super().__init__(4, 4)

    def forward(self, x):
        return x.scatter_reduce(0, torch.zeros(3, 4, dtype=torch.long), super().forward(x), "mean")


class Distances(nn.Linear):
    def __init__(self):
        super().__init__(4, 4)

    def forward(self, x):
        return torch.cdist(super().forward(x), x, p=1)


class Noise(nn.Module):
    def __init__(self, always):
        super().__init__()
        self.always, self.dropout = always, nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(x) + torch.randn_like(x) if self.training or self.always else x


class LooksUp(nn.Module):
    """Rows of a table, and rows of what is computed of it."""

    def __init__(self, padding, padding_of_computed):
        super().__init__()
        self.words = nn.Embedding(5, 3, padding_idx=padding)
        self.padding = padding_of_computed

    def forward(self, words):
        computed = nn.functional.embedding(words, torch.tanh(self.words.weight), padding_idx=self.padding)
        return self.words(words) + computed + self.words.weight[words]


def without_gradients(x):
    with torch.no_grad():
        return x.square()


class PackageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "m.onnx"

    def refused(self, pattern, module, inputs, **options):
        with self.assertRaisesRegex(accc_export.ExportError, pattern):
            accc_export.export(module, inputs, self.path, exporter="torchscript", **options)
        self.assertFalse(self.path.exists())
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing_is_lost(self):
        for exporter in accc_export.EXPORTERS:
            with self.subTest(exporter):
                module, inputs = everything()
                module.eval()
                state = {name: x.clone() for name, x in module.state_dict().items()}
                random = torch.get_rng_state()
                done = accc_export.export(module, inputs, self.path, exporter=exporter)

                model = onnx.load(self.path)
                held = {x.name: to_array(x) for x in model.graph.initializer}
                for name in ("words.weight", "norm1.weight", "norm2.weight", "batch_norm.running_var"):
                    self.assertEqual(held[name].tolist(), state[name].tolist(), name)
                self.assertNotIn("head.weight", held)
                self.assertEqual(done.frozen, ("norm2.weight", "norm2.bias"))
                self.assertEqual(done.outputs, ("logits", "parts_0", "parts_2_0"))
                self.assertEqual([x.name for x in model.graph.input], ["tokens", "shift"])
                dropouts = [x for x in model.graph.node if x.op_type == "Dropout"]
                self.assertEqual([len(x.input) for x in dropouts], [3, 3])
                norm = next(x for x in model.graph.node if x.op_type == "BatchNormalization")
                self.assertEqual(next(x.i for x in norm.attribute if x.name == "training_mode"), 1)

                self.assertFalse(any(part.training for part in module.modules()))
                self.assertNotIn("forward", vars(module))
                self.assertTrue(all(torch.equal(x, state[name]) for name, x in module.state_dict().items()))
                self.assertFalse(module.norm2.weight.requires_grad)
                self.assertTrue(torch.equal(torch.get_rng_state(), random))
                self.assertTrue(all(p.grad is None for p in module.parameters()))

    def test_metadata(self):
        module, inputs = everything()
        accc_export.export(module, inputs, self.path, exporter="dynamo")
        entries = {x.key: x.value for x in onnx.load(self.path).metadata_props}
        metadata = json.loads(entries["accc.export"])
        self.assertEqual(metadata["version"], 1)
        parameters = {x.pop("name"): x for x in metadata["parameters"]}
        words = {"requires_grad": True, "aliases": ["head.weight"], "padding_idx": 0}
        self.assertEqual(parameters["words.weight"], words)
        self.assertEqual(parameters["norm2.bias"], {"requires_grad": False, "aliases": []})
        self.assertNotIn("unused.weight", parameters)
        buffers = {x["name"]: x["persistent"] for x in metadata["buffers"]}
        self.assertEqual(buffers, {"mask": False, "batch_norm.running_mean": True, "batch_norm.running_var": True})

    def test_what_naive_exports_lose_is_named(self):
        module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(2), nn.Linear(4, 3), nn.Dropout(0.5))
        images = torch.randn(4, 1, 4, 4)
        modes = torch.onnx.TrainingMode
        for mode, pattern in (
            (modes.EVAL, "1.weight is missing.*3.weight is missing.*norm 1 is in inference mode.*1 random operations"),
            (modes.TRAINING, r"3.weight is missing: it was transposed into onnx::MatMul_\d+$"),
        ):

            def naive(module, call, fixed, outputs, axes, exporter, folder, mode=mode):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    torch.onnx.export(module, (images,), str(folder / "m.onnx"), dynamo=False, training=mode)
                return onnx.load(folder / "m.onnx")

            with mock.patch.object(exporting, "run_exporter", naive):
                self.refused("(?s)" + pattern, module, images)

    def test_what_an_optimized_graph_loses_is_named(self):
        module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(2), nn.LayerNorm(4), nn.LayerNorm(4))

        def naive(module, call, fixed, outputs, axes, exporter, folder):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = torch.onnx.export(module, tuple(call.inputs.values()), dynamo=True, verbose=False)
            return program.model_proto

        pattern = "1.weight is missing: it was folded.*4.weight is missing: it was merged with 3.weight.*norm 1 is in"
        with mock.patch.object(exporting, "run_exporter", naive):
            self.refused(f"(?s){pattern}", module, torch.randn(4, 1, 4, 4))

    def test_parts_in_evaluation_mode_stay(self):
        module = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2), nn.BatchNorm1d(2))
        module[0].eval()
        module[1].eval()
        done = accc_export.export(module, torch.randn(3, 4), self.path, exporter="torchscript")
        norms = [x for x in onnx.load(self.path).graph.node if x.op_type == "BatchNormalization"]
        training = [any(a.name == "training_mode" and a.i for a in norm.attribute) for norm in norms]
        self.assertEqual(training, [False, True])
        self.assertFalse(done.random)

    def test_a_module_that_stays_in_evaluation_mode(self):
        class Frozen(nn.Sequential):
            def train(self, mode=True):
                return super().train(False)

        module, x = Frozen(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.LayerNorm(3)).eval(), torch.randn(5, 4)
        for exporter in accc_export.EXPORTERS:
            accc_export.export(module, x, self.path, exporter=exporter)
            model = onnx.load(self.path)
            held = {x.name for x in model.graph.initializer}  # equal values: ones, and zeros
            self.assertLessEqual({name for name in module.state_dict() if "num_batches" not in name}, held, exporter)
            self.assertFalse([node for node in model.graph.node if node.op_type == "Identity" and set(node.input) & held])

    def test_dynamic(self):
        module = nn.Linear(4, 2)
        for exporter in ("torchscript", "dynamo"):
            done = accc_export.export(module, torch.randn(3, 4), self.path, dynamic={"n": {"input": 0}}, exporter=exporter)
            graph = onnx.load(self.path).graph
            self.assertEqual(graph.input[0].type.tensor_type.shape.dim[0].dim_param, "n")
            self.assertFalse(graph.output[0].type.tensor_type.shape.dim[0].HasField("dim_value"))
            self.assertEqual(done.dims, {"n": 3})
        self.path.unlink()
        self.refused("names the input x; there are input", module, torch.randn(3, 4), dynamic={"n": {"x": 0}})
        self.refused("has no axis 2", module, torch.randn(3, 4), dynamic={"n": {"input": 2}})
        self.refused("n is 1 in example_inputs", module, torch.randn(1, 4), dynamic={"n": {"input": 0}})
        self.refused("n is 3 and 4", module, torch.randn(3, 4), dynamic={"n": {"input": (0, 1)}})

    def test_sizes_that_are_built_in(self):
        class Sized(nn.Linear):
            def __init__(self, apply):
                super().__init__(4, 4)
                self.apply_sizes = apply

            def forward(self, x):
                return self.apply_sizes(super().forward(x))

        def checked(x):
            assert x.shape[1] < 100
            return x / x.shape[1]

        settings = {"dynamic": {"n": {"x": 0}, "t": {"x": 1}}}
        x = torch.randn(6, 5, 4)
        for apply in (
            lambda x: x / math.sqrt(x.shape[1]),
            lambda x: x.repeat(2, 1, 1)[:: int(x.shape[0])],
            lambda x: x * 2 if x.shape[0] % 2 == 0 else x,
            lambda x: x * (x.shape[0] / int(x.shape[1])),
        ):
            with self.subTest(line=apply.__code__.co_firstlineno):
                self.refused("sizes of example_inputs alone: package_test.py, line", Sized(apply), {"x": x}, **settings)
        with self.assertRaisesRegex(accc_export.ExportError, r"example_inputs alone: with others, /\w+ \(\w+\) is another"):
            accc_export.export(Sized(lambda x: sum(x[:, i] for i in range(x.shape[1]))), {"x": x}, self.path, exporter="torchscript", **settings)
        fixed = Sized(lambda x: x * torch.linspace(0, 1, x.shape[1])[:, None])
        with self.assertRaisesRegex(accc_export.ExportError, r"the dimension t \(axis 1 of x\) is not open, but 5"):
            accc_export.export(fixed, {"x": x}, self.path, exporter="dynamo", **settings)
        accc_export.export(Sized(checked), {"x": x}, self.path, exporter="torchscript", **settings)
        with self.assertWarnsRegex(accc_export.ExportWarning, "cannot be traced with other sizes"):
            accc_export.export(Sized(lambda y: y.view(x.shape) / y.shape[1]), {"x": x}, self.path, exporter="torchscript", **settings)
        for apply, condition in (
            (lambda x: x * 2 if x.shape[0] % 2 == 0 else x, r"Eq\(Mod\(n, 2\), 0\)"),
            (lambda x: x * 2 if x.shape[0] > 4 else x, "n >= 5"),
            (lambda x: x * 2 if x.shape[1] < 9 else x, "t <= 8"),
        ):
            with self.assertWarnsRegex(accc_export.ExportWarning, f"does not say so: {condition}$"):
                accc_export.export(Sized(apply), {"x": x}, self.path, exporter="dynamo", **settings)

    def test_what_is_returned_twice(self):
        class Twice(nn.Linear):
            def forward(self, x, kinds):
                y = super().forward(x)
                return {"loss": y.mean(), "a": y, "b": y, "same": y.contiguous(), "kinds": kinds, "weight_used": self.weight}

        names = ["loss", "a", "b", "same", "output_kinds", "weight_used"]
        for exporter in accc_export.EXPORTERS:
            inputs = {"x": torch.randn(3, 4), "kinds": torch.arange(3)}
            done = accc_export.export(Twice(4, 2), inputs, self.path, exporter=exporter)
            graph = onnx.load(self.path).graph
            self.assertEqual([x.name for x in graph.output], names)
            self.assertEqual([x.name for x in graph.input], ["x", "kinds"])
            self.assertEqual(done.parameters, ("weight", "bias"))

    def test_inputs(self):
        class Sum(nn.Module):
            def forward(self, first, *others, flag=True, **named):
                return first + sum(others) + named.get("last", {"a": 1.0})["a"] * 1.0

        x = torch.randn(2)
        call = exporting.make_call(Sum(), (x, x))
        self.assertEqual(list(call.inputs), ["first", "others_0"])
        call = exporting.make_call(Sum(), {"first": x, "last": {"a": x}, "flag": False})
        self.assertEqual(list(call.inputs), ["first", "last_a"])
        names = {"input_names": ["a", "b"], "output_names": ["c"]}
        done = accc_export.export(Sum(), (x, x), self.path, exporter="torchscript", **names)
        self.assertEqual((done.inputs, done.outputs), (("a", "b"), ("c",)))
        self.path.unlink()
        self.refused("do not fit Linear.forward", nn.Linear(2, 2), (x, x))
        self.refused("no tensor among example_inputs", Sum(), (1.0,))
        self.refused("2 output names for 1 outputs", nn.Linear(2, 2), x, output_names=["a", "b"])
        self.refused("need different names", nn.Linear(2, 2), x, output_names=["input"])
        self.refused("type set", Sum(), {"first": x, "last": {x}})

    def test_16_bit_floats(self):
        module, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), torch.randn(3, 4)
        for dtype, kind in ((torch.bfloat16, onnx.TensorProto.BFLOAT16), (torch.float16, onnx.TensorProto.FLOAT16)):
            narrow = copy.deepcopy(module).to(dtype)
            for exporter in accc_export.EXPORTERS:
                with self.subTest(exporter, dtype=dtype):
                    accc_export.export(narrow, x.to(dtype), self.path, exporter=exporter)
                    held = {tensor.name: tensor for tensor in onnx.load(self.path).graph.initializer}
                    self.assertEqual({held[name].data_type for name, _ in narrow.named_parameters()}, {kind})
        folder = self.path.with_name("halves")
        accc_export.golden(module.bfloat16(), x.bfloat16(), folder, loss="mse", target=torch.randn(3, 2), exporter="torch.export", steps=1)
        self.assertTrue(json.loads((folder / "meta.json").read_text())["half"])
        golden = load_file(folder / "golden.safetensors")
        self.assertEqual((golden["grad.0.weight"].dtype, golden["loss"].dtype), (torch.bfloat16, torch.float32))

    def test_what_a_file_cannot_say(self):
        x = torch.randn(3, 4)
        # Of a large matrix, so that the iteration has not converged before it is watched.
        normed = nn.utils.parametrizations.spectral_norm(nn.Linear(60, 50))
        self.refused("changes the buffer .*_u", normed, torch.randn(3, 60))
        for stop in (torch.Tensor.detach, without_gradients, lambda x: x.data):
            self.refused(r"gradient stops .*first.weight, first.bias would be .*ends in .pt2", Stopped(stop), x)
        accc_export.export(Stopped(lambda x: x - x.detach().max() + x.max().detach()), x, self.path)  # stops nothing
        self.path.unlink()
        accc_export.export(Stopped(lambda x: x - x.detach().max() + x.max().detach() + (x - x).sqrt()), x, self.path)  # NaN
        self.path.unlink()
        accc_export.export(Stopped(torch.zeros_like), x, self.path)
        self.path.unlink()
        accc_export.export(Beside(), x, self.path)  # an output that nobody trains
        self.path.unlink()
        bag = nn.EmbeddingBag(5, 3, mode="sum", scale_grad_by_freq=True)
        self.refused("divides gradients .*ends in .pt2", bag, torch.arange(4)[None])
        words = torch.arange(4)
        self.refused("gets wrong: .*divides gradients", nn.Embedding(5, 3, scale_grad_by_freq=True), words)
        self.refused("gets wrong: .*whose table is computed", LooksUp(None, 2), words)
        self.refused("gets wrong: .*or with one and with none", LooksUp(2, None), words)
        accc_export.export(LooksUp(None, None), words, self.path, exporter="torchscript")
        self.path.unlink()
        self.refused("gets wrong: index_put.accumulate=True.", Scattered(), torch.randn(3, 4))
        self.refused("gets wrong: cdist", Distances(), torch.randn(3, 4))
        self.refused("number of its own .*ends in .pt2", nn.AvgPool2d(2, divisor_override=3), torch.randn(1, 2, 4, 4))
        self.refused("takes a mean.*ends in .pt2", ScatteredMeans(), torch.randn(3, 4))
        smooth = nn.CrossEntropyLoss(label_smoothing=0.1)
        self.refused("smooths labels .*ends in .pt2", smooth, (x, torch.tensor([0, 3, 1])))
        self.refused("keeps statistics .*ends in .pt2", nn.InstanceNorm1d(3, track_running_stats=True, momentum=None), x)
        self.refused("alpha_dropout drops in training alone", nn.AlphaDropout(), x)
        accc_export.export(nn.Sequential(nn.Linear(4, 3), nn.AlphaDropout(0)), x, self.path)
        self.path.unlink()
        words = nn.Embedding(5, 3, max_norm=0.1)
        self.refused("writes into the parameter weight .*ends in .pt2", words, torch.arange(4))
        self.refused("averages over all batches", nn.Sequential(nn.BatchNorm1d(4, momentum=None)), x)
        self.refused("has no values", nn.LazyLinear(2), x)
        self.refused("has no values", nn.Linear(4, 2, device="meta"), x)
        self.refused("not a torch.nn.Module", torch.relu, x)
        self.refused("module._orig_mod", torch.compile(nn.Linear(4, 2)), x)
        self.refused("ScriptModule", torch.jit.trace(nn.Linear(4, 2), x), x)
        with self.assertRaisesRegex(accc_export.ExportError, "there is no exporter 'best': choose auto"):
            accc_export.export(nn.Linear(4, 2), x, self.path, exporter="best")
        with self.assertRaisesRegex(accc_export.ExportError, "no exporter 'best': choose auto, .*, torch.export, joint"):
            accc_export.golden(nn.Linear(4, 2), x, self.folder / "golden", loss="mse", target=x[:, :2], exporter="best")

    def test_every_dropout_is_one_in_the_file(self):
        dropouts = nn.Dropout(inplace=True), nn.Dropout2d(0.3), nn.Dropout2d(0.3, inplace=True), nn.Dropout3d(0.1)
        layers = nn.Sequential(nn.Conv2d(2, 2, 1), *dropouts)
        for exporter in accc_export.EXPORTERS:
            accc_export.export(layers, torch.randn(3, 2, 4, 5), self.path, exporter=exporter)
            operators = [node.op_type for node in onnx.load(self.path).graph.node]
            self.assertEqual(operators.count("Dropout"), 4, exporter)
            self.assertFalse([name for name in operators if name.startswith("Random") or name == "Bernoulli"], exporter)

    def test_stochastic_depth_is_a_dropout_in_the_file(self):
        try:
            from timm.layers import DropPath
            from torchvision.ops import StochasticDepth
        except ImportError as error:
            self.skipTest(str(error))
        paths = StochasticDepth(0.5, "row"), StochasticDepth(0.5, "batch"), DropPath(0.5), DropPath(0.5, scale_by_keep=False)
        layers = nn.Sequential(nn.Linear(4, 3), *paths)
        for exporter in accc_export.EXPORTERS:
            accc_export.export(layers, torch.randn(6, 4), self.path, exporter=exporter)
            operators = [node.op_type for node in onnx.load(self.path).graph.node]
            self.assertEqual(operators.count("Dropout"), 4, exporter)
            self.assertFalse([name for name in operators if name.startswith("Random") or name == "Bernoulli"], exporter)
        program = self.folder / "m.pt2"
        accc_export.export(layers, torch.randn(6, 4), program)
        called = [str(node.target) for node in torch.export.load(program).graph.nodes]
        self.assertEqual(called.count("aten.dropout.default"), 4)
        self.assertFalse([name for name in called if "bernoulli" in name])

    def test_what_is_drawn_in_training_alone_is_told(self):
        x = torch.randn(6, 3)
        for name in ("m.onnx", "m.pt2"):
            layers = nn.Sequential(nn.Linear(3, 3), Noise(always=False))
            with self.assertWarnsRegex(accc_export.ExportWarning, "beside dropouts: 1 in training, 0 in evaluation.* exported in evaluation mode"):
                accc_export.export(layers, x, self.folder / name)
            self.assertTrue(all(part.training for part in layers.modules()))
            with warnings.catch_warnings():
                warnings.simplefilter("error", accc_export.ExportWarning)
                accc_export.export(nn.Sequential(nn.Linear(3, 3), Noise(always=True)), x, self.folder / name)

    def test_another_exporter_where_the_first_fails(self):
        class Attention(nn.Module):
            def forward(self, x):  # dynamo's takes four dimensions only
                return functional.scaled_dot_product_attention(x, x, x)

        module = nn.Sequential(nn.Linear(4, 4), Attention())
        with self.assertWarnsRegex(accc_export.ExportWarning, "exported with torchscript"):
            done = accc_export.export(module, torch.randn(2, 3, 4), self.path)
        self.assertEqual(done.exporter, "torchscript")

    def test_external_data(self):
        for seed in (1, 2):
            torch.manual_seed(seed)
            module = nn.Linear(40, 40)
            accc_export.export(module, torch.randn(2, 40), self.path, exporter="torchscript", external_data=True)
            stored = {x.name: to_array(x) for x in onnx.load(self.path).graph.initializer}
            self.assertEqual(stored["weight"].tolist(), module.weight.tolist())
            self.assertEqual(len(list(self.folder.iterdir())), 2)
        accc_export.export(module, torch.randn(2, 40), self.path, exporter="torchscript")
        self.assertEqual([x.name for x in self.folder.iterdir()], ["m.onnx"])

    def test_a_failed_export_keeps_the_old_file(self):
        self.path.write_bytes(b"old")
        with self.assertRaises(RuntimeError):  # the module's own
            accc_export.export(nn.Linear(4, 2), torch.randn(3, 5), self.path, exporter="torchscript")
        self.assertEqual(self.path.read_bytes(), b"old")
        with self.assertRaisesRegex(accc_export.ExportError, "cannot write"):
            accc_export.export(nn.Linear(4, 2), torch.randn(3, 4), self.folder / "none" / "m.onnx")

    def test_state_dict(self):
        module, inputs = everything()
        trained = {n: x + 1 for n, x in module.named_parameters() if not n.startswith("unused")}
        trained |= {n: x + 1 for n, x in module.named_buffers() if n.endswith(("running_mean", "running_var"))}
        path = self.folder / "trained.safetensors"
        save_file(trained, path)
        with self.assertRaisesRegex(accc_export.ExportError, "unused.weight is missing"):
            accc_export.state_dict(module, path)
        module.load_state_dict(accc_export.state_dict(module, path, partial=True), strict=True)
        self.assertTrue(torch.equal(module.head.weight, trained["words.weight"]))
        self.assertTrue(torch.equal(module.batch_norm.running_var, trained["batch_norm.running_var"]))
        with self.assertRaisesRegex(accc_export.ExportError, "the module has no words.weight"):
            accc_export.state_dict(nn.Linear(2, 2), path)
        save_file({"weight": torch.zeros(3, 2), "bias": torch.zeros(2)}, path)
        with self.assertRaisesRegex(accc_export.ExportError, r"weight is \[3, 2\], and \[2, 2\]"):
            accc_export.state_dict(nn.Linear(2, 2), path)
        with self.assertRaisesRegex(accc_export.ExportError, "cannot read"):
            accc_export.state_dict(nn.Linear(2, 2), self.folder / "none")


class TrainingTest(unittest.TestCase):
    def loss(self, text, scores, target):
        return training.make_loss(text, ["other", "scores"])({"other": scores * 0, "scores": scores}, target)

    def test_losses(self):
        scores, classes, floats = torch.randn(4, 3, 5), torch.randint(3, (4, 5)), torch.rand(4, 3, 5)
        weight = torch.tensor([0.5, 1, 2])
        expected = functional.cross_entropy(scores, classes, weight, ignore_index=1, label_smoothing=0.1)
        text = "cross_entropy=scores,weight=0.5:1:2,ignore_index=1,label_smoothing=0.1"
        self.assertEqual(self.loss(text, scores, classes), expected)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "weights.txt"
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
            with self.assertRaisesRegex(accc_export.ExportError, message):
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
        with self.assertRaisesRegex(accc_export.ExportError, r"muon: muon updates matrices, and is given .* shape \[2\]"):
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
        with self.assertRaisesRegex(accc_export.ExportError, "the group words: no parameter has such a name"):
            training.Optimizer("adamw", None, named, groups)
        with self.assertRaisesRegex(accc_export.ExportError, "clip_grad_norm and clip_grad_value are for all"):
            training.Optimizer("adamw", None, named, [("words", "sgd,clip_grad_norm=1")])
        with self.assertRaisesRegex(accc_export.ExportError, "in proportion to one that is 0"):
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
            with self.assertRaisesRegex(accc_export.ExportError, pattern):
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
            with self.assertRaisesRegex(accc_export.ExportError, pattern):
                training.Optimizer(text, None, named)
        self.assertAlmostEqual(training.Optimizer("sgd", torch.tensor(0.1), named).lr, 0.1)
        with self.assertRaisesRegex(accc_export.ExportError, "the learning rate is nan"):
            training.Optimizer("sgd", math.nan, named)
        with self.assertRaisesRegex(accc_export.ExportError, "a group of parameters: missing"):
            training.Optimizer("sgd", None, named, [("(", "lr=0.1")])
        with self.assertRaisesRegex(accc_export.ExportError, "the decay is between 0 and 1"):
            training.WeightAverage("ema,decay=2", named)


class GoldenTest(unittest.TestCase):
    def test_mixed_precision(self):
        torch.manual_seed(0)
        module, x, y = nn.Linear(64, 8), torch.randn(16, 64), torch.randn(16, 8)
        settings = {"loss": "mse", "target": y, "exporter": "torchscript", "steps": 2}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "golden"
            accc_export.golden(module, x, folder, precision="bf16", **settings)
            golden, double = (load_file(folder / f"{file}.safetensors") for file in ("golden", "golden64"))
            meta = json.loads((folder / "meta.json").read_text())
            with self.assertRaisesRegex(accc_export.ExportError, "precision fp8: there are fp32, bf16 and fp16"):
                accc_export.golden(module, x, folder, precision="fp8", **settings)
        self.assertEqual(meta["precision"], "bf16")
        self.assertEqual({tensor.dtype for tensor in golden.values()}, {torch.float32})
        # Products are rounded to 8 bits of significand; moving weights by as much is what rounding decides.
        for name in ("output", "grad.weight"):
            error = ((golden[name] - double[name]).norm() / double[name].norm()).item()
            self.assertTrue(2**-12 < error < 2**-6, error)
            self.assertLess(double[name].square().mean().sqrt().item() * 2**-12, meta["noise"][name])

    def test_loss_scale(self):
        """That of float16 keeps the gradients finite, and these are those of the loss."""
        torch.manual_seed(0)
        module, x, y = nn.Linear(64, 8), torch.randn(16, 64), 1000 * torch.randn(16, 8)
        settings = {"loss": "mse", "target": y, "exporter": "torchscript", "steps": 2}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "golden"
            accc_export.golden(module, x, folder, precision="fp16", **settings)
            golden, double = (load_file(folder / f"{file}.safetensors") for file in ("golden", "golden64"))
            meta = json.loads((folder / "meta.json").read_text())
            with self.assertRaisesRegex(accc_export.ExportError, "not finite in float16, whatever the loss is scaled by"):
                accc_export.golden(module, 1e30 * x, folder, precision="fp16", **settings)
        self.assertNotIn("half", meta)
        self.assertRegex(meta["loss_scale"], r"^dynamic,init_scale=\d+$")
        scale = float(meta["loss_scale"].split("=")[1])
        # The greatest, of which it is a quarter, takes the weight's gradient almost out of float16's range.
        largest = double["grad.weight"].abs().max().item()
        self.assertTrue(65504 / 8.1 < scale * largest < 65504 / 3.9, scale * largest)
        for name in ("output", "grad.weight"):
            error = ((golden[name] - double[name]).norm() / double[name].norm()).item()
            self.assertTrue(2**-15 < error < 2**-9, error)

    def test_files(self):
        torch.manual_seed(0)
        module, x, y = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), torch.randn(5, 4), torch.randn(5, 3)
        before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "golden"
            settings = {"loss": "mse", "target": y, "optimizer": "sgd,momentum=0.9", "lr": 0.1, "steps": 3}
            accc_export.golden(module, x, folder, exporter=["torchscript", "dynamo"], moved=1, **settings)
            files = {"model.onnx", "dynamo.onnx", "meta.json", "inputs.safetensors", "moved1.safetensors"}
            self.assertEqual({x.name for x in folder.iterdir()}, files | {"golden.safetensors", "golden64.safetensors"})
            self.assertTrue(all(torch.equal(tensor, before[n]) for n, tensor in module.state_dict().items()))
            golden = load_file(folder / "golden.safetensors")

            optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
            for _ in range(3):
                optimizer.zero_grad()
                loss = functional.mse_loss(module(x), y)
                loss.backward()
                optimizer.step()
            self.assertEqual(golden["losses"][2], loss.detach())
            meta = json.loads((folder / "meta.json").read_text())
            self.assertEqual(set(meta["noise"]), set(golden))
            self.assertEqual(set(meta["updates"]), {n for n in golden if n.startswith("param.")})
            # The normalisation takes the mean away again: of this gradient rounding decides all.
            self.assertLess(0, meta["noise"]["grad.0.bias"])
            self.assertLess(meta["noise"]["grad.0.weight"], 1e-5)
            update = golden["param.0.weight"] - before["0.weight"]
            self.assertAlmostEqual(meta["updates"]["param.0.weight"], update.square().mean().sqrt().item(), 4)
            for n, tensor in module.state_dict().items():
                if tensor.is_floating_point():
                    self.assertTrue(torch.equal(golden[f"param.{n}"], tensor), n)
            with self.assertRaisesRegex(accc_export.ExportError, "mse needs a target"):
                accc_export.golden(module, x, folder, loss="mse")
            with self.assertRaisesRegex(accc_export.ExportError, "no optimizer"):
                accc_export.golden(module, x, folder, loss="mse", target=y, optimizer="lbfgs", exporter="torchscript")
            self.assertEqual(len(list(folder.iterdir())), 7)  # as they were
            self.assertEqual([x.name for x in folder.parent.iterdir()], ["golden"])

    def test_goldens_replace_nothing_else(self):
        settings = {"loss": "mse", "target": torch.randn(5, 3), "exporter": "torchscript", "steps": 1, "noise": False, "double": False}
        run = lambda folder: accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), folder, **settings)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "mine"
            folder.mkdir()
            for _ in range(2):  # an empty folder, and goldens
                run(folder)
                self.assertEqual(len(list(folder.iterdir())), 4)
            (folder / "thesis.txt").write_text("all of it")
            (folder / "meta.json").rename(folder.parent / "meta.json")
            for mine in ("thesis.txt", "golden.safetensors"):
                with self.assertRaisesRegex(accc_export.ExportError, rf"mine holds {mine}, which would be lost"):
                    run(folder)
                self.assertEqual(len(list(folder.iterdir())), 3 + (folder / "thesis.txt").exists())
                (folder / "thesis.txt").unlink(missing_ok=True)

    def test_the_data_of_another_model_stays(self):
        """Of one whose name the other's would match as a pattern."""
        with tempfile.TemporaryDirectory() as name:
            for model in ("m1.onnx", "m[1].onnx"):
                accc_export.export(nn.Linear(40, 30), torch.randn(5, 40), f"{name}/{model}", exporter="torchscript", external_data=True)
                onnx.load(f"{name}/m1.onnx")  # with its data

    def test_another_run_in_float64(self):
        class Asking(nn.Linear):
            def forward(self, x):
                return super().forward(x) * (2 if x.dtype == torch.float64 else 1)

        with tempfile.TemporaryDirectory() as name:
            settings = {"loss": "mse", "target": torch.randn(5, 3), "exporter": "torch.export", "steps": 1, "noise": False}
            with self.assertWarnsRegex(accc_export.ExportWarning, "the loss of the first step is .* in float64: the module does something else"):
                accc_export.golden(Asking(4, 3), torch.randn(5, 4), name + "/golden", **settings)
            with warnings.catch_warnings():
                warnings.simplefilter("error", accc_export.ExportWarning)
                accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), name + "/golden", **settings)

    def test_types_of_its_own(self):
        """A module of several types runs in these, but in float64."""

        class Mixed(nn.Linear):
            def forward(self, x):
                return super().forward(x.double()).float()

        with tempfile.TemporaryDirectory() as name:
            settings = {"loss": "mse", "target": torch.randn(5, 3), "exporter": "torch.export", "steps": 2, "noise": False}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", accc_export.ExportWarning)
                accc_export.golden(Mixed(4, 3).double(), torch.randn(5, 4), name + "/golden", **settings)
            self.assertEqual(load_file(name + "/golden/golden.safetensors")["grad.weight"].dtype, torch.float64)
            with self.assertRaisesRegex(accc_export.ExportError, "there is nothing to train"):
                accc_export.golden(nn.Linear(4, 3).requires_grad_(False), torch.randn(5, 4), name + "/none", **settings)
            with self.assertRaisesRegex(accc_export.ExportError, "steps is -1"):
                accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), name + "/none", **settings | {"steps": -1})

    def test_parameter_groups(self):
        torch.manual_seed(0)
        module, x, y = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3)), torch.randn(5, 4), torch.randn(5, 3)
        groups = [("0.weight", "muon,lr=0.1"), ("bias$", "lr=0.01")]
        settings = {"loss": "mse", "target": y, "optimizer": "sgd,lr=0.05", "param_groups": groups, "steps": 2}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "golden"
            accc_export.golden(module, x, folder, exporter="torch.export", noise=False, **settings)
            golden, meta = load_file(folder / "golden.safetensors"), json.loads((folder / "meta.json").read_text())
        self.assertEqual((meta["param_groups"], meta["lr"]), ([list(group) for group in groups], 0.05))
        first, second = module
        rest = [{"params": [second.weight]}, {"params": [first.bias, second.bias], "lr": 0.01}]
        optimizers = [Muon([first.weight], lr=0.1), torch.optim.SGD(rest, lr=0.05)]
        for _ in range(2):
            module.zero_grad()
            functional.mse_loss(module(x), y).backward()
            for optimizer in optimizers:
                optimizer.step()
        for n, tensor in module.state_dict().items():
            self.assertTrue(torch.equal(golden[f"param.{n}"], tensor), n)

    def test_averages_of_weights(self):
        torch.manual_seed(0)
        module, x, y = nn.Linear(4, 3), torch.randn(5, 4), torch.randn(5, 3)
        settings = {"loss": "mse", "target": y, "optimizer": "sgd,lr=0.05", "steps": 4, "exporter": "torch.export", "noise": False}
        swa_utils = torch.optim.swa_utils
        warm = {"avg_fn": lambda average, new, count: average + max(9 / (10 + count), 0.5) * (new - average)}
        for text, rule in (("ema,decay=0.5", {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.5)}), ("ema,decay=0.5,warmup", warm)):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name) / "golden"
                accc_export.golden(module, x, folder, average_weights=text, **settings)
                golden, meta = load_file(folder / "golden.safetensors"), json.loads((folder / "meta.json").read_text())
                with self.assertRaisesRegex(accc_export.ExportError, "there is no option decoy"):
                    accc_export.golden(module, x, folder, average_weights="ema,decoy=0.5", **settings)
            self.assertEqual(meta["average_weights"], text)
            own = copy.deepcopy(module)
            average, optimizer = swa_utils.AveragedModel(own, **rule), torch.optim.SGD(own.parameters(), lr=0.05)
            for _ in range(4):
                own.zero_grad()
                functional.mse_loss(own(x), y).backward()
                optimizer.step()
                average.update_parameters(own)
            for n, tensor in average.module.state_dict().items():
                torch.testing.assert_close(golden[f"state.optimizer.ema.{n}"], tensor)

    def test_dropout(self):
        module = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5))
        with tempfile.TemporaryDirectory() as folder:
            target = torch.randint(3, (5,))
            options = {"loss": "cross_entropy", "target": target, "exporter": "torchscript"}
            accc_export.golden(module, torch.randn(5, 4), folder + "/g", **options)
            meta = json.loads((pathlib.Path(folder) / "g" / "meta.json").read_text())
        self.assertTrue(meta["dropout"])
        self.assertGreater(meta["loss_std"], 0)


class ReadmeTest(unittest.TestCase):
    def test_its_three_lines(self):
        class Classifier(nn.Linear):
            def forward(self, images):
                return super().forward(images.flatten(1))

        torch.manual_seed(0)
        names = {"module": Classifier(16, 3), "images": torch.randn(4, 1, 4, 4), "target": torch.randint(3, (4,))}
        for readme in (ROOT / "README.md", ROOT / "python" / "README.md"):
            block = re.search(r"^```python\n(.*?)^```", readme.read_text(), re.MULTILINE | re.DOTALL).group(1)
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                exec(block, dict(names))
                self.assertTrue(pathlib.Path("model.onnx").exists())


if __name__ == "__main__":
    unittest.main()
