#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The goldens that python/accc_export records. Needs PyTorch; scripts/sweep --package runs it."""

import copy
import json
import unittest
import warnings

import onnx
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export
from accc_export.optimizers import Muon

torch.set_num_threads(1)


class GoldenTest(ExportCase):
    def test_mixed_precision(self):
        module, x, y = nn.Linear(64, 8), torch.randn(16, 64), torch.randn(16, 8)
        settings = {"loss": "mse", "target": y, "exporter": "torchscript", "steps": 2}
        folder = self.folder / "golden"
        accc_export.golden(module, x, folder, precision="bf16", **settings)
        golden, double = (load_file(folder / f"{file}.safetensors") for file in ("golden", "golden64"))
        meta = json.loads((folder / "meta.json").read_text())
        with self.refusal("precision fp8: there are fp32, bf16 and fp16"):
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
        module, x, y = nn.Linear(64, 8), torch.randn(16, 64), 1000 * torch.randn(16, 8)
        settings = {"loss": "mse", "target": y, "exporter": "torchscript", "steps": 2}
        folder = self.folder / "golden"
        accc_export.golden(module, x, folder, precision="fp16", **settings)
        golden, double = (load_file(folder / f"{file}.safetensors") for file in ("golden", "golden64"))
        meta = json.loads((folder / "meta.json").read_text())
        with self.refusal("not finite in float16, whatever the loss is scaled by"):
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

    def test_inputs_that_nothing_reads(self):
        class Skipping(nn.Linear):
            def forward(self, labels, x, mask):
                return super().forward(x)

        inputs = {"labels": torch.arange(5), "x": torch.randn(5, 4), "mask": torch.ones(5, 3, dtype=torch.bool)}
        for exporter in ("torchscript", "dynamo", "torch.export"):
            folder = self.folder / exporter
            accc_export.golden(Skipping(4, 3), inputs, folder, loss="mse", target=torch.randn(5, 3), exporter=exporter, steps=1)
            self.compare(folder)
        accc_export.export(Skipping(4, 3), inputs, self.folder / "m.onnx", exporter="torchscript", dynamic={"batch": {"labels": 0, "x": 0, "mask": 0}})
        declared = [(x.name, [d.dim_param or d.dim_value for d in x.type.tensor_type.shape.dim]) for x in onnx.load(self.folder / "m.onnx").graph.input]
        self.assertEqual(declared, [("labels", ["batch"]), ("x", ["batch", 4]), ("mask", ["batch", 3])])

    def test_files(self):
        module, x, y = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), torch.randn(5, 4), torch.randn(5, 3)
        before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        folder = self.folder / "golden"
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
        with self.refusal("mse needs a target"):
            accc_export.golden(module, x, folder, loss="mse")
        with self.refusal("no optimizer"):
            accc_export.golden(module, x, folder, loss="mse", target=y, optimizer="lbfgs", exporter="torchscript")
        self.assertEqual(len(list(folder.iterdir())), 7)  # as they were
        self.assertEqual([x.name for x in folder.parent.iterdir()], ["golden"])

    def test_goldens_replace_nothing_else(self):
        settings = {"loss": "mse", "target": torch.randn(5, 3), "exporter": "torchscript", "steps": 1, "noise": False, "double": False}
        run = lambda folder: accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), folder, **settings)
        folder = self.folder / "mine"
        folder.mkdir()
        for _ in range(2):  # an empty folder, and goldens
            run(folder)
            self.assertEqual(len(list(folder.iterdir())), 4)
        (folder / "thesis.txt").write_text("all of it")
        (folder / "meta.json").rename(folder.parent / "meta.json")
        for mine in ("thesis.txt", "golden.safetensors"):
            with self.refusal(rf"mine holds {mine}, which would be lost"):
                run(folder)
            self.assertEqual(len(list(folder.iterdir())), 3 + (folder / "thesis.txt").exists())
            (folder / "thesis.txt").unlink(missing_ok=True)

    def test_names_of_outputs(self):
        for name in ("losses", "param.weight", "state.x", "grad.weight"):
            with self.refusal(f"an output is called {name}, a name that goldens give to something else"):
                accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), self.folder / "golden", loss="mse", target=torch.randn(5, 3),
                                   exporter="torchscript", output_names=[name])
        self.assertFalse((self.folder / "golden").exists())

    def test_the_data_of_another_model_stays(self):
        """Of one whose name the other's would match as a pattern."""
        for model in ("m1.onnx", "m[1].onnx"):
            accc_export.export(nn.Linear(40, 30), torch.randn(5, 40), self.folder / model, exporter="torchscript", external_data=True)
            onnx.load(self.folder / "m1.onnx")  # with its data

    def test_another_run_in_float64(self):
        class Asking(nn.Linear):
            def forward(self, x):
                return super().forward(x) * (2 if x.dtype == torch.float64 else 1)

        settings = {"loss": "mse", "target": torch.randn(5, 3), "exporter": "torch.export", "steps": 1, "noise": False}
        with self.assertWarnsRegex(accc_export.ExportWarning, "the loss of the first step is .* in float64: the module does something else"):
            accc_export.golden(Asking(4, 3), torch.randn(5, 4), self.folder / "golden", **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("error", accc_export.ExportWarning)
            accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), self.folder / "golden", **settings)

    def test_in_float64(self):
        """Held to the digits of float64, but where PyTorch itself computes with a number in float32."""
        x, target = torch.randn(5, 4).double(), torch.randn(5, 3).double()
        plain, sigmoid = nn.Linear(4, 3).double(), nn.Sequential(nn.Linear(4, 3), nn.Hardsigmoid()).double()
        for module, optimizer, is_double in (plain, "adamw", True), (plain, "nadam", False), (sigmoid, "adamw", False):
            folder = self.folder / f"{type(module).__name__}_{optimizer}"
            accc_export.golden(module, x, folder, loss="mse", target=target, optimizer=optimizer, exporter="torch.export", steps=2)
            self.assertEqual("double" in json.loads((folder / "meta.json").read_text()), is_double)
            self.assertEqual((folder / "golden64.safetensors").exists(), not is_double)
            self.compare(folder)

    def test_types_of_its_own(self):
        """A module of several types runs in these, but in float64."""

        class Mixed(nn.Linear):
            def forward(self, x):
                return super().forward(x.double()).float()

        settings = {"loss": "mse", "target": torch.randn(5, 3), "exporter": "torch.export", "steps": 2, "noise": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", accc_export.ExportWarning)
            accc_export.golden(Mixed(4, 3).double(), torch.randn(5, 4), self.folder / "golden", **settings)
        self.assertEqual(load_file(self.folder / "golden/golden.safetensors")["grad.weight"].dtype, torch.float64)
        with self.refusal("there is nothing to train"):
            accc_export.golden(nn.Linear(4, 3).requires_grad_(False), torch.randn(5, 4), self.folder / "none", **settings)
        with self.refusal("steps is -1"):
            accc_export.golden(nn.Linear(4, 3), torch.randn(5, 4), self.folder / "none", **settings | {"steps": -1})

    def test_branches(self):
        """What a branch holds has its gradient there, and the types that it computes in count."""

        class Branches(nn.Module):
            def __init__(self, dtype):
                super().__init__()
                self.linear, self.held, self.other, self.dtype = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3), dtype

            def forward(self, x):
                def rounded(y):
                    return (self.held(y).to(self.dtype) * 3).to(y.dtype)

                return {"loss": torch.cond(x.sum() > -100, rounded, lambda y: self.other(y).sin(), (self.linear(x),)).square().sum()}

        settings = {"loss": "output:loss", "exporter": "torch.export", "steps": 1, "noise": False}
        for dtype in (torch.float32, torch.bfloat16):
            with self.subTest(dtype=dtype):
                folder, module, x = self.folder / str(dtype), Branches(dtype), torch.randn(4, 3)
                accc_export.golden(module, {"x": x}, folder, **settings)
                golden, double = (load_file(folder / f"{file}.safetensors") for file in ("golden", "golden64"))
                self.assertEqual(json.loads((folder / "meta.json").read_text()).get("half", False), dtype == torch.bfloat16)
                error = abs(golden["loss"] - double["loss"]).item() / double["loss"].item()
                self.assertEqual(error > 1e-6, dtype == torch.bfloat16)
                module(x)["loss"].backward()
                for name, parameter in module.named_parameters():
                    torch.testing.assert_close(golden[f"grad.{name}"], parameter.grad)
                self.compare(folder)

    def test_parameter_groups(self):
        module, x, y = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3)), torch.randn(5, 4), torch.randn(5, 3)
        groups = [("0.weight", "muon,lr=0.1"), ("bias$", "lr=0.01")]
        settings = {"loss": "mse", "target": y, "optimizer": "sgd,lr=0.05", "param_groups": groups, "steps": 2}
        folder = self.folder / "golden"
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
        module, x, y = nn.Linear(4, 3), torch.randn(5, 4), torch.randn(5, 3)
        settings = {"loss": "mse", "target": y, "optimizer": "sgd,lr=0.05", "steps": 4, "exporter": "torch.export", "noise": False}
        swa_utils = torch.optim.swa_utils
        warm = {"avg_fn": lambda average, new, count: average + max(9 / (10 + count), 0.5) * (new - average)}
        for text, rule in (("ema,decay=0.5", {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.5)}), ("ema,decay=0.5,warmup", warm)):
            folder = self.folder / "golden"
            accc_export.golden(module, x, folder, average_weights=text, **settings)
            golden, meta = load_file(folder / "golden.safetensors"), json.loads((folder / "meta.json").read_text())
            with self.refusal("there is no option decoy"):
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
        target = torch.randint(3, (5,))
        options = {"loss": "cross_entropy", "target": target, "exporter": "torchscript"}
        accc_export.golden(module, torch.randn(5, 4), self.folder / "g", **options)
        meta = json.loads((self.folder / "g" / "meta.json").read_text())
        self.assertTrue(meta["dropout"])
        self.assertGreater(meta["loss_std"], 0)


if __name__ == "__main__":
    unittest.main()
