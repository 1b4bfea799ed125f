# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trainings of setups by PyTorch, with its own optimizers, GradScaler and averages."""

import copy
import re

import torch

import precision as precisions
from accc_export.noise import FLOATS, move
from accc_export.training import Optimizer, WeightAverage, make_loss, widened
from setups import rate_of, rounded

FAULTS = ("bias", "average", "skipped", "clip", "statistics", "mean", "rate", "decay", "dampening")
WRONG = {"words": 1000, "target": 1000}


def batches(setup, module):
    """The inputs of each batch, and of each once more with a number at fault."""
    generator = torch.Generator().manual_seed(setup.seed)
    dtype = getattr(torch, setup.dtype)
    wide = torch.promote_types(dtype, torch.float32)  # of what a loss compares with
    whole = [{name: converted(x, wide if name == "target" else dtype) for name, x in module.batch(rows, generator).items()} for rows in setup.rows]
    for number in setup.overflowing:  # in all processes or in the last alone
        first = setup.split(setup.rows[number])[0] if setup.ranks > 1 and setup.seed % 2 else 0
        whole[number][module.gain][first:] = torch.inf
    faulty = [{name: x.clone() for name, x in batch.items()} for batch in whole] if module.fault else []
    for batch in faulty:
        batch[module.fault].view(-1)[0] = WRONG[module.fault]
    return whole + faulty


def share(setup, batch, rank):
    """What a process has of a batch."""
    return {name: x.split(setup.split(len(x)))[rank] for name, x in batch.items()}


def converted(x, dtype):
    return x.to(dtype) if x.is_floating_point() else x


class Reference:
    """One training, in the precision of the setup or, if `is_exact`, in float64.

    With a loss scale `skipped` says where gradients are not finite, also where float64 holds them: what is skipped is the same in every
    run. `fault` is one of FAULTS, a mistake of this run."""

    def __init__(self, setup, is_exact=False, moved=0, skipped=(), fault=None):
        self.setup, self.is_exact, self.skipped, self.fault = setup, is_exact, skipped, fault
        self.number = 0  # of the present call
        self.module = setup.make()
        if moved:
            move(self.module, moved, moved * FLOATS[setup.precision])
        self.data = batches(setup, self.module)
        if is_exact:
            self.module.double()
            self.data = [{name: converted(x, torch.float64) for name, x in batch.items()} for batch in self.data]
        for name, p in self.module.named_parameters(remove_duplicate=False):
            p.requires_grad_(p.requires_grad and not (setup.frozen and re.search(setup.frozen, name)))
        named = [(name, p) for name, p in self.module.named_parameters(remove_duplicate=False) if p.requires_grad]
        self.named = [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]
        # Of a rate of 1 groups have the factors of theirs.
        self.optimizer = Optimizer(setup.optimizer, 1.0, named, setup.groups)
        self.factors = [each.param_groups[0]["lr"] for each in self.optimizer.torch]
        self._call("rate", rounded(rate_of(setup.optimizer)))
        self.average = WeightAverage(setup.average, self.named) if setup.average else None
        self.scaler = self._scaler()
        self.done, self.parts, self.records = 0, 0, {}
        self.overflowed, self.unordinary = set(), set()  # where gradients, and the numbers of calls whose results, are not finite

    def _scaler(self):
        text = self.setup.scale or ("dynamic" if self.setup.precision == "fp16" else "")
        if not text:
            return torch.amp.GradScaler("cpu", enabled=False)
        if text.startswith("fixed="):  # a factor that leaves it as it is in float32: GradScaler takes none of 1
            return torch.amp.GradScaler("cpu", float(text.removeprefix("fixed=")), growth_interval=10**9, backoff_factor=0.999999999)
        options = {key: float(value) for key, value in (part.split("=") for part in text.split(",")[1:])}
        options["growth_interval"] = int(options.get("growth_interval", 2000))
        return torch.amp.GradScaler("cpu", **options)

    def run(self):
        """Losses and outputs of the calls by name and number, and all variables by `state.NUMBER.NAME`."""
        for self.number, (what, value) in enumerate(self.setup.calls):
            self.asked = 0
            self._call(what, value)
        return self.records

    def _call(self, what, value):
        if what == "rate":
            for each, factor in zip(self.optimizer.torch, self.factors):
                each.param_groups[0]["lr"] = factor * (value if self.fault != "rate" else value * 1.01)
        elif what in ("step", "apart", "accumulate"):
            statistics = self._statistics()
            is_finite = self._backward(value)
            if what != "accumulate":
                is_finite &= self._update() or what == "apart"
            if not is_finite and self.scaler.is_enabled() and self.fault != "statistics":
                self._restore(statistics)  # which PyTorch moves
        elif what == "update":
            self._update()
        elif what in ("eval", "average"):
            self._evaluate(what, value)
        elif what == "state":
            self.records |= {f"state.{value}.{name}": x.detach().clone() for name, x in self._state().items()}

    # ---- Steps ----

    def _backward(self, batch):
        """Adds up gradients; whether those of the first process are finite. The loss is the mean over the processes': batch norms have
        statistics of a process's own rows, and those of the first are kept."""
        sums = [p.grad for _, p in self.named]
        self.optimizer.zero_grad()
        before, after, loss = self._statistics(), None, 0.0
        for rank in range(self.setup.ranks):
            self._restore(before)
            outputs, target = self._forward_share(batch, rank)
            own = make_loss(self.module.loss, outputs)(outputs, target) / self.setup.ranks
            self.scaler.scale(own).backward()
            loss = loss + own.detach()
            if rank == 0:
                after, is_finite = self._statistics(), self._is_finite()
                self._note({name: x for name, x in outputs.items() if name != "loss"})
        self._restore(after)
        self._note({"loss": loss})
        self.parts += 1
        for (_, p), before in zip(self.named, sums):
            p.grad = p.grad if before is None else before + p.grad
        return is_finite

    def _is_finite(self):
        """Whether the gradients are, of a call as often as it asks."""
        self.asked += 1
        if all(bool(p.grad.isfinite().all()) for _, p in self.named if p.grad is not None):
            return (self.number, self.asked) not in self.skipped
        self.overflowed.add((self.number, self.asked))
        return False

    def _share(self, batch, rank):
        return share(self.setup, self.data[batch], rank)

    def _forward_share(self, batch, rank):
        if not self.setup.synchronized:
            return self._forward(self._share(batch, rank))
        outputs, target = self._forward(self.data[batch])
        own = share(self.setup, {**outputs, "target": target}, rank)
        return own, own.pop("target")

    def _forward(self, batch):
        given = dict(batch)
        target = given.pop("target", None)
        mixed = precisions.Precision("fp32" if self.is_exact else self.setup.precision)
        with mixed.running():
            outputs = self.module(**given)
        return {name: widened(x) for name, x in outputs.items()}, target

    def _update(self):
        """By the mean of the gradients since the last; whether these are finite."""
        gradients = [p.grad for _, p in self.named if p.grad is not None]
        for gradient in gradients:
            gradient /= self.parts if self.fault != "mean" else 1
        is_finite = self._is_finite()
        is_skipped = self.scaler.is_enabled() and not is_finite
        if is_skipped:  # by all optimizers, each of which the scaler asks by itself
            for gradient in gradients:
                gradient.fill_(torch.inf)
        for each in self.optimizer.torch:
            self.scaler.unscale_(each)
        self._spoil(is_skipped)
        self.optimizer.step(self.scaler)
        self.scaler.update()
        self.optimizer.zero_grad()
        self.parts = 0
        if not is_skipped:
            self.done += 1
            if self.average is not None and not (self.fault == "average" and self.done == 1):
                self.average.update()
        return is_finite

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

    def _evaluate(self, what, batch):
        module = copy.deepcopy(self.module).eval()
        if what == "average" and self.average.count:
            for name, p in module.named_parameters():
                if name in self.average.averages:
                    p.data.copy_(self.average.averages[name])
        kept, self.module = self.module, module
        with torch.no_grad():
            outputs, _ = self._forward(self._share(batch, 0))
        self.module = kept
        self._note(outputs)

    def _note(self, tensors):
        if not all(bool(x.isfinite().all()) for x in tensors.values()):
            self.unordinary.add(self.number)
        self.records |= {f"{name}.{self.number}": x.detach().clone() for name, x in tensors.items()}

    def _statistics(self):
        return {name: x.clone() for name, x in self.module.named_buffers()}

    def _restore(self, statistics):
        with torch.no_grad():
            for name, x in self.module.named_buffers():
                x.copy_(statistics[name])

    # ---- What is compared ----

    def _state(self):
        """Variables by accc's names."""
        held = self._scale() | dict(self.module.named_parameters()) | {n: x for n, x in self.module.named_buffers() if not n.endswith("num_batches_tracked")}
        names = {p: name for name, p in self.module.named_parameters()}
        for number, each in enumerate(self.optimizer.torch):
            for p, state in each.state.items():
                held |= {f"optimizer.{slot}.{names[p]}": x for slot, x in state.items() if isinstance(x, torch.Tensor) and slot not in ("step", "mu_product")}
                if "mu_product" in state:
                    slot = "one_minus_mu_product" if number == 0 else f"group{number}.one_minus_mu_product"
                    held[f"optimizer.{slot}"] = 1 - state["mu_product"].reshape(())
        held["optimizer.step"] = torch.tensor(self.done)
        if self.average is not None:
            if self.average.count:  # accc has none before
                held |= {f"optimizer.ema.{name}": x for name, x in self.average.averages.items()}
            held["optimizer.n_averaged"] = torch.tensor(self.average.count)
        return held

    def _scale(self):
        if not self.scaler.is_enabled() or self.setup.scale.startswith("fixed"):
            return {}
        tracker, scale = self.scaler._get_growth_tracker(), self.scaler.get_scale()
        return {"optimizer.growth_tracker": torch.tensor(tracker), "optimizer.loss_scale": torch.tensor(scale)}
