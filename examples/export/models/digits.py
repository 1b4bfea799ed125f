# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two models of the digits example, 8×8 grey images to ten classes, batch left open."""

import pathlib

import torch
from safetensors.torch import load_file
from torch import nn

from cases import Case, perturb

DATA = pathlib.Path(__file__).parents[2] / "digits" / "data" / "digits.safetensors"


class DigitsCNN(nn.Module):
    """Two convolutions with batch norm, two linear layers."""

    def __init__(self, width, hidden, dropout):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(2 * width * 2 * 2, hidden)
        self.dropout = nn.Dropout(dropout)
        self.fc2 = nn.Linear(hidden, 10)

    def forward(self, images):
        x = self.pool(torch.relu(self.bn1(self.conv1(images))))
        x = self.pool(torch.relu(self.bn2(self.conv2(x))))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(self.dropout(x))


class DigitsMLP(nn.Sequential):
    """Two hidden layers."""

    def __init__(self, hidden, dropout):
        super().__init__(
            nn.Flatten(),
            nn.Linear(64, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 10),
        )


def _case(module, **options):
    perturb(module)
    data = load_file(DATA)
    return Case(
        module=module,
        inputs={"images": data["images"][:64].clone()},
        target=data["labels"][:64].clone(),
        dynamic={"batch": {"images": 0}},
        **options,
    )


def cnn(config, dropout=0.0):
    width, hidden = (16, 64) if config == "full" else (4, 16)
    module = DigitsCNN(width, hidden, dropout)
    return _case(module, optimizer="sgd,momentum=0.9", lr=0.05)


def mlp(config, dropout=0.0):
    module = DigitsMLP(128 if config == "full" else 16, dropout)
    return _case(module, optimizer="adam", lr=1e-3)
