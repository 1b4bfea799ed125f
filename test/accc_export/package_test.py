#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What python/accc_export writes and refuses. Needs PyTorch; scripts/sweep --package runs it."""

import contextlib
import copy
import json
import math
import pathlib
import re
import tempfile
import unittest
import warnings
from unittest import mock

import onnx
import torch
from onnx.numpy_helper import to_array
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from export_case import ROOT, ExportCase  # first: it makes accc_export importable
import accc_export
from accc_export import exporting

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


class PackageTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "m.onnx"

    def refused(self, pattern, module, inputs, **options):
        with self.refusal(pattern):
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
        self.refused("the axis -2 of input is both n and m", module, torch.randn(3, 4), dynamic={"n": {"input": 0}, "m": {"input": -2}})
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
        with self.refusal(r"example_inputs alone: with others, /\w+ \(\w+\) is another"):
            accc_export.export(Sized(lambda x: sum(x[:, i] for i in range(x.shape[1]))), {"x": x}, self.path, exporter="torchscript", **settings)
        fixed = Sized(lambda x: x * torch.linspace(0, 1, x.shape[1])[:, None])
        with self.refusal(r"the dimension t \(axis 1 of x\) is not open, but 5"):
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
        with self.refusal("there is no exporter 'best': choose auto"):
            accc_export.export(nn.Linear(4, 2), x, self.path, exporter="best")
        with self.refusal("no exporter 'best': choose auto, .*, torch.export, joint"):
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
        with self.refusal("cannot write"):
            accc_export.export(nn.Linear(4, 2), torch.randn(3, 4), self.folder / "none" / "m.onnx")

    def test_state_dict(self):
        module, inputs = everything()
        trained = {n: x + 1 for n, x in module.named_parameters() if not n.startswith("unused")}
        trained |= {n: x + 1 for n, x in module.named_buffers() if n.endswith(("running_mean", "running_var"))}
        path = self.folder / "trained.safetensors"
        save_file(trained, path)
        with self.refusal("unused.weight is missing"):
            accc_export.state_dict(module, path)
        module.load_state_dict(accc_export.state_dict(module, path, partial=True), strict=True)
        self.assertTrue(torch.equal(module.head.weight, trained["words.weight"]))
        self.assertTrue(torch.equal(module.batch_norm.running_var, trained["batch_norm.running_var"]))
        with self.refusal("the module has no words.weight"):
            accc_export.state_dict(nn.Linear(2, 2), path)
        save_file({"weight": torch.zeros(3, 2), "bias": torch.zeros(2)}, path)
        with self.refusal(r"weight is \[3, 2\], and \[2, 2\]"):
            accc_export.state_dict(nn.Linear(2, 2), path)
        with self.refusal("cannot read"):
            accc_export.state_dict(nn.Linear(2, 2), self.folder / "none")


class ReadmeTest(ExportCase):
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
