# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of `accc compile` that leave a model's numbers as they are, some of them but for the order of sums.

A variation is a function that changes a Compilation so, or returns False where it has nothing to change. It draws
from the given random.Random alone.
"""

import copy
import dataclasses
import os
import re
import subprocess

from models import Model

SECONDS = 300  # a compilation that takes longer hangs
ROUNDING = 1e-4  # of a tensor's root mean square, after some steps
TF32_ROUNDING = 0.03
BF16_ROUNDING = 8 * TF32_ROUNDING  # 8 bits of significand in place of 11


@dataclasses.dataclass
class Compilation:
    """What a program is compiled with, and what of it the program must know."""

    model: Model
    losses: list
    optimizers: list
    sizes: dict  # {dimension: [size...]}
    more: list
    settings: dict
    environment: dict = dataclasses.field(default_factory=dict)
    compiler_environment: dict = dataclasses.field(default_factory=dict)
    tolerance: float = 0  # 0: the same bits

    def options(self):
        options = list(self.more)
        for flag, values in (("--loss", self.losses), ("--optimizer", self.optimizers)):
            options += [word for value in values for word in (flag, value)]
        for name, sizes in self.sizes.items():
            options += ["-D", f"{name}={','.join(map(str, sizes))}"]
        return options


# ---- The same bits ----


def other_sizes(made, random):
    sizes = made.sizes.get("batch")  # other dimensions may depend on each other
    if not sizes:
        return False
    made.settings["sizes"] = f"batch={sizes[0]}"
    sizes.append(sizes[0] + random.randint(1, 3))
    random.shuffle(sizes)


def weights(made, random):
    where = random.choice(["none", "beside", "embed"])
    made.more += ["--weights", where]
    if where == "none":
        made.settings.setdefault("weights", "PLAIN")


def reports(made, random):
    choices = [["--report", "LIB.json"], ["--header", "LIB.h"], ["--dump-dir", "LIB.phases"], ["-vv"], ["--json"]]
    made.more += random.choice(choices)


def several_archs(made, random):
    if "--arch" in made.more:
        return False
    made.more += ["--arch", "x86-64-v3,x86-64-v4"]
    made.environment["ACCC_ARCH"] = "x86-64-v3"


def both_targets(made, random):
    """Where there is no GPU."""
    if "--arch" in made.more:
        return False
    made.more += ["--target", "cuda,cpu", "--arch", "compute_80,x86-64-v3"]
    made.environment["CUDA_VISIBLE_DEVICES"] = "-1"


def train_all(made, random):
    if not made.losses or "--train" in made.more:
        return False
    made.more += ["--train", random.choice([".", "^", "^.*$"])]


def own_rate(made, random):
    """The rate of the library in place of the trainer's."""
    if not made.optimizers:
        return False
    rate = made.settings.pop("rate", None)
    if rate is not None and ",lr=" not in made.optimizers[0]:
        made.optimizers[0] += f",lr={rate}"


DEFAULTS = {
    "sgd": ["momentum=0", "weight_decay=0", "clip_grad_norm=0"],
    "adam": ["beta1=0.9", "beta2=0.999", "eps=1e-8", "weight_decay=0"],
    "adamw": ["beta1=0.9", "beta2=0.999", "eps=1e-8", "weight_decay=0.01"],
    "rmsprop": ["alpha=0.99", "eps=1e-8", "momentum=0", "weight_decay=0"],
    "adagrad": ["lr_decay=0", "eps=1e-10", "weight_decay=0", "clip_grad_norm=0"],
    "nadam": ["beta1=0.9", "beta2=0.999", "eps=1e-8", "momentum_decay=4e-3"],
    "radam": ["beta1=0.9", "beta2=0.999", "eps=1e-8"],
    "adamax": ["beta1=0.9", "beta2=0.999", "eps=1e-8", "weight_decay=0"],
    "adadelta": ["rho=0.9", "eps=1e-6", "weight_decay=0"],
    "adafactor": ["beta2_decay=-0.8", "eps2=1e-3", "d=1", "weight_decay=0"],
    "lion": ["beta1=0.9", "beta2=0.99"],
    "cross_entropy": ["ignore_index=-100", "label_smoothing=0"],
}


def defaults(made, random):
    for values in (made.losses, made.optimizers):
        for i, value in enumerate(values):
            for option in DEFAULTS.get(value.split(",")[0], []):
                if "," + option.split("=")[0] not in value and random.random() < 0.5:
                    values[i] += "," + option


def named(made, random):
    """A name for the only step, or two steps with the same loss, of which one is never done."""
    if len(made.losses) != 1 or "--train" in made.more:
        return False
    made.losses = [f"{name}={made.losses[0]}" for name in random.choice([["a"], ["a", "b"], ["b", "a"]])]
    made.settings["step"] = "a"


def one_group(made, random):
    if len(made.optimizers) != 1 or "--param-group" in made.more:
        return False
    name, *options = made.optimizers[0].split(",")
    options = [option for option in options if not option.startswith("clip_grad_norm")]
    made.more += ["--param-group", ".", ",".join(options) or DEFAULTS[name][-2]]


def data_parallel(made, random):
    """Of a process that trains alone."""
    if not made.optimizers:
        return False
    made.more += ["--data-parallel"]


# ---- The same but for the order of sums ----


def budget(made, random):
    made.more += ["--memory-budget", random.choice(["LEAST", "1.2 LEAST", "1GB"])]
    made.tolerance = max(made.tolerance, ROUNDING)


def loss_only(made, random):
    made.more += ["--loss-only"]
    made.tolerance = max(made.tolerance, ROUNDING)


def other_arch(made, random):
    if "--arch" in made.more:
        return False
    made.more += ["--arch", random.choice(["native", "x86-64-v3,native", "haswell"])]
    made.tolerance = max(made.tolerance, ROUNDING)


def small_thresholds(made, random):
    """The ways of large tensors (lib/support/SizeThreshold.h)."""
    made.compiler_environment["ACCC_SIZE_DIVISOR"] = random.choice(["16", "256"])
    made.tolerance = max(made.tolerance, ROUNDING)


def no_clipping(made, random):
    if not made.optimizers or "clip_grad_norm" in made.optimizers[0]:
        return False
    made.optimizers[0] += ",clip_grad_norm=1e30"
    made.tolerance = max(made.tolerance, ROUNDING)


def loss_scale(made, random):
    """A power of two, which changes no bit but where a gradient is too small for f32."""
    if not made.losses or not made.optimizers:
        return False
    made.more += ["--loss-scale", random.choice(["dynamic", "dynamic,growth_interval=1", "dynamic,init_scale=8", "fixed=1024"])]
    made.tolerance = max(made.tolerance, ROUNDING)


def accumulates(made, random):
    if not made.losses or not made.optimizers:
        return False
    made.more += ["--accumulate-gradients"]


def averages(made, random):
    if not made.losses or not made.optimizers:
        return False
    made.more += ["--average-weights", random.choice(["ema", "ema,decay=0.5", "ema,warmup"])]


SAME_BITS = [
    other_sizes, weights, reports, several_archs, both_targets, train_all, own_rate, defaults, named, one_group,
    data_parallel, accumulates, averages,
]  # fmt: skip
ROUNDED = [budget, loss_only, other_arch, small_thresholds, no_clipping, loss_scale]


# ---- GPUs ----


def on_gpu(made, random):
    made.more += ["--target", random.choice(["cuda", "cuda,cpu"]), "--arch"]
    made.more += ["compute_80" if made.more[-2] == "cuda" else "compute_80,x86-64-v3"]
    made.tolerance = max(made.tolerance, ROUNDING)
    precision = random.random()
    if precision < 0.2:
        made.more += ["--precision", "tf32"]
        made.tolerance = TF32_ROUNDING
    elif precision < 0.4:
        scales = bool(made.losses and made.optimizers)
        made.more += ["--precision", random.choice(["bf16", "fp16"] if scales else ["bf16"])]
        made.tolerance = BF16_ROUNDING


VARIATIONS = {function.__name__: function for function in [*SAME_BITS, *ROUNDED, on_gpu]}
SAME_BITS, ROUNDED = ([function.__name__ for function in group] for group in (SAME_BITS, ROUNDED))


def vary(base, variations, random_of):
    """`base` with variations, given as [(name, seed)]."""
    made = copy.deepcopy(base)
    for name, seed in variations:
        VARIATIONS[name](made, random_of(seed))
    return made


def least_budget(accc, command, environment):
    """What a compilation with far too little says would be enough, in bytes."""
    command = [accc, *command, "--memory-budget", "1B"]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    units = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    found = re.findall(r"_step\S* takes (\S+) (\w+) with all", done.stderr)
    return max((float(size) * units[unit] for size, unit in found), default=1e9)
