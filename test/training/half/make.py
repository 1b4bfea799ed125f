# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes those of the folders beside it that are no model of examples/export: small modules with PyTorch's own training.

    python make.py [CASE...]     (needs what accc_export needs)

The others are made by examples/export/export.py --dtype.
"""

import argparse
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
from accc_export import golden  # noqa: E402


def autocast(enabled=True):
    return torch.autocast("cpu", torch.bfloat16, enabled=enabled)


class Autocast(nn.Module):
    """In float32; what PyTorch computes in 16 bits, what it converts back, norms with weights of another type than their input,
    and a part that stays in float32."""

    def __init__(self):
        super().__init__()
        self.conv, self.batch, self.group = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GroupNorm(2, 8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.query, self.layer, self.own, self.last = nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 5)
        self.scale, self.weight = nn.PReLU(4), nn.Parameter(torch.randn(16, 16) * 0.3)

    def forward(self, x):
        with autocast():
            x = self.scale(self.up(self.group(functional.relu(self.batch(self.conv(x)))))).flatten(2)
            x = torch.einsum("nci,ij->ncj", x[..., :16], self.weight) + x[..., 16:32]
            q, k, v = (y.unflatten(-1, (2, 8)).transpose(1, 2) for y in (self.query(x), x, functional.gelu(x)))
            mask = torch.full((4, 4), -1.0).triu(1)
            x = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
            x = self.layer(x)
            with autocast(False):
                own = torch.tanh(self.own(x.float()))
            x = torch.cat([own, x], 1).logsumexp(1) + torch.logcumsumexp(x, 1)[:, -1]
            return self.last(x)


class Sums(nn.Module):
    """In 16 bits: what adds many terms up, one behind the other."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 16), nn.Linear(16, 5)

    def forward(self, x):
        x = self.first(x)
        return self.last(x.logcumsumexp(0) + x.cumsum(1) * 0.2 + x.sigmoid().cumprod(1))


class Mixed(nn.Module):
    """Values in 16 bits beside weights and targets in float32."""

    def __init__(self):
        super().__init__()
        self.first, self.rms, self.batch = nn.Linear(6, 8), nn.RMSNorm(8), nn.BatchNorm1d(8, track_running_stats=False)

    def forward(self, x):
        x = self.first(x).bfloat16() * 0.01  # of the size of an epsilon of 16 bits
        y, wide = self.rms(x) + self.batch(x), x.float()
        loss = functional.binary_cross_entropy_with_logits(y, wide.detach().sigmoid(), pos_weight=torch.arange(8) * 0.2)
        return {"loss": loss + functional.cosine_embedding_loss(y, wide.flip(0), torch.ones(4))}


class Norms(nn.Module):
    """Norms in float32 of values in 16 bits; a joint graph keeps their statistics, in float32 as well."""

    def __init__(self):
        super().__init__()
        self.first, self.layer, self.group, self.batch = nn.Linear(6, 8), nn.LayerNorm(8), nn.GroupNorm(2, 8), nn.BatchNorm1d(8)
        self.instance = nn.InstanceNorm1d(8, affine=True, track_running_stats=True)

    def forward(self, x):
        x = self.first(x).bfloat16()
        places = torch.stack([x, x.tanh(), x * x, x.sigmoid()], 2)
        y = self.layer(x) + self.group(x) + self.batch(x) + self.instance(places).sum(2)
        return {"loss": (y.tanh().float() ** 2).mean()}


class Small(nn.Module):
    """In float16: numbers below its least normal one, which are as exact as PyTorch's where a kernel turns or bounds them."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 8), nn.Linear(24, 5)

    def forward(self, x):
        x = self.first(x) * 1e-5
        x = torch.cat([-x[:, 4:], x[:, :4], x.abs(), x.relu()], 1)
        return self.last(x * 2e4)


CLASSES = "cross_entropy"
CASES = {
    "autocast": (Autocast, torch.float32, (2, 3, 4, 4), CLASSES, ["torch.export", "joint"]),
    "small": (Small, torch.float16, (4, 6), CLASSES, ["torch.export"]),
    "sums": (Sums, torch.bfloat16, (4, 6), CLASSES, ["torch.export"]),
    "norms": (Norms, torch.float32, (4, 6), "output:loss", ["torch.export", "joint"]),
    "mixed": (Mixed, torch.float32, (4, 6), "output:loss", ["torch.export"]),
}
"""Name -> (module, its type, the shape of its input, loss, exporters)."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    for case in parser.parse_args().cases:
        build, dtype, shape, loss, exporters = CASES[case]
        torch.manual_seed(0)
        module, x = build().to(dtype), torch.randn(shape).to(dtype)
        target = torch.arange(shape[0]) % 5 if loss == CLASSES else None
        optimizer = "sgd" if dtype == torch.float16 else "adamw"  # of which PyTorch's has NaN in float16
        golden(module, (x,), HERE / case, loss=loss, target=target, optimizer=optimizer, steps=3, exporter=exporters)
        print(case)


if __name__ == "__main__":
    main()
