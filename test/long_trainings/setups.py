# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a network is trained: everything that `accc compile` and the program that trains are told.

Numbers have few digits, and learning rates are floats of 32 bits: no difference comes from how they are written.
"""

import dataclasses
import itertools
import random
import re

import numpy
import torch

import nets

OPTIMIZERS = {  # options, of which some are drawn, and learning rates with which these networks learn
    "sgd": (["momentum=0.9", "momentum=0.9,dampening=0.5", "momentum=0.7,nesterov", "momentum=0.5,dampening=-0.5"], 0.02),
    "adam": (["beta1=0", "beta2=0.5", "beta1=0,beta2=0.5", "beta1=0.5,beta2=0.9", "amsgrad"], 0.005),
    "adamw": (["beta1=0", "beta1=0.95,beta2=0.95", "amsgrad", "amsgrad,beta2=0.5"], 0.005),
    "nadam": (["beta1=0.5", "beta1=0", "momentum_decay=0.1", "decoupled_weight_decay", "momentum_decay=0"], 0.005),
    "radam": (["beta2=0.9", "beta2=0.5", "beta1=0", "decoupled_weight_decay", "beta2=0.99,beta1=0.5"], 0.005),
    "adamax": (["beta1=0", "beta2=0.9", "beta1=0.5,beta2=0.5"], 0.005),
    "rmsprop": (["momentum=0.5", "centered", "alpha=0.5", "centered,momentum=0.9,alpha=0.9", "alpha=0"], 0.002),
    "adagrad": (["lr_decay=0.1", "lr_decay=1"], 0.02),
    "adadelta": (["rho=0.5", "rho=0.99", "rho=0"], 1.0),
    "adafactor": (["beta2_decay=-0.5", "d=2", "eps1=1e-3", "eps2=0.1", "beta2_decay=0"], 0.01),
    "lion": (["beta1=0", "beta2=0.5", "beta1=0.5,beta2=0.9"], 0.002),
}
EPSILONS = {"eps": ["eps=1e-3", "eps=0.1", "eps=1", "eps=0"]}
WITHOUT_EPSILON = ("sgd", "adafactor", "lion")
PATTERNS = ["bias$", "weight$", "head", "norm|bias$", "words|first|stem", "words|middle|mixed", "scale|places"]
MUON = r"(middle|wide|narrow|out)\.weight$"
FROZEN = ["bias$", "^head", "words|stem", "norm"]
STEPS = 20, 45
BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)


@dataclasses.dataclass(frozen=True)
class Step:
    """One training step of a library. The only one has no name, and trains all."""

    name: str
    loss: str
    optimizer: str
    average: str = ""
    train: str = ""  # that of --train
    is_told: bool = False  # it; what a loss does not reach need not be told

    def options(self):
        """Those of `accc compile`, but for the loss."""
        given = [("--optimizer", self.optimizer), ("--average-weights", self.average), ("--train", self.train if self.is_told else "")]
        return [word for flag, value in given if value for word in (flag, f"{self.name}={value}" if self.name else value)]

    def trains(self, names):
        """Whether it trains a parameter of these names."""
        return not self.train or any(re.search(self.train, name) for name in names)


@dataclasses.dataclass(frozen=True)
class Call:
    """One of long_training.cpp's, of a step of this name."""

    what: str
    value: float
    step: str = ""

    def text(self, moved=0):
        """`moved` is added to the number."""
        name = f":{self.step}" if self.step else ""
        return f"{self.what}{name}@{self.value + moved:.9g}"


@dataclasses.dataclass(frozen=True)
class Setup:
    """A network, drawn from `seed`, and its training."""

    seed: int
    net: str
    format: str
    steps: tuple
    calls: tuple
    rows: tuple  # of each batch
    groups: tuple = ()
    scale: str = ""
    overflowing: tuple = ()  # numbers of batches with an input that gradients overflow with
    precision: str = "fp32"
    dtype: str = "float32"  # of the module
    shares: tuple = (1,)  # of the rows of a batch, by process
    synchronized: bool = False  # batch norms
    frozen: str = ""  # that of --freeze
    options: tuple = ()  # others of `accc compile`, which change nothing but the order of sums
    target: str = "cpu"

    def make(self):
        torch.manual_seed(self.seed)
        return nets.KINDS[self.net](random.Random(self.seed)).to(getattr(torch, self.dtype))

    def text(self):
        shown = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "calls"}
        calls = " ".join(call.text() for call in self.calls)
        return ", ".join(f"{name}={value}" for name, value in shown.items() if value not in ("", ())) + f"\n  {calls}"

    @property
    def rate(self):
        """That which the library is compiled with."""
        return rate_of(self.steps[0].optimizer)

    @property
    def ranks(self):
        return len(self.shares)

    def split(self, rows):
        """The rows of each process."""
        ends = [rows * sum(self.shares[:i]) // sum(self.shares) for i in range(self.ranks + 1)]
        return [end - begin for begin, end in itertools.pairwise(ends)]

    @property
    def accumulates(self):
        return any(call.what == "accumulate" for call in self.calls)


def draw_optimizer(draw, kind=None, is_group=False):
    kind = kind or draw.choice(list(OPTIMIZERS))
    more, rate = OPTIMIZERS[kind]
    options = [draw.choice(more)] if draw.random() < 0.7 else []
    if kind not in WITHOUT_EPSILON and draw.random() < 0.4:
        options.append(draw.choice(EPSILONS["eps"]))
    if draw.random() < 0.5:
        options.append(f"weight_decay={draw.choice([0.01, 0.1, 0.5])}")
    if draw.random() < 0.1:
        options.append("maximize")
    if not is_group and draw.random() < 0.35:
        options.append(draw.choice(["clip_grad_norm=0.01", "clip_grad_norm=0.3", "clip_grad_norm=5", "clip_grad_value=0.01", "clip_grad_value=0.1"]))
    return ",".join([kind, f"lr={rate * draw.choice([0.25, 1, 1, 2]):g}", *options])


def draw_groups(draw, optimizers, names):
    """Options or optimizers of their own for some of the parameters, each of which is its names. Options are such as all `optimizers` have."""
    optimizer = draw.choice(optimizers)
    groups = []
    for pattern in draw.sample(PATTERNS, draw.choice([0, 0, 1, 1, 2])):
        kind = draw.random()
        if kind < 0.25:
            options = draw.choice(["weight_decay=0", "weight_decay=0.2"])
        elif kind < 0.5:
            options = f"lr={draw.choice([0, 0.1, 3]) * rate_of(optimizer):g}"
        elif kind < 0.75 and len(optimizers) == 1:
            options = draw.choice([*OPTIMIZERS[optimizer.split(",")[0]][0], "maximize", "weight_decay=0.3,maximize"])
        else:
            options = draw_optimizer(draw, is_group=True)
        groups.append((pattern, options))
    if draw.random() < 0.15:
        options = draw.choice(["muon,lr=0.01", "muon,lr=0.02,nesterov=false,weight_decay=0.3", "muon,lr=0.01,match_rms_adamw,ns_steps=3,momentum=0.5"])
        groups.insert(0, (MUON, options))
    kept = []
    for pattern, options in groups:
        others = [own for own in names if not any(re.search(pattern, name) for name in own)]
        if len(others) < len(names):
            kept.append((pattern, options))
            names = others
    return tuple(kept)


def rate_of(optimizer):
    return float(next(part for part in optimizer.split(",") if part.startswith("lr=")).removeprefix("lr="))


def rounded(rate):
    return float(numpy.float32(rate))


def schedule(draw, base, count):
    """The rate before each update, None where it stays."""
    kind = draw.choice(["constant", "cosine", "warmup", "steps", "cycle", "pauses"])
    rates = []
    for i in range(count):
        part = i / count
        factor = {
            "constant": 1.0,
            "cosine": 0.5 * (1 + numpy.cos(numpy.pi * part)),
            "warmup": min(1.0, (i + 1) / 8),
            "steps": 0.3 ** int(3 * part),
            "cycle": 0.2 + abs((i % 10) / 5 - 1),
            "pauses": 0.0 if i % 7 == 3 else 1.0,
        }[kind]
        rates.append(rounded(base * float(factor)))
    return [rate if i == 0 or rate != rates[i - 1] else None for i, rate in enumerate(rates)]


def draw_updates(draw, step, accumulates, has_fault, rows, following):
    """The calls of one update by a step."""
    if not (accumulates and draw.random() < 0.7):
        return [Call(draw.choice(["step", "step", "step", "apart"]), following(), step.name)]
    calls = []
    for _ in range(draw.choice([1, 2, 3])):
        calls.append(Call("accumulate", following(), step.name))
        if has_fault and draw.random() < 0.05:
            calls.append(Call("faultadded", draw.randrange(len(rows)), step.name))
    return [*calls, Call("update", 0, step.name)]


def draw_calls(draw, steps, rows, overflowing, has_fault):
    """A training of some updates with all that may come between. The last batch of an epoch is a smaller one."""
    count, base = draw.randint(*STEPS), rounded(rate_of(steps[0].optimizer))
    accumulates = draw.random() < 0.35
    calls, ordinary = [], itertools.cycle(i for i in range(len(rows)) if i not in overflowing)

    def following():
        return draw.choice(overflowing) if overflowing and draw.random() < 0.12 else next(ordinary)

    own = draw.random() < 0.3  # the rate that the library was compiled with, where the first is no other
    for i, rate in enumerate(schedule(draw, base, count), 1):
        if rate is not None and not (own and i == 1 and rate == base):
            calls.append(Call("rate", rate))
        present = steps if len(steps) == 1 or draw.random() < 0.4 else [draw.choice(steps)]
        mixed = [draw_updates(draw, step, accumulates, has_fault and step is steps[0], rows, following) for step in present]
        while any(mixed):  # each in its order
            calls.append(draw.choice([each for each in mixed if each]).pop(0))
        calls.append(Call("state", i))
        step = draw.choice(steps)
        if draw.random() < 0.1:
            calls.append(Call(draw.choice(["eval", "average"]) if step.average else "eval", draw.randrange(len(rows)), step.name))
        if has_fault and draw.random() < 0.05:
            calls.append(Call("fault", draw.randrange(len(rows)), steps[0].name))
    return tuple(calls)


def draw_steps(draw, module):
    """Of a network that has several `losses`, each with what it trains, two; they are drawn apart."""
    averages = ["", "", "ema,decay=0.9", "ema,decay=0.99,warmup", "ema,decay=0.3", "ema,decay=0"]
    if not hasattr(module, "losses"):
        return (Step("", module.loss, draw_optimizer(draw), draw.choice(averages)),)
    steps = []
    for name, trained in module.losses.items():
        train = draw.choice(trained)
        is_told = train != trained[0] or draw.random() < 0.5
        steps.append(Step(name, f"output:{name}_loss", draw_optimizer(draw), draw.choice(averages), train, is_told))
    return tuple(steps)


def draw(seed, target="cpu", kinds=()):
    """The setup of a seed, of one of these kinds of networks."""
    draw = random.Random(seed)
    net = draw.choice([kind for kind in nets.KINDS if not kinds or kind in kinds])
    module = nets.KINDS[net](random.Random(seed))
    steps = draw_steps(draw, module)
    precision = draw.choice(["fp32"] * 6 + ["bf16", "fp16", "fp16"])
    scale, overflowing = "", ()
    shares = draw.choice([(1,)] * 7 + [(1, 1), (2, 1)]) if target == "cpu" else (1,)
    large, small = draw.choice([(8, 6), (12, 6), (12, 8)])
    rows = tuple([large] * draw.choice([2, 3]) + ([small] if draw.random() < 0.5 else []))
    if precision == "fp16" or draw.random() < 0.25:
        scale = draw.choice(["dynamic,init_scale=64,growth_interval=3", "dynamic,init_scale=256,growth_interval=5,backoff_factor=0.25", "dynamic,init_scale=16,growth_interval=2,growth_factor=1.5,backoff_factor=0.3", "dynamic,init_scale=128", "fixed=64"])
        if draw.random() < 0.8:
            rows, overflowing = (*rows, large), (len(rows),)
    dtype = "float32"
    if precision == "fp32" and draw.random() < 0.2:  # in float16 most of PyTorch's optimizers divide by zero
        dtype = draw.choice(["bfloat16", "float64"])
    options = draw.choice([(), (), ("--memory-budget", "least"), ("--loss-only",), ("--weights", "beside"), ("--arch", "native") if target == "cpu" else ()])
    calls = draw_calls(draw, steps, rows, overflowing, module.fault is not None)
    named = {}
    for name, p in module.named_parameters(remove_duplicate=False):
        named.setdefault(p, []).append(name)
    trained = [own for p, own in named.items() if p.requires_grad and any(step.trains(own) for step in steps)]
    frozen = draw.choice(FROZEN) if draw.random() < 0.2 else ""
    left = [own for own in trained if not any(re.search(frozen, name) for name in own)] if frozen else trained
    if not all(any(step.trains(own) for own in left) for step in steps):
        frozen, left = "", trained
    groups = draw_groups(draw, [step.optimizer for step in steps], left)
    format = draw.choice(["export", "export", "export", "onnx", "onnx", "export" if scale or len(steps) > 1 else "joint"])
    format = "export" if module.stops else format
    synchronized = len(shares) > 1 and format != "joint" and draw.random() < 0.5 and any(isinstance(m, BATCH_NORMS) for m in module.modules())
    given = (seed, net, format, steps, calls, rows, groups, scale, overflowing, precision, dtype, shares, synchronized, frozen)
    return Setup(*given, options, target)


def simpler(setup):
    """The setup with one thing less, in all ways."""
    replaced = lambda **changes: dataclasses.replace(setup, **changes)  # noqa: E731
    plain = {"groups": (), "options": (), "shares": (1,), "precision": "fp32", "dtype": "float32", "scale": "", "format": "export", "overflowing": (), "frozen": "", "synchronized": False}
    for field, value in plain.items():
        if getattr(setup, field) != value:
            yield replaced(**{field: value})
    for i in range(len(setup.groups)):
        yield replaced(groups=setup.groups[:i] + setup.groups[i + 1 :])
    for at, step in enumerate(setup.steps):
        parts = step.optimizer.split(",")
        less = [{"optimizer": ",".join(parts[:i] + parts[i + 1 :])} for i in range(2, len(parts))] + ([{"average": ""}] if step.average else [])
        for changes in less:
            yield replaced(steps=tuple(dataclasses.replace(other, **changes) if i == at else other for i, other in enumerate(setup.steps)))
    size = len(setup.calls) // 2
    while size >= 1:
        for i in range(0, len(setup.calls), size):
            yield replaced(calls=setup.calls[:i] + setup.calls[i + size :])
        size //= 2
