#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes OptimizerRows.inc and LossRows.inc: what PyTorch makes of the tests' small problems, in float64.

Run it in this folder after adding a row; it needs torch.
"""

import torch
import torch.nn.functional as F

HEADER = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Written by expected.py.\n"
LR = 0.1

OPTIMIZERS = {
    "sgd": (torch.optim.SGD, {}),
    "sgd,weight_decay=0.1": (torch.optim.SGD, dict(weight_decay=0.1)),
    "sgd,momentum=0.9": (torch.optim.SGD, dict(momentum=0.9)),
    "sgd,momentum=0.9,nesterov": (torch.optim.SGD, dict(momentum=0.9, nesterov=True)),
    "sgd,momentum=0.9,dampening=0.3": (torch.optim.SGD, dict(momentum=0.9, dampening=0.3)),
    "sgd,momentum=0.5,dampening=0.5,weight_decay=0.2": (
        torch.optim.SGD,
        dict(momentum=0.5, dampening=0.5, weight_decay=0.2),
    ),
    "sgd,momentum=0.9,maximize": (torch.optim.SGD, dict(momentum=0.9, maximize=True)),
    "sgd,clip_grad_norm=0.5": (torch.optim.SGD, dict(clip=0.5)),
    "adam": (torch.optim.Adam, {}),
    "adam,weight_decay=0.1": (torch.optim.Adam, dict(weight_decay=0.1)),
    "adam,amsgrad": (torch.optim.Adam, dict(amsgrad=True)),
    "adam,beta1=0.5,beta2=0.9,eps=0.001": (torch.optim.Adam, dict(betas=(0.5, 0.9), eps=1e-3)),
    "adam,maximize": (torch.optim.Adam, dict(maximize=True)),
    "adamw": (torch.optim.AdamW, {}),
    "adamw,weight_decay=0.3,amsgrad": (torch.optim.AdamW, dict(weight_decay=0.3, amsgrad=True)),
    "adamw,weight_decay=0,beta1=0": (torch.optim.AdamW, dict(weight_decay=0.0, betas=(0.0, 0.999))),
    "adamw,clip_grad_norm=100": (torch.optim.AdamW, dict(clip=100.0)),
    "rmsprop": (torch.optim.RMSprop, {}),
    "rmsprop,alpha=0.9,eps=0.001,momentum=0.5": (torch.optim.RMSprop, dict(alpha=0.9, eps=1e-3, momentum=0.5)),
    "rmsprop,centered,weight_decay=0.1": (torch.optim.RMSprop, dict(centered=True, weight_decay=0.1)),
    "rmsprop,centered,momentum=0.3,maximize": (torch.optim.RMSprop, dict(centered=True, momentum=0.3, maximize=True)),
    "adagrad": (torch.optim.Adagrad, {}),
    "adagrad,lr_decay=0.5,weight_decay=0.1": (torch.optim.Adagrad, dict(lr_decay=0.5, weight_decay=0.1)),
    "adagrad,eps=0.01,maximize": (torch.optim.Adagrad, dict(eps=1e-2, maximize=True)),
}


def train(kind, options, steps=4):
    """The loss of the tests: sum(w^4) / 4 + v * sum(w), whose gradients grow and shrink."""
    w = torch.tensor([1.0, -0.5, 0.25], dtype=torch.float64, requires_grad=True)
    v = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    clip = options.get("clip")
    optimizer = kind([w, v], lr=LR, **{k: o for k, o in options.items() if k != "clip"})
    for _ in range(steps):
        optimizer.zero_grad()
        ((w**4).sum() / 4 + v * w.sum()).backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([w, v], clip)
        optimizer.step()
    return [*w.tolist(), v.item()]


def wave(*shape):
    """The tests' data: 2 sin(1.7 i), row-major."""
    count = int(torch.tensor(shape).prod())
    return (2 * torch.sin(1.7 * torch.arange(count, dtype=torch.float64))).reshape(shape)


CLASSES = torch.tensor([[2, 0], [-100, 1]])  # [N, d]
WEIGHT = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)


def first(target):
    return target[:, 0]


LOSSES = [
    ("cross_entropy", (2, 3), first(CLASSES), lambda x, t: F.cross_entropy(x, t)),
    ("cross_entropy,class_dim=1", (2, 3, 2), CLASSES, lambda x, t: F.cross_entropy(x, t)),
    ("cross_entropy", (3,), torch.tensor(1), lambda x, t: F.cross_entropy(x, t)),
    (
        "cross_entropy,ignore_index=1,class_dim=1",
        (2, 3, 2),
        CLASSES.clamp(min=0),
        lambda x, t: F.cross_entropy(x, t, ignore_index=1),
    ),
    (
        "cross_entropy,label_smoothing=0.2,class_dim=1",
        (2, 3, 2),
        CLASSES,
        lambda x, t: F.cross_entropy(x, t, label_smoothing=0.2),
    ),
    (
        "cross_entropy,weight=0.5:1:2,label_smoothing=0.1,class_dim=1",
        (2, 3, 2),
        CLASSES,
        lambda x, t: F.cross_entropy(x, t, weight=WEIGHT, label_smoothing=0.1),
    ),
    (
        "cross_entropy,class_dim=-1",
        (2, 2, 3),
        CLASSES,
        lambda x, t: F.cross_entropy(x.movedim(-1, 1), t),
    ),
    ("nll", (2, 3), first(CLASSES), lambda x, t: F.nll_loss(x, t)),
    ("nll,weight=0.5:1:2,class_dim=1", (2, 3, 2), CLASSES, lambda x, t: F.nll_loss(x, t, weight=WEIGHT)),
    ("mse", (2, 3), wave(2, 3).flip(0), F.mse_loss),
    ("l1", (2, 3), wave(2, 3).flip(0), F.l1_loss),
    ("bce_with_logits", (2, 3), wave(2, 3).flip(0).clamp(0, 1), F.binary_cross_entropy_with_logits),
]


def braces(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    with open("OptimizerRows.inc", "w") as out:
        out.write(HEADER)
        for spec, (kind, options) in OPTIMIZERS.items():
            out.write(f'{{"{spec}", {braces(train(kind, options))}}},\n')
    with open("LossRows.inc", "w") as out:
        out.write(HEADER)
        for spec, shape, target, loss in LOSSES:
            x = wave(*shape).requires_grad_()
            value = loss(x, target)
            value.backward()
            extents = "{" + ", ".join(map(str, shape)) + "}"
            out.write(
                f'{{"{spec}", {extents}, {braces(target.flatten())}, {value.item()!r}, '
                f"{braces(x.grad.flatten())}}},\n"
            )


if __name__ == "__main__":
    main()
