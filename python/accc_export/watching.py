# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs in a forward pass, as modes of PyTorch's see it: its operators, and the functions that they are of."""

import inspect
from collections.abc import Iterator

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from .attributes import address_of
from .bodies import WatchingMode
from .modules import put_back

_UNKNOWN = {
    "scale_grad_by_freq": "an embedding divides gradients by frequencies (scale_grad_by_freq)",
    "divisor_override": "a pool of averages divides by a number of its own (divisor_override)",
}
"""Arguments of operators that ONNX has nothing for."""


def _unknown(func, args, kwargs) -> Iterator[str]:
    """What exporters of ONNX leave out without a word; of lookups the newer one leaves the call in the file."""
    if func is not torch.ops.aten.embedding.default:
        yield from (text for name, text in _UNKNOWN.items() if _argument(name, func, args, kwargs))
    scatters = (torch.ops.aten.scatter_reduce, torch.ops.aten.scatter_reduce_)
    if func.overloadpacket in scatters and _argument("reduce", func, args, kwargs) == "mean":
        yield "scatter_reduce takes a mean, of which they write the last element"


def _mistaken(func, args, kwargs) -> str | None:
    """What PyTorch's older exporter writes as something else (2.15): updates of one element, distances of odd powers."""
    aten = torch.ops.aten
    if func is aten.embedding.default and _argument("scale_grad_by_freq", func, args, kwargs):
        return "an embedding that divides gradients by frequencies (scale_grad_by_freq), of which it writes nothing"
    if func.overloadpacket in (aten.index_put, aten.index_put_) and _argument("accumulate", func, args, kwargs):
        return "index_put(accumulate=True), of which it writes the last update"
    if func.overloadpacket is aten._cdist_forward and _argument("p", func, args, kwargs) % 2 != 0:
        return "cdist by a power that is not even, which it takes of negative numbers"
    return None


_LOOKUPS = (torch.ops.aten.embedding, torch.ops.aten.index_select, torch.ops.aten.index)
"""What PyTorch's older exporter writes as a Gather of rows."""


class Watch(WatchingMode):
    """Sees every operator that runs: embeddings with a padding row, what writes into parameters, and what draws random numbers."""

    def __init__(self, parameters: dict[str, torch.nn.Parameter]) -> None:
        super().__init__()
        self.parameters = parameters
        self.held = {name: x.data for name, x in parameters.items()}
        self.memory = {x.untyped_storage().data_ptr(): name for name, x in parameters.items() if x.numel()}
        self.written: dict[str, torch.Tensor] = {}
        """First name -> the value that it had."""
        self.lookups: dict[int, set[int]] = {}
        """By the identity of a table that stays: the rows that take no gradient, -1 for none."""
        self.unknown: set[str] = set()
        """What exporters of ONNX leave out without a word."""
        self.mistaken: set[str] = set()
        self.shared: set[int] = set()
        """The memory of tensors that have several names."""
        self.stops, self.overwrites = False, False
        self.unrecorded: dict[int, torch.Tensor] = {}
        """By its memory: what has a gradient, and was read where none is recorded."""
        self.bounds = False
        """Whether a function of _BOUNDING runs."""
        self.drawn = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, torch._ops.HigherOrderOperator):
            return func(*args, **kwargs)
        if func.overloadpacket in _LOOKUPS:
            self.look_up(args[0], _argument("padding_idx", func, args, kwargs, otherwise=-1))
        is_stop = func is torch.ops.aten.detach.default or not torch.is_grad_enabled()
        self.stops |= is_stop
        if is_stop and not self.bounds:
            read = (x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor) and x.grad_fn is not None)
            self.unrecorded.update((address_of(x), x) for x in read)
        if torch.Tag.nondeterministic_seeded in func.tags and _drops(func, args, kwargs) and not self._is_new(args):
            self.drawn += 1
        if mistaken := _mistaken(func, args, kwargs):
            self.mistaken.add(mistaken)
        self.unknown.update(_unknown(func, args, kwargs))
        for tensor in written_by(func, args, kwargs):
            address = address_of(tensor)
            name = self.memory.get(address)
            if name is not None and name not in self.written:
                self.written[name] = self.parameters[name].detach().clone()
            self.overwrites |= name is None and address in self.shared
            if address in self.unrecorded and (is_stop or not tensor.requires_grad):
                self.unknown.add("forward writes numbers into a tensor whose gradient does not see it (torch.no_grad(), detach())")
        results = func(*args, **kwargs)
        if any(x.alias_info is not None and not x.alias_info.is_write for x in func._schema.returns):
            self.shared.update({address_of(x) for x in tree_leaves(results) if isinstance(x, torch.Tensor)} - {0})
        return results

    def _is_new(self, args: tuple) -> bool:
        """Whether the weights of a layer are drawn, which forward makes in its first call."""
        return bool(args) and isinstance(args[0], torch.nn.Parameter) and not any(args[0] is own for own in self.parameters.values())

    def put_back(self) -> None:
        """Undoes what was written; `x.data = y` runs no operator."""
        for name, x in self.parameters.items():
            if x.data_ptr() != self.held[name].data_ptr():
                self.written.setdefault(name, self.held[name].clone())
        values = {self.parameters[name]: value for name, value in self.written.items()}
        put_back(values, {x: self.held[name] for name, x in self.parameters.items()})

    def look_up(self, table: torch.Tensor, padding: int) -> None:
        """Which row takes no gradient is said of a parameter, where a file says nothing of the lookup itself."""
        if any(table is x for x in self.parameters.values()):
            found = self.lookups.setdefault(id(table), set())
            found.add(padding)
            if len(found) > 1:
                self.mistaken.add("lookups of one table with different rows for padding (padding_idx), or with one and with none")
        elif padding >= 0:
            self.mistaken.add("an embedding with a row for padding (padding_idx) whose table is computed")


def written_by(func, args, kwargs) -> Iterator[torch.Tensor]:
    """The tensors that an operator writes into."""
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[i] if i < len(args) else kwargs.get(argument.name)
            yield from (x for x in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(x, torch.Tensor))


def _drops(func, args, kwargs) -> bool:
    """False for attention without dropout, whose operators bear the tag all the same."""
    rate = _argument("dropout_p", func, args, kwargs, otherwise=1)
    return rate is not None and rate > 0


def _argument(name: str, func, args, kwargs, otherwise=None):
    """The value of an operator's argument; `otherwise` where it has none of that name."""
    for i, argument in enumerate(func._schema.arguments):
        if argument.name == name:
            return args[i] if i < len(args) else kwargs.get(name, argument.default_value)
    return otherwise


_CALLS = {
    functional.cross_entropy: ("a cross entropy smooths labels (label_smoothing)", lambda given: given["label_smoothing"] != 0),
    functional.instance_norm: (
        "an instance norm keeps statistics for evaluation (track_running_stats)",
        lambda given: given["running_mean"] is not None and given["use_input_stats"],
    ),
}
"""Functions -> what exporters of ONNX lose of them, and with which arguments."""
_BOUNDING = (torch.cosine_similarity,)
"""Functions that bound norms from below where no gradient sees it: what exporters write has another gradient for vectors of
less than eps (1e-8) alone."""
_MASKS = (functional.alpha_dropout, functional.feature_alpha_dropout)
"""Dropouts that exporters take apart: the random masks that are left would drop in evaluation, too."""


def requirement(func, args, kwargs) -> bool | None:
    """Of a call that says whether its first argument requires a gradient: what it says."""
    if func not in (torch.Tensor.requires_grad_, torch.Tensor.requires_grad.__set__):
        return None
    return args[1] if len(args) > 1 else kwargs.get("requires_grad", True)


class Calls(TorchFunctionMode):
    """Sees calls that are other operators by the time Watch sees them, hooks that are registered, derivatives that are taken, and what
    is said to require a gradient."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch
        self.hooks, self.derives, self.duals = False, False, False
        self.required: dict[bool, set[torch.Tensor]] = {False: set(), True: set()}
        self.unknown: set[str] = set()
        """What exporters of ONNX leave out without a word."""
        self.masks: set[str] = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.hooks |= func is torch.Tensor.register_hook
        self.derives |= func is torch.autograd.grad
        self.duals |= func is torch._make_dual
        if (required := requirement(func, args, kwargs)) is not None:
            self.required[required].add(args[0])
        if func in _CALLS:
            text, is_lost = _CALLS[func]
            if is_lost(_given(func, args, kwargs)):
                self.unknown.add(text)
        if func in _MASKS:
            given = _given(func, args, kwargs)
            if given["training"] and given["p"] > 0:
                self.masks.add(func.__name__)
        self.watch.bounds = func in _BOUNDING
        try:
            return func(*args, **kwargs)
        finally:
            self.watch.bounds = False


def _given(func, args, kwargs) -> dict:
    """The arguments of a call by name, those left out included."""
    bound = inspect.signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments
