# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a training with PyTorch's.

Two right trainings in float32 part, the faster the longer they are. The measure is one in float64: in each record accc may be
FACTOR times as far from it as the farthest of some runs of PyTorch in the precision of the setup was so far, from the weights of the setup
and from such that are moved by 1, 2, 4 and 8 floats, and RELATIVE of the record's size. So a record in which rounding decides is held to
nothing, and one in which it does not to six digits, or ten of a module in float64. Counts and scales are the same.
"""

import math
import re

import torch

FACTOR = 8
RELATIVE = {"fp32": 2e-6, "bf16": 2.0**-7, "fp16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 2e-10}
EXACT = ("step", "n_averaged", "loss_scale", "growth_tracker")
LAST_PLACE = 1e-5  # of a scale, which is a product of many numbers
DECIDED = 0.1  # of a record's size: where more is allowed, rounding decides


class Comparison:
    def __init__(self, setup, exact, runs, ignored):
        """The records in float64, those of runs in the setup's precision, and the numbers of calls whose results are no numbers."""
        self.relative, self.exact, self.runs, self.ignored = RELATIVE.get(setup.dtype, RELATIVE[setup.precision]), exact, runs, ignored
        if setup.dtype == "float64" and any("nadam" in spec for spec in optimizers(setup)):
            self.relative = RELATIVE["fp32"]  # PyTorch's keeps a number in float32
        self.is_half = setup.precision == "fp16"
        self.steps = "|".join(re.escape(f"{step.name}.") for step in setup.steps if step.name)
        self.absent = set() if "--loss-only" not in setup.options else {name for name in exact if is_output(setup, name)}
        self.noise = self._noise()

    def _noise(self):
        """By record, how far a run was from the exact numbers until then."""
        noise, so_far = {}, {}
        for name, x in self.exact.items():
            key = series(name)
            if x.is_floating_point():
                so_far[key] = max([so_far.get(key, 0.0), *(distance(run[name], x) for run in self.runs)])
                noise[name] = so_far[key]
        return noise

    def wrong(self, found):
        """A line for each record that differs, in the order of the calls. In float16, where accc rounds less and overflows later, up to the
        first step that one alone has skipped."""
        lines = []
        for name in self.exact:
            if number(name) not in self.ignored and (said := self._difference(name, found)):
                if name.endswith("growth_tracker") and self.is_half:
                    break
                lines.append(f"{name} {said}")
        return lines

    def decided(self):
        """The part of the records in which rounding decides."""
        sizes = {name: rms(x) for name, x in self.exact.items() if name in self.noise and number(name) not in self.ignored}
        return sum(FACTOR * self.noise[name] > DECIDED * size for name, size in sizes.items()) / max(1, len(sizes))

    def _difference(self, name, found):
        exact, plain = self.exact[name], self.runs[0][name]
        slot = re.sub(rf"^state\.\d+\.(optimizer\.({self.steps})?)?", "", name)
        if name not in found:
            return "" if slot == "step" or name in self.absent else "is not there"
        x = found[name]
        if x.shape != exact.shape:
            return f"has the shape {list(x.shape)}, PyTorch's {list(exact.shape)}"
        if slot in EXACT:
            return "" if math.isclose(x, plain, rel_tol=LAST_PLACE) else f"is {float(x):g}, PyTorch's {float(plain):g}"
        if not torch.equal(x.isfinite(), plain.isfinite()):
            return f"has other NaN or infinities: {head(x)}, PyTorch's {head(plain)}"
        error, allowed = distance(x, exact), FACTOR * self.noise[name] + self.relative * rms(exact)
        if error <= allowed:
            return ""
        return f"is off by {error:.3g}, may be {allowed:.3g}, of {rms(exact):.3g}: {head(x)}, PyTorch's {head(plain)}, exactly {head(exact)}"


def optimizers(setup):
    return [*(step.optimizer for step in setup.steps), *(options for _, options in setup.groups)]


def series(name):
    """The record without the number of its call."""
    return re.sub(r"^state\.\d+\.", "state.", name) if name.startswith("state.") else name.rsplit(".", 1)[0]


def is_output(setup, name):
    """Whether the record is one of the model's outputs in a step that trains."""
    return number(name) is not None and setup.calls[number(name)].what not in ("eval", "average") and not name.startswith("loss.")


def number(name):
    return None if name.startswith("state.") else int(name.rsplit(".", 1)[1])


def rms(x):
    """The root mean square of what is a number."""
    return torch.where(x.isfinite(), x, 0).double().square().mean().sqrt().item() if x.numel() else 0.0


def distance(a, b):
    difference = a.double() - b.double()
    return rms(difference)


def head(x):
    return [float(f"{value:.7g}") if math.isfinite(value) else value for value in x.flatten()[:4].tolist()]
