# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses and optimizers in the syntax of accc's command line, as PyTorch's own.

docs/losses-and-optimizers.md describes both: `name[=value][,option[=value]]...`.
"""

import math
import pathlib
import re
from collections.abc import Callable, Iterable, Sequence

import torch
from torch.nn import functional

from .errors import ExportError
from .optimizers import Lion, Muon

Loss = Callable[[dict[str, torch.Tensor], torch.Tensor | None], torch.Tensor]
"""From outputs by name, and the target, to the scalar loss."""

_CLASSES = {"cross_entropy": functional.cross_entropy, "nll": functional.nll_loss}
_ELEMENTS = {
    "mse": functional.mse_loss,
    "l1": functional.l1_loss,
    "smooth_l1": functional.smooth_l1_loss,
    "huber": functional.huber_loss,
    "bce": functional.binary_cross_entropy,
    "bce_with_logits": functional.binary_cross_entropy_with_logits,
}
_LOSS_OPTIONS = {
    "cross_entropy": {"ignore_index", "weight", "class_dim", "label_smoothing", "probabilities"},
    "nll": {"ignore_index", "weight", "class_dim"},
    "smooth_l1": {"beta"},
    "huber": {"delta"},
    "bce_with_logits": {"pos_weight"},
}


def _adafactor(params, eps1: float = torch.finfo(torch.float32).eps, eps2: float = 1e-3, **settings):
    """With an epsilon that is that of float32 also in other types, in which PyTorch has theirs."""
    return torch.optim.Adafactor(params, eps=(eps1, eps2), **settings)


_ADAM = {"beta1", "beta2", "eps", "weight_decay", "maximize"}
_OPTIMIZERS = {
    "sgd": (torch.optim.SGD, {"momentum", "dampening", "nesterov", "weight_decay", "maximize"}),
    "adam": (torch.optim.Adam, _ADAM | {"amsgrad"}),
    "adamw": (torch.optim.AdamW, _ADAM | {"amsgrad"}),
    "nadam": (torch.optim.NAdam, _ADAM | {"momentum_decay", "decoupled_weight_decay"}),
    "radam": (torch.optim.RAdam, _ADAM | {"decoupled_weight_decay"}),
    "adamax": (torch.optim.Adamax, _ADAM),
    "rmsprop": (torch.optim.RMSprop, {"alpha", "eps", "momentum", "weight_decay", "centered", "maximize"}),
    "adagrad": (torch.optim.Adagrad, {"lr_decay", "eps", "weight_decay", "maximize"}),
    "adadelta": (torch.optim.Adadelta, {"rho", "eps", "weight_decay", "maximize"}),
    "adafactor": (_adafactor, {"beta2_decay", "eps1", "eps2", "d", "weight_decay", "maximize"}),
    "lion": (Lion, {"beta1", "beta2", "weight_decay", "maximize"}),
    "muon": (Muon, {"momentum", "weight_decay", "eps", "ns_steps", "nesterov", "match_rms_adamw"}),
}
_FLAGS = {"probabilities", "nesterov", "maximize", "amsgrad", "centered", "decoupled_weight_decay", "match_rms_adamw", "warmup"}
_RATES = {"nadam": 2e-3, "adamax": 2e-3, "rmsprop": 1e-2, "adagrad": 1e-2, "adadelta": 1.0, "adafactor": 1e-2, "lion": 1e-4}
"""Learning rates of those that have another than 1e-3."""


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

HALF = (torch.float16, torch.bfloat16)


def widened(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """16-bit floats as float32, in which accc computes their losses."""
    return tensor.float() if tensor is not None and tensor.dtype in HALF else tensor


def takes_target(loss: str) -> bool:
    return not loss.startswith("output:")


def make_loss(text: str, outputs: Iterable[str]) -> Loss:
    """The loss that a spec names, on the output that it names or else the first one."""
    outputs = list(outputs)
    name, value, options = _parse(text)
    if name.startswith("output:"):
        output = name.removeprefix("output:")
        _check(text, options, set())
        _find(text, output, outputs)
        return lambda results, target: results[output].reshape(()).clone()  # apart from the output in a joint graph
    if name not in (*_CLASSES, *_ELEMENTS):
        known = ", ".join((*_CLASSES, *_ELEMENTS))
        raise ExportError(f"there is no loss {name!r}: choose {known} or output:NAME")
    _check(text, options, _LOSS_OPTIONS.get(name, set()))
    output = _find(text, value, outputs) if value is not None else outputs[0]
    if name in _ELEMENTS:
        return _element_loss(text, name, output, options)
    return _class_loss(text, name, output, options)


def _class_loss(text: str, name: str, output: str, options: dict[str, str | None]) -> Loss:
    dim = _integer(text, "class_dim", options.pop("class_dim")) if "class_dim" in options else None
    of_probabilities = "probabilities" in options and _flag(text, "probabilities", options.pop("probabilities"))
    if of_probabilities and "ignore_index" in options:
        raise ExportError(f"{text}: ignore_index is a class, and the target holds probabilities")
    given = {key: x for key, x in options.items() if key != "weight"}
    settings = {key: (_integer if key == "ignore_index" else _number)(text, key, x) for key, x in given.items()}
    weight = _weights("weight", options["weight"]) if "weight" in options else None

    def classes(results, target):
        scores = widened(results[output])
        if of_probabilities:
            if scores.dim() == 3 and dim is None:
                raise ExportError(f"{text}: a target of probabilities does not say where the classes of {output} stand: class_dim=1, or 2")
            target = by_class(target.to(scores))
        elif target.is_floating_point():
            more = "" if name == "nll" else "; cross_entropy,probabilities takes probabilities"
            raise ExportError(f"{text}: the target is of classes, integers, and holds {target.dtype}{more}")
        own = None if weight is None else weight.to(scores)
        return _CLASSES[name](by_class(scores), target, weight=own, **settings)

    def by_class(x):
        return x if x.dim() < 2 else x.movedim(1 if dim is None else dim, 1)

    return classes


def _element_loss(text: str, name: str, output: str, options: dict[str, str]) -> Loss:
    weight = _weights("pos_weight", options.pop("pos_weight")) if "pos_weight" in options else None
    if weight is not None and weight.numel() == 1:
        weight = weight.reshape(())  # which scalar scores take
    settings = {key: _number(text, key, x) for key, x in options.items()}

    def elements(results, target):
        scores = widened(results[output])
        more = {} if weight is None else {"pos_weight": weight.to(scores)}
        return _ELEMENTS[name](scores, widened(target), **settings, **more)

    return elements


Groups = Sequence[tuple[str, str]]
"""Regular expressions for parameters, and their options or optimizer, as `--param-group` takes them."""


class Optimizer:
    """PyTorch's optimizers, with the gradients clipped first where the spec says so."""

    def __init__(self, text: str, lr: float | None, named: Iterable[tuple[str, torch.nn.Parameter]], groups: Groups = ()) -> None:
        """`lr` replaces the rate of the spec, to which those of `groups` keep their proportion. A parameter may have several names.

        Raises ExportError for what accc does not know."""
        names: dict[torch.nn.Parameter, list[str]] = {}
        for name, parameter in named:
            names.setdefault(parameter, []).append(name)
        members: list[list[torch.nn.Parameter]] = [[] for _ in range(len(groups) + 1)]
        for parameter, own in names.items():
            members[_group(own, groups)].append(parameter)
        self.parameters, self.lr = list(names), learning_rate(text, lr)
        _, settings, self.clip, self.clip_value = _optimizer(text)
        self.torch = []
        for (pattern, options), own in zip((("", ""), *groups), members):
            if own or pattern:
                self.torch.append(_make(_group_text(text, options), self.lr, settings["lr"], own, pattern))

    def zero_grad(self) -> None:
        for each in self.torch:
            each.zero_grad()

    def step(self, scaler: torch.amp.GradScaler | None = None) -> None:
        """With gradients that `scaler` has unscaled, which may skip the step."""
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        if self.clip_value is not None:
            torch.nn.utils.clip_grad_value_(self.parameters, self.clip_value)
        for each in self.torch:
            if scaler is None:
                each.step()
            else:
                scaler.step(each)


class WeightAverage:
    """The averages of `--average-weights`: `torch.optim.swa_utils.get_ema_multi_avg_fn`, also with a decay that warms up."""

    def __init__(self, text: str, named: Iterable[tuple[str, torch.nn.Parameter]]) -> None:
        """Raises ExportError for what accc does not know."""
        name, value, options = _parse(text)
        if name != "ema" or value is not None:
            raise ExportError(f"there is no average of weights {text.split(',')[0]!r}: choose ema")
        _check(text, options, {"decay", "warmup"})
        self.decay = _number(text, "decay", options.get("decay", "0.999"))
        self.warms_up = "warmup" in options and _flag(text, "warmup", options["warmup"])
        if not 0 <= self.decay < 1:
            raise ExportError(f"{text}: the decay is between 0 and 1")
        self.parameters, self.count = dict(named), 0
        self.averages = {name: widened(p.detach()).clone() for name, p in self.parameters.items()}

    def update(self) -> None:
        """Behind the optimizer's step."""
        weight = 1 - self.decay
        if self.warms_up:
            weight = max(9 / (10 + self.count), weight)
        for name, parameter in self.parameters.items():
            self.averages[name].lerp_(widened(parameter.detach()), weight if self.count else 1.0)
        self.count += 1


def learning_rate(text: str, lr: float | None) -> float:
    """`lr`, a number or a tensor of one, or that of the spec."""
    rate = _optimizer(text)[1]["lr"] if lr is None else float(lr)
    if not math.isfinite(rate):
        raise ExportError(f"the learning rate is {rate}")
    return rate


def _group(names: list[str], groups: Groups) -> int:
    """The first group that finds one of the names, counted from 1; 0 if none does."""
    try:
        found = (i for i, (pattern, _) in enumerate(groups, 1) if any(re.search(pattern, name) for name in names))
        return next(found, 0)
    except re.error as error:
        raise ExportError(f"a group of parameters: {error}") from None


def _group_text(text: str, options: str) -> str:
    """The spec with the options of a group in place of its own."""
    if options.split(",")[0] in _OPTIMIZERS:
        return options
    keys = {part.split("=")[0] for part in options.split(",")} | {"clip_grad_norm", "clip_grad_value"}
    kept = [part for part in text.split(",") if part.split("=")[0] not in keys]
    return ",".join([*kept, *filter(None, [options])])


def _make(text: str, lr: float, base: float, parameters: list, pattern: str) -> torch.optim.Optimizer:
    """The optimizer of a group, whose rate is to `lr` what that of its spec is to `base`."""
    kind, settings, *clips = _optimizer(text)
    if pattern and (clips != [None, None] or not parameters):
        why = "clip_grad_norm and clip_grad_value are for all gradients" if parameters else "no parameter has such a name"
        raise ExportError(f"the group {pattern}: {why}")
    if settings["lr"] != base and base == 0:
        raise ExportError(f"{text}: its learning rate is kept in proportion to one that is 0")
    rate = lr if settings["lr"] == base else lr * (settings["lr"] / base)
    try:
        return kind(parameters, **{**settings, "lr": rate})
    except ValueError as error:
        raise ExportError(f"{text}: {error}") from None


def make_optimizer(text: str, lr: float, parameters, **settings) -> torch.optim.Optimizer:
    """The optimizer that a spec names, with settings of PyTorch's such as `fused`, without clipping."""
    kind, own, *_ = _optimizer(text)
    return kind(parameters, **{**own, "lr": lr, **settings})


def _optimizer(text: str) -> tuple[Callable[..., torch.optim.Optimizer], dict, float | None, float | None]:
    """What makes it, its settings, the norm and the value to clip to."""
    name, value, options = _parse(text)
    if name not in _OPTIMIZERS or value is not None:
        raise ExportError(f"there is no optimizer {text.split(',')[0]!r}: choose {', '.join(_OPTIMIZERS)}")
    kind, known = _OPTIMIZERS[name]
    _check(text, options, known | {"lr", "clip_grad_norm", "clip_grad_value"})
    settings = {key: (_flag if key in _FLAGS else _number)(text, key, x) for key, x in options.items()}
    clip, clip_value = (settings.pop(option, 0) or None for option in ("clip_grad_norm", "clip_grad_value"))
    if min(clip or 0, clip_value or 0) < 0:
        raise ExportError(f"{text}: what gradients are clipped to is at least 0")
    if "beta1" in settings or "beta2" in settings:
        settings["betas"] = (settings.pop("beta1", 0.9), settings.pop("beta2", 0.99 if name == "lion" else 0.999))
    return kind, {"lr": _RATES.get(name, 1e-3), **settings}, clip, clip_value


def _parse(text: str) -> tuple[str, str | None, dict[str, str | None]]:
    head, *rest = text.split(",")
    name, equals, value = head.partition("=")
    options: dict[str, str | None] = {}
    for part in rest:
        key, has_value, option = part.partition("=")
        if key in options:
            raise ExportError(f"{text}: the option {key} is given twice")
        options[key] = option if has_value else None
    return name, value if equals else None, options


def _check(text: str, options: dict, known: set[str]) -> None:
    for key, value in options.items():
        if key not in known:
            others = f"; there are {', '.join(sorted(known))}" if known else ""
            raise ExportError(f"{text}: there is no option {key}{others}")
        if value is None and key not in _FLAGS:
            raise ExportError(f"{text}: the option {key} needs a value, {key}=...")


def _find(text: str, output: str, outputs: list[str]) -> str:
    if output not in outputs:
        raise ExportError(f"{text}: there is no output {output}; there are {', '.join(outputs)}")
    return output


def _flag(text: str, key: str, value: str | None) -> bool:
    if value not in (None, "true", "false"):
        raise ExportError(f"{text}: {key} is true or false, not {value}")
    return value != "false"


def _number(text: str, key: str, value: str) -> float:
    """What accc takes for one, too."""
    number = float(value) if _NUMBER.fullmatch(value) else math.inf
    if not math.isfinite(number):
        raise ExportError(f"{text}: the option {key} needs a number, not {value}")
    return number


def _integer(text: str, key: str, value: str) -> int:
    number = _number(text, key, value)
    if number != int(number):
        raise ExportError(f"{text}: the option {key} needs an integer, not {value}")
    return int(number)


def _weights(option: str, text: str) -> torch.Tensor:
    """Numbers with colons between, or a text file of numbers."""
    try:
        numbers = [float(x) for x in text.split(":")]
    except ValueError:
        try:
            numbers = [float(x) for x in pathlib.Path(text).read_text().split()]
        except (OSError, ValueError) as error:
            raise ExportError(f"{option}={text} is neither numbers nor a file of numbers: {error}") from None
    return torch.tensor(numbers, dtype=torch.float64)
