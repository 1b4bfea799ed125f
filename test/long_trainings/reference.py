# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trainings of setups by PyTorch."""

import copy
import re

import torch

import precision as precisions
import stepping
from accc_export.noise import FLOATS, move
from accc_export.training import widened
from setups import rounded

FAULTS = (*stepping.FAULTS, "statistics")
WRONG = {"words": 1000, "target": 1000, "actions": 1000}


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
        self.steppings = {step.name: stepping.Stepping(setup, step, self.module, moved, fault) for step in setup.steps}
        self._set_rate(rounded(setup.rate))
        self.records = {}
        self.overflowed, self.unordinary = set(), set()  # where gradients, and the numbers of calls whose results, are not finite

    def run(self):
        """Losses and outputs of the calls by name and number, and all variables by `state.NUMBER.NAME`."""
        for self.number, call in enumerate(self.setup.calls):
            self.asked = 0
            self._call(call, self.steppings.get(call.step))
        return self.records

    def _call(self, call, stepping):
        if call.what == "rate":
            self._set_rate(call.value)
        elif call.what in ("step", "apart", "accumulate"):
            statistics = self._statistics()
            is_finite = self._backward(stepping, call.value)
            if call.what == "accumulate":
                stepping.keep()
            else:
                is_finite &= self._update(stepping) or call.what == "apart"
            if not is_finite and stepping.scaler.is_enabled() and self.fault != "statistics":
                self._restore(statistics)  # which PyTorch moves
        elif call.what == "update":
            stepping.mean()
            self._update(stepping)
        elif call.what in ("eval", "average"):
            self._evaluate(stepping, call)
        elif call.what == "state":
            self.records |= {f"state.{call.value}.{name}": x.detach().clone() for name, x in self._state().items()}

    def _set_rate(self, value):
        for stepping in self.steppings.values():
            stepping.set_rate(value)

    # ---- Steps ----

    def _backward(self, stepping, batch):
        """Gives the parameters gradients; whether those of the first process are finite. The loss is the mean over the processes': batch norms have
        statistics of a process's own rows, and those of the first are kept."""
        self.module.zero_grad()
        before, after, loss = self._statistics(), None, 0.0
        for rank in range(self.setup.ranks):
            self._restore(before)
            outputs, target = self._forward_share(batch, rank)
            own = stepping.loss(outputs, target) / self.setup.ranks
            stepping.backward(own)
            loss = loss + own.detach()
            if rank == 0:
                after, is_finite = self._statistics(), self._is_finite(stepping)
                self._note({name: x for name, x in outputs.items() if name != "loss"}, stepping)
        self._restore(after)
        self._note({"loss": loss}, stepping)
        return is_finite

    def _is_finite(self, stepping):
        """Whether the gradients are, of a call as often as it asks."""
        self.asked += 1
        if all(bool(gradient.isfinite().all()) for gradient in stepping.gradients()):
            return (self.number, self.asked) not in self.skipped
        self.overflowed.add((self.number, self.asked))
        return False

    def _share(self, batch, rank):
        return share(self.setup, self.data[batch], rank)

    def _forward_share(self, batch, rank):
        if not self.setup.synchronized:
            return self._forward(self._share(batch, rank))
        outputs, target = self._forward(self.data[batch])
        rows = {name: x for name, x in outputs.items() if not name.endswith("_loss")}
        own = share(self.setup, rows if target is None else {**rows, "target": target}, rank)
        own |= {name: own[name.replace("_loss", "_rows")].mean() for name in outputs if name not in rows}
        return own, own.pop("target", None)

    def _forward(self, batch):
        given = dict(batch)
        target = given.pop("target", None)
        mixed = precisions.Precision("fp32" if self.is_exact else self.setup.precision)
        with mixed.running():
            outputs = self.module(**given)
        return {name: widened(x) for name, x in outputs.items()}, target

    def _update(self, stepping):
        """By the gradients of the parameters; whether these are finite."""
        is_finite = self._is_finite(stepping)
        stepping.update(is_finite)
        self.module.zero_grad()
        return is_finite

    def _evaluate(self, stepping, call):
        module = copy.deepcopy(self.module).eval()
        if call.what == "average" and stepping.average.count:
            for name, p in module.named_parameters():
                if name in stepping.average.averages:
                    p.data.copy_(stepping.average.averages[name])
        kept, self.module = self.module, module
        with torch.no_grad():
            outputs, _ = self._forward(self._share(call.value, 0))
        self.module = kept
        self._note(outputs, stepping)

    def _note(self, tensors, stepping):
        """But for the losses of other steps, which a step does not return."""
        own = stepping.step.loss.removeprefix("output:")
        tensors = {name: x for name, x in tensors.items() if name in ("loss", own) or not name.endswith("_loss")}
        if not all(bool(x.isfinite().all()) for x in tensors.values()):
            self.unordinary.add(self.number)
        self.records |= {f"{name}.{self.number}": x.detach().clone() for name, x in tensors.items()}

    def _statistics(self):
        return {name: x.clone() for name, x in self.module.named_buffers()}

    def _restore(self, statistics):
        with torch.no_grad():
            for name, x in self.module.named_buffers():
                x.copy_(statistics[name])

    def _state(self):
        """Variables by accc's names."""
        held = dict(self.module.named_parameters()) | {n: x for n, x in self.module.named_buffers() if not n.endswith("num_batches_tracked")}
        for stepping in self.steppings.values():
            held |= stepping.state()
        return held
