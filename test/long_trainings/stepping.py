# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of a library's training steps, by PyTorch's optimizers, GradScaler and averages."""

import re

import torch

from accc_export.training import Optimizer, WeightAverage, make_loss
from setups import rate_of, rounded

FAULTS = ("bias", "average", "skipped", "clip", "mean", "rate", "decay", "dampening")


class Stepping:
    """What a step trains of a module, and what it holds: gradients that are kept, the optimizer's state, averages, and the scale."""

    def __init__(self, setup, step, module, moved, fault):
        self.setup, self.step, self.moved, self.fault = setup, step, moved, fault
        aliases = {}
        for name, p in module.named_parameters(remove_duplicate=False):
            aliases.setdefault(p, []).append(name)
        trained = {p: own for p, own in aliases.items() if p.requires_grad and step.trains(own)}
        self.named = [(own[0], p) for p, own in trained.items()]
        self.number_of_group, groups = _own_groups(setup.groups, trained.values())
        # Of a rate of 1 groups have the factors of theirs.
        self.optimizer = Optimizer(step.optimizer, 1.0, [(name, p) for p, own in trained.items() for name in own], groups)
        base = rate_of(step.optimizer) / setup.rate
        self.factors = [each.param_groups[0]["lr"] * base for each in self.optimizer.torch]
        self.average = WeightAverage(step.average, self.named) if step.average else None
        self.scaler = self._scaler()
        self.updates, self.done, self.parts = 0, 0, 0  # of the updates some are skipped
        self.sums = [None] * len(self.named)

    def _scaler(self):
        text = self.setup.scale or ("dynamic" if self.setup.precision == "fp16" else "")
        if not text:
            return torch.amp.GradScaler("cpu", enabled=False)
        if text.startswith("fixed="):  # a factor that leaves it as it is in float32: GradScaler takes none of 1
            return torch.amp.GradScaler("cpu", float(text.removeprefix("fixed=")), growth_interval=10**9, backoff_factor=0.999999999)
        options = {key: float(value) for key, value in (part.split("=") for part in text.split(",")[1:])}
        options["growth_interval"] = int(options.get("growth_interval", 2000))
        return torch.amp.GradScaler("cpu", **options)

    def set_rate(self, value):
        """In float32, as accc has rates and what comes of them, or as many of its units in the last place away as weights are moved."""
        for each, factor in zip(self.optimizer.torch, self.factors):
            rate = rounded(value * rounded(factor)) * (1 + self.moved * 2.0**-24)
            each.param_groups[0]["lr"] = rate * (1 if self.fault != "rate" else 1.01)

    # ---- Gradients ----

    def loss(self, outputs, target):
        return make_loss(self.step.loss, outputs)(outputs, target)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def gradients(self):
        """Those of the backward passes since the module's were cleared."""
        return [p.grad for _, p in self.named if p.grad is not None]

    def keep(self):
        """Adds the gradients to those since the last mean."""
        self.parts += 1
        for i, (_, p) in enumerate(self.named):
            self.sums[i] = p.grad if self.sums[i] is None else self.sums[i] + p.grad
            p.grad = None

    # ---- Updates ----

    def mean(self):
        """Gives the parameters the mean of the gradients that are kept, zeros where there are none."""
        for (_, p), total in zip(self.named, self.sums):
            p.grad = torch.zeros_like(p) if total is None else total / (self.parts if self.fault != "mean" else 1)
        self.parts, self.sums = 0, [None] * len(self.named)

    def update(self, is_finite):
        """By the gradients of the parameters."""
        is_skipped = self.scaler.is_enabled() and not is_finite
        if is_skipped:  # by all optimizers, each of which the scaler asks by itself
            for gradient in self.gradients():
                gradient.fill_(torch.inf)
        for each in self.optimizer.torch:
            self.scaler.unscale_(each)
        self._spoil(is_skipped)
        self.optimizer.step(self.scaler)
        self.scaler.update()
        self.updates += 1
        if not is_skipped:
            self.done += 1
            if self.average is not None and not (self.fault == "average" and self.done == 1):
                self.average.update()

    def _spoil(self, is_skipped):
        """The mistakes of an optimizer."""
        if self.fault == "clip" and self.optimizer.clip is not None:
            self.optimizer.clip *= 1.001
            self.fault = None
        for each in self.optimizer.torch:
            group = each.param_groups[0]
            if self.fault == "decay" and self.done == 0:
                group["weight_decay"] *= 1.1
            if self.fault == "dampening" and group.get("dampening") and self.done == 0:
                for p in group["params"]:
                    each.state[p]["momentum_buffer"] = torch.zeros_like(p)
            for state in each.state.values():
                if "step" in state and ((self.fault == "bias" and self.done == 1) or (self.fault == "skipped" and is_skipped)):
                    state["step"] += 1

    # ---- What is compared ----

    def state(self):
        """Its variables by accc's names."""
        held, names = self._scale(), {p: name for name, p in self.named}
        for number, each in zip(self.number_of_group, self.optimizer.torch):
            for p, state in each.state.items():
                held |= {f"{slot}.{names[p]}": x for slot, x in state.items() if isinstance(x, torch.Tensor) and slot not in ("step", "mu_product")}
                if "mu_product" in state:
                    held[("" if number == 0 else f"group{number}.") + "one_minus_mu_product"] = 1 - state["mu_product"].reshape(())
        held["step"] = torch.tensor(self.done)
        if self.average is not None:
            if self.average.count:  # accc has none before
                held |= {f"ema.{name}": x for name, x in self.average.averages.items()}
            held["n_averaged"] = torch.tensor(self.average.count)
        prefix = f"optimizer.{self.step.name}." if self.step.name else "optimizer."
        return {prefix + name: x for name, x in held.items()}

    def _scale(self):
        if not self.updates or not self.scaler.is_enabled() or self.setup.scale.startswith("fixed"):
            return {}  # accc's is 0 before the first update
        tracker, scale = self.scaler._get_growth_tracker(), self.scaler.get_scale()
        return {"growth_tracker": torch.tensor(tracker), "loss_scale": torch.tensor(scale)}


def _own_groups(groups, trained):
    """The numbers of those that have parameters, where 0 is no group, and those groups."""
    patterns = [pattern for pattern, _ in groups]

    def number(own):
        return next((i for i, pattern in enumerate(patterns, 1) if any(re.search(pattern, name) for name in own)), 0)

    numbers = sorted({number(own) for own in trained})
    return numbers, tuple(groups[i - 1] for i in numbers if i)
