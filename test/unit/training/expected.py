#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes OptimizerRows.inc, MatrixRows.inc and LossRows.inc: what PyTorch makes of the tests' small problems, in float64.

Run it in this folder after adding a row; it needs torch.
"""

import inspect

import torch
import torch.nn.functional as F
from torch.optim import _muon

HEADER = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Written by expected.py.\n"
LR = 0.1


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., 2023."""

    def __init__(self, parameters, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False):
        super().__init__(parameters, dict(lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (beta1, beta2), lr = group["betas"], group["lr"]
            for p in group["params"]:
                g = -p.grad if group["maximize"] else p.grad
                m = self.state[p].get("exp_avg", torch.zeros_like(p))
                update = torch.sign(beta1 * m + (1 - beta1) * g)
                self.state[p]["exp_avg"] = beta2 * m + (1 - beta2) * g
                p -= lr * (update + group["weight_decay"] * p)


# PyTorch's iteration, which rounds to bf16, in the type of its gradient.
iteration = inspect.getsource(_muon._zeropower_via_newtonschulz)
assert "torch.bfloat16" in iteration
exec(iteration.replace("torch.bfloat16", "grad.dtype"), vars(_muon))

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
    "nadam": (torch.optim.NAdam, {}),
    "nadam,beta1=0.5,beta2=0.9,eps=0.001,momentum_decay=0.5,maximize": (
        torch.optim.NAdam,
        dict(betas=(0.5, 0.9), eps=1e-3, momentum_decay=0.5, maximize=True),
    ),
    "nadam,weight_decay=0.3": (torch.optim.NAdam, dict(weight_decay=0.3)),
    "nadam,weight_decay=0.3,decoupled_weight_decay": (
        torch.optim.NAdam,
        dict(weight_decay=0.3, decoupled_weight_decay=True),
    ),
    "radam": (torch.optim.RAdam, {}, 8),
    "radam,beta1=0.5,beta2=0.8,eps=0.001": (torch.optim.RAdam, dict(betas=(0.5, 0.8), eps=1e-3), 12),
    "radam,beta2=0.6,maximize": (torch.optim.RAdam, dict(betas=(0.9, 0.6), maximize=True), 8),
    "radam,weight_decay=0.3": (torch.optim.RAdam, dict(weight_decay=0.3), 8),
    "radam,weight_decay=0.3,decoupled_weight_decay": (
        torch.optim.RAdam,
        dict(weight_decay=0.3, decoupled_weight_decay=True),
        8,
    ),
    "adamax": (torch.optim.Adamax, {}),
    "adamax,beta1=0.5,beta2=0.9,eps=0.001,weight_decay=0.1,maximize": (
        torch.optim.Adamax,
        dict(betas=(0.5, 0.9), eps=1e-3, weight_decay=0.1, maximize=True),
    ),
    "adadelta": (torch.optim.Adadelta, {}),
    "adadelta,rho=0.5,eps=0.01,weight_decay=0.1,maximize": (
        torch.optim.Adadelta,
        dict(rho=0.5, eps=1e-2, weight_decay=0.1, maximize=True),
    ),
    "adafactor": (torch.optim.Adafactor, {}),
    "adafactor,beta2_decay=-0.5,eps1=0.1,eps2=0.5,weight_decay=0.1": (
        torch.optim.Adafactor,
        dict(beta2_decay=-0.5, eps=(0.1, 0.5), weight_decay=0.1),
    ),
    "adafactor,d=2,maximize": (torch.optim.Adafactor, dict(d=2.0, maximize=True)),
    "lion": (Lion, {}),
    "lion,beta1=0.5,beta2=0.6,weight_decay=0.1,maximize": (
        Lion,
        dict(betas=(0.5, 0.6), weight_decay=0.1, maximize=True),
    ),
}

MATRIX_OPTIMIZERS = {
    "sgd,clip_grad_value=2": (torch.optim.SGD, dict(clip_value=2.0)),
    "adafactor": (torch.optim.Adafactor, {}),
    "adafactor,eps1=0.5,d=1.5,weight_decay=0.1": (
        torch.optim.Adafactor,
        dict(eps=(0.5, 1e-3), d=1.5, weight_decay=0.1),
    ),
    "adafactor,eps1=0.2,clip_grad_norm=1.5": (torch.optim.Adafactor, dict(eps=(0.2, 1e-3), clip=1.5)),
    "muon": (torch.optim.Muon, {}),
    "muon,momentum=0.5,nesterov=false,weight_decay=0,ns_steps=3": (
        torch.optim.Muon,
        dict(momentum=0.5, nesterov=False, weight_decay=0.0, ns_steps=3),
    ),
    "muon,eps=100,match_rms_adamw": (torch.optim.Muon, dict(eps=100.0, adjust_lr_fn="match_rms_adamw")),
}


def train(kind, options, steps=4):
    """sum(w^4) / 4 + v * sum(w), whose gradients grow and shrink."""
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


def train_matrices(kind, options):
    """The sum of the squares of a b, of a tall and a wide matrix."""
    a, b = wave(3, 2).requires_grad_(), wave(2, 4).requires_grad_()
    clip, value = options.get("clip"), options.get("clip_value")
    optimizer = kind([a, b], lr=LR, **{k: o for k, o in options.items() if k not in ("clip", "clip_value")})
    for _ in range(3):
        optimizer.zero_grad()
        (a @ b).square().sum().backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([a, b], clip)
        if value:
            torch.nn.utils.clip_grad_value_([a, b], value)
        optimizer.step()
    return [*a.flatten().tolist(), *b.flatten().tolist()]


def wave(*shape):
    """The tests' data: 2 sin(1.7 i), row-major."""
    count = int(torch.tensor(shape).prod())
    return (2 * torch.sin(1.7 * torch.arange(count, dtype=torch.float64))).reshape(shape)


CLASSES = torch.tensor([[2, 0], [-100, 1]])  # [N, d]
WEIGHT = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)


def bce(*weight):
    weight = torch.tensor(weight if len(weight) > 1 else weight[0], dtype=torch.float64)
    return lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=weight)


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
    ("cross_entropy,probabilities", (2, 3), wave(2, 3).flip(0), F.cross_entropy),
    ("cross_entropy,probabilities", (3,), wave(3).flip(0), F.cross_entropy),
    (
        "cross_entropy,probabilities,weight=0.5:1:2,label_smoothing=0.1,class_dim=-1",
        (2, 2, 3),
        wave(2, 2, 3).flip(0).abs(),
        lambda x, t: F.cross_entropy(x.movedim(-1, 1), t.movedim(-1, 1), weight=WEIGHT, label_smoothing=0.1),
    ),
    ("nll", (2, 3), first(CLASSES), lambda x, t: F.nll_loss(x, t)),
    ("nll,weight=0.5:1:2,class_dim=1", (2, 3, 2), CLASSES, lambda x, t: F.nll_loss(x, t, weight=WEIGHT)),
    ("mse", (2, 3), wave(2, 3).flip(0), F.mse_loss),
    ("l1", (2, 3), wave(2, 3).flip(0), F.l1_loss),
    ("smooth_l1", (2, 3), wave(2, 3).flip(0), F.smooth_l1_loss),
    ("smooth_l1,beta=3", (2, 3), wave(2, 3).flip(0), lambda x, t: F.smooth_l1_loss(x, t, beta=3)),
    ("smooth_l1,beta=0", (2, 3), wave(2, 3).flip(0), F.l1_loss),
    ("huber", (2, 3), wave(2, 3).flip(0), F.huber_loss),
    ("huber,delta=3", (2, 3), wave(2, 3).flip(0), lambda x, t: F.huber_loss(x, t, delta=3)),
    ("bce_with_logits,pos_weight=3", (2, 3), wave(2, 3).flip(0).clamp(0, 1), bce(3.0)),
    ("bce_with_logits,pos_weight=3", (), wave(3)[2].clamp(0, 1), bce(3.0)),
    ("bce_with_logits,pos_weight=3:1:0.5", (2, 3), wave(2, 3).flip(0).clamp(0, 1), bce(3.0, 1.0, 0.5)),
    ("bce_with_logits", (2, 3), wave(2, 3).flip(0).clamp(0, 1), F.binary_cross_entropy_with_logits),
]


def braces(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    with open("OptimizerRows.inc", "w") as out:
        out.write(HEADER)
        for spec, (kind, options, *steps) in OPTIMIZERS.items():
            out.write(f'{{"{spec}", {braces(train(kind, options, *steps))}{"".join(f", {n}" for n in steps)}}},\n')
    with open("MatrixRows.inc", "w") as out:
        out.write(HEADER)
        for spec, (kind, options) in MATRIX_OPTIMIZERS.items():
            out.write(f'{{"{spec}", {braces(train_matrices(kind, options))}, 3}},\n')
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
