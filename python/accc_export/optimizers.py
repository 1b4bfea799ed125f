# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of accc that `torch.optim` lacks, or computes otherwise."""

import math
from collections.abc import Iterable

import torch


class Lion(torch.optim.Optimizer):
    """The signs of a momentum (Chen et al., 2023)."""

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                gradient = -p.grad if group["maximize"] else p.grad
                average = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(average.lerp(gradient, 1 - beta1).sign(), alpha=group["lr"])
                average.lerp_(gradient, 1 - beta2)


class Muon(torch.optim.Optimizer):
    """`torch.optim.Muon`, which rounds its iteration to bf16, in the type of the parameters."""

    COEFFICIENTS = 3.4445, -4.7750, 2.0315

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
        eps: float = 1e-7,
        ns_steps: int = 5,
        nesterov: bool = True,
        match_rms_adamw: bool = False,
    ) -> None:
        settings = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "eps": eps}
        settings |= {"ns_steps": int(ns_steps), "nesterov": nesterov, "match_rms_adamw": match_rms_adamw}
        super().__init__(params, settings)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"muon updates matrices, and is given a parameter of the shape {list(p.shape)}")

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, p.grad, group)

    def _update(self, p: torch.Tensor, gradient: torch.Tensor, group: dict) -> None:
        momentum = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
        momentum.lerp_(gradient, 1 - group["momentum"])
        update = gradient.lerp(momentum, group["momentum"]) if group["nesterov"] else momentum
        rows, columns = p.shape
        scale = 0.2 * math.sqrt(max(rows, columns)) if group["match_rms_adamw"] else math.sqrt(max(1, rows / columns))
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.sub_(self._orthogonal(update, group), alpha=group["lr"] * scale)

    def _orthogonal(self, x: torch.Tensor, group: dict) -> torch.Tensor:
        a, b, c = self.COEFFICIENTS
        is_tall = x.shape[0] > x.shape[1]
        x = x.T if is_tall else x
        x = x / x.norm().clamp(min=group["eps"])
        for _ in range(group["ns_steps"]):
            gram = x @ x.T
            x = a * x + (b * gram + c * (gram @ gram)) @ x
        return x.T if is_tall else x
