#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and attributes that forward sets, which are neither parameters nor buffers."""

import functools
import json
import unittest
import warnings

import torch
from torch import nn

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export


class Averaged(nn.Linear):
    """What a covariance of all batches is: the first call sees none."""

    covariance = None

    def forward(self, x):
        y = super().forward(x)
        found = (y.T @ y).detach() / len(y)
        self.covariance = found if self.covariance is None else 0.9 * self.covariance + 0.1 * found
        return {"loss": ((y @ self.covariance) * y).mean()}


class Written(nn.Linear):
    """A mean that is written into a tensor which is no buffer."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.mean = torch.zeros(sizes[0])

    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean(0))
        return {"loss": super().forward(x - self.mean).square().mean()}


class Exchanged(Written):
    """Likewise, by other data for the tensor."""

    def forward(self, x):
        self.mean.data = 0.9 * self.mean + x.detach().mean(0)
        return {"loss": nn.Linear.forward(self, x - self.mean).square().mean()}


class Queued(nn.Linear):
    """A list of what earlier batches were."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.held = []

    def forward(self, x):
        y = super().forward(x)
        self.held.append(y.detach())
        return {"loss": (y - torch.stack(self.held).mean(0)).square().mean() + y.mean()}


class Warmed(nn.Linear):
    """A factor that grows with the number of calls."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return {"loss": super().forward(x).square().mean() * min(1, self.calls / 10)}


class Spiking(nn.Linear):
    """A potential that starts anew in each call, and a table that the first one makes."""

    table = None

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.memories = {"potential": 0.0}

    def forward(self, x):
        if self.table is None or len(self.table) < len(x):
            self.table = torch.arange(len(x)).cos()
        self.memories["potential"] = 0.0
        for _ in range(3):
            self.memories["potential"] = 0.5 * self.memories["potential"] + super().forward(x) * self.table[:, None]
        return {"loss": self.memories["potential"].square().mean()}


class Noted(nn.Linear):
    """A tensor for others to read."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.latest = torch.zeros(sizes[0])

    def forward(self, x):
        self.seen = []
        self.latest.copy_(x.mean(0))
        return {"loss": super().forward(x).square().mean()}


class Listed(nn.Linear):
    """Layers in a list, a factor and a table, of which PyTorch knows nothing."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.layers = [nn.Linear(sizes[1], 2)]
        self.factor, self.unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        self.table = torch.arange(2.0)

    def forward(self, x):
        return {"loss": (self.layers[0](super().forward(x)) * self.factor * self.table).square().mean()}


class Flat(nn.Module):
    """Sets parts of one parameter for the weights of a layer, at each call."""

    def __init__(self):
        super().__init__()
        self.layer, self.flat = nn.Linear(4, 2), nn.Parameter(torch.randn(10))
        del self.layer._parameters["weight"], self.layer._parameters["bias"]

    def forward(self, x):
        self.layer.weight, self.layer.bias = self.flat[:8].view(2, 4), self.flat[8:]
        return {"loss": self.layer(x).square().mean()}


class Captured(nn.Module):
    """Reads what a part gives, by a hook that the first call registers, as transformers does."""

    def __init__(self):
        super().__init__()
        self.inner, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        if not hasattr(self, "is_hooked"):
            self.inner.register_forward_hook(lambda part, given, result: caught.append(result))
            self.is_hooked = True
        caught.clear()
        y = self.head(self.inner(x).relu())
        return {"loss": y.square().mean() + sum(z.cos().mean() for z in caught)}


caught = []


class Replaced(nn.Module):
    """Has another part from its first call on, with the same weights, as BigBird chooses its attention by the length of its first sentence."""

    def __init__(self):
        super().__init__()
        self.part, self.is_chosen = nn.Linear(4, 2), False

    def forward(self, x):
        if not self.is_chosen:
            other = nn.Linear(4, 2)  # which draws weights that nobody reads
            other.weight, other.bias = self.part.weight, self.part.bias
            self.part, self.is_chosen = other, True
        return {"loss": self.part(x).square().mean()}


class Head(nn.Module):
    """Leaves what it gives in a list, as MONAI's DynUNet does for its deep supervision."""

    def __init__(self, results):
        super().__init__()
        self.layer, self.results = nn.Linear(4, 2), results

    def forward(self, x):
        self.results[0] = self.layer(x)
        return x.cos()


class Supervised(nn.Module):
    """Reads what a part leaves in the list that both have."""

    def __init__(self):
        super().__init__()
        self.results = [torch.zeros(2)]
        self.head = Head(self.results)

    def forward(self, x):
        if x.isnan().any():  # of which it is traced once more
            raise ValueError("NaN")
        return {"loss": self.head(self.head.layer(x) @ self.head.layer.weight).square().mean() + self.results[0].square().mean()}


class AttributesTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.x = torch.randn(5, 4)

    def test_what_the_next_call_reads_is_refused(self):
        for module, name in (Averaged(4, 2), "covariance"), (Written(4, 2), "mean"), (Exchanged(4, 2), "mean"), (Queued(4, 2), "held"), (Warmed(4, 2), "calls"):
            before = dict(vars(module))
            for path in "m.pt2", "m.onnx":
                with self.refusal(f"what its last call left in the attributes {name}, "):
                    accc_export.export(module, self.x, self.folder / path)
            with self.refusal(f"what its last call left in the attributes {name}, "):
                accc_export.export_joint(nn.Sequential(module)[0], self.x, self.folder / "m.pt2", loss="output:loss")
            self.assertTrue(all(x is before[key] for key, x in vars(module).items() if isinstance(x, torch.Tensor)))
            self.assertFalse(name == "mean" and module.mean.any())
            self.assertEqual(dict(vars(module)), before)
            self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual((module.calls, Queued(4, 2).held), (0, []))

    def test_a_part_is_named_by_its_path(self):
        with self.refusal("left in the attributes 1.covariance, "):
            accc_export.export(nn.Sequential(nn.Linear(4, 4), Averaged(4, 2)), self.x, self.folder / "m.pt2")

    def test_what_is_written_for_others(self):
        module = Noted(4, 2)
        for path in "m.pt2", "m.onnx":
            accc_export.export(module, self.x, self.folder / path)
            self.assertFalse(module.latest.any() or hasattr(module, "seen"))

    def test_what_requires_a_gradient_and_is_no_parameter(self):
        module = nn.Sequential(nn.Linear(4, 4), Listed(4, 3))
        for export in (accc_export.export, functools.partial(accc_export.export_joint, loss="output:loss")):
            with self.assertWarnsRegex(accc_export.ExportWarning, "the outputs depend on 1.factor, 1.layers, which require gradients"):
                export(module, self.x, self.folder / "m.pt2")
        module[1].factor.requires_grad_(False)
        module[1].layers = nn.ModuleList(module[1].layers)
        with warnings.catch_warnings():
            warnings.simplefilter("error", accc_export.ExportWarning)
            accc_export.export(module, self.x, self.folder / "m.pt2")

    def test_statistics_over_all_processes(self):
        module = nn.Sequential(nn.Linear(4, 4), nn.SyncBatchNorm(4), nn.SyncBatchNorm(4).eval())
        joint = functools.partial(accc_export.export_joint, loss="cross_entropy", target=torch.zeros(5, dtype=torch.int64))
        for export, path in ((accc_export.export, "m.pt2"), (accc_export.export, "m.onnx"), (joint, "m.pt2")):
            with self.assertWarnsRegex(accc_export.ExportWarning, r"does not say that 1 \(1 SyncBatchNorm\) take .* --sync-batch-norm") as caught:
                export(module, self.x, self.folder / path)
            self.assertEqual(caught.filename, __file__)
        module[1].eval()
        with warnings.catch_warnings():
            warnings.simplefilter("error", accc_export.ExportWarning)
            accc_export.export(module, self.x, self.folder / "m.pt2")

    def test_parts_of_parameters(self):
        module = Flat()
        before = module.flat.detach().clone()
        for path in "m.pt2", "m.onnx", "m.onnx":
            accc_export.export(module, self.x, self.folder / path)
            self.assertTrue(torch.equal(module.flat, before))
            self.assertFalse(hasattr(module.layer, "weight"))

    def test_hooks_that_the_first_call_registers(self):
        for path in "m.pt2", "m.onnx":
            module = Captured()
            accc_export.export(module, self.x, self.folder / path)
            self.assertFalse(module.inner._forward_hooks or hasattr(module, "is_hooked"))
        accc_export.golden(Captured(), self.x, self.folder / "golden", loss="output:loss", exporter="dynamo", steps=2)
        self.compare(self.folder / "golden")

    def test_parts_that_the_first_call_makes(self):
        for exporter in "torch.export", "joint", "dynamo":
            golden = self.folder / exporter
            accc_export.golden(Replaced(), self.x, golden, loss="output:loss", exporter=exporter, steps=2)
            self.compare(golden)

    def test_lists_that_parts_share(self):
        for exporter in "torch.export", "joint", "dynamo":
            golden, module = self.folder / exporter, Supervised()
            with self.assertWarnsRegex(accc_export.ExportWarning, "forward checks values"):
                accc_export.golden(module, self.x, golden, loss="output:loss", exporter=exporter, steps=2)
            self.compare(golden)
            self.assertIs(module.results, module.head.results)
            self.assertFalse(module.results[0].any())

    def test_what_each_call_sets_anew(self):
        module = Spiking(4, 2)
        for path in "m.pt2", "m.onnx":
            accc_export.export(module, self.x, self.folder / path)
            self.assertEqual((module.table, module.memories), (None, {"potential": 0.0}))
        accc_export.golden(module, self.x, self.folder / "golden", loss="output:loss", exporter=["torch.export", "joint"], steps=2)
        self.assertEqual(module.memories, {"potential": 0.0})
        self.assertEqual(json.loads((self.folder / "golden" / "meta.json").read_text())["steps"], 2)


if __name__ == "__main__":
    unittest.main()
