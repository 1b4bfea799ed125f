# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folders beside it: small modules in float64 with PyTorch's own training, held to the digits of float64.

    python make.py [CASE...]     (needs what accc_export needs)
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


class Network(nn.Module):
    """Layers of most kinds."""

    def __init__(self):
        super().__init__()
        self.conv, self.batch = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.lstm, self.layer = nn.LSTM(16, 16, batch_first=True), nn.LayerNorm(16)
        self.query, self.last = nn.Linear(16, 32), nn.Linear(16, 5)

    def forward(self, x):
        x = functional.gelu(functional.avg_pool2d(self.batch(self.conv(x)), 2)).flatten(2)
        x = x + self.lstm(x)[0]
        query, key = self.query(self.layer(x))[:, None].chunk(2, -1)
        return self.last(functional.scaled_dot_product_attention(query, key, x[:, None]).amax((1, 2)))


class Layers(nn.Module):
    """As many linear layers as there are optimizers, but for Muon, whose products are in bfloat16, and NAdam, which keeps one
    number in float32 whatever the module has."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({name: nn.Linear(6, 6) for name in OPTIMIZERS})

    def forward(self, x):
        for layer in self.layers.values():
            x = x + torch.tanh(layer(x))
        return x


class MadeOfNumbers(nn.Module):
    """Floats that are made of integers, of numbers and of nothing: of the default dtype, which this module is exported under."""

    default_dtype = torch.float64

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, x):
        i = torch.arange(6)
        x = x + i / 3 + i.sqrt() + torch.sigmoid(i) + torch.pow(i, 0.3) + torch.atan2(i, i + 1) + i * 0.1 + torch.where(i > 2, 0.3, 0.7)
        x = x + torch.linspace(0, 1, 6) + torch.full((6,), 0.1) + torch.eye(6)[0] * 0.7 + torch.hann_window(6) + torch.logspace(0, 0.1, 6)
        y = self.layer(x.sin()) * (i.sum() / 7) + functional.smooth_l1_loss(self.layer(x), (i / 7).expand(5, 6))
        return y + (i > 2).logical_not() * 0.3 + torch.fft.fftfreq(6) + torch.tensor(1 / 3)


OPTIMIZERS = {
    "sgd": "sgd,lr=0.03,momentum=0.9,dampening=0.3,weight_decay=0.01",
    "adam": "adam,lr=0.003,amsgrad",
    "adadelta": "adadelta,lr=0.7",
    "adafactor": "adafactor,lr=0.02,weight_decay=0.1",
    "adagrad": "adagrad,lr=0.05,lr_decay=0.1",
    "adamax": "adamax,lr=0.007",
    "radam": "radam,lr=0.006",
    "rmsprop": "rmsprop,lr=0.006,centered,momentum=0.3",
}
GROUPS = [(rf"\.{name}\.", options) for name, options in OPTIMIZERS.items()]
CASES = {
    "network": (Network, (6, 1, 8, 8), "cross_entropy,label_smoothing=0.1", {"optimizer": "adamw,clip_grad_norm=0.7", "lr": 0.003}),
    "layers": (Layers, (5, 6), "mse", {"optimizer": "adamw", "lr": 0.003, "param_groups": GROUPS}),
    "made_of_numbers": (MadeOfNumbers, (5, 6), "mse", {"optimizer": "sgd", "lr": 0.03}),
    "averaged": (Layers, (5, 6), "huber", {"optimizer": "sgd,lr=0.03", "average_weights": "ema,decay=0.97"}),
}
"""Name -> (module, the shape of its input, loss, options)."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    for case in parser.parse_args().cases:
        build, shape, loss, options = CASES[case]
        torch.manual_seed(0)
        module, x = build().double(), torch.randn(shape).double()
        target = torch.arange(shape[0]) % 5 if loss.startswith("cross_entropy") else torch.randn(shape).double()
        exporters = ["torch.export", "joint"] if hasattr(build, "default_dtype") else ["torch.export", "joint", "dynamo"]
        torch.set_default_dtype(getattr(build, "default_dtype", torch.float32))
        golden(module, (x,), HERE / case, loss=loss, target=target, steps=6, exporter=exporters, **options)
        torch.set_default_dtype(torch.float32)
        print(case)


if __name__ == "__main__":
    main()
