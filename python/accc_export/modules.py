# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a module consists of, and what one forward pass shows of it."""

import contextlib
import copy
import dataclasses
import inspect
import json
from collections.abc import Iterable, Iterator

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .attributes import preserved_attributes
from .calls import Call
from .errors import ExportError
from .functions import backward_nodes, functions_of

METADATA_KEY = "accc.export"
"""Where a file says what its initialisers are (model metadata_props)."""


@dataclasses.dataclass
class State:
    """The tensors of a module: parameters and buffers by the first of their names."""

    parameters: dict[str, torch.nn.Parameter]
    buffers: dict[str, torch.Tensor]
    persistent: set[str]
    aliases: dict[str, list[str]]
    """First name -> the others, for every tensor that has several."""

    def first_names(self) -> dict[str, str]:
        """Every name -> the first one of its tensor."""
        return {name: first for first, names in self.aliases.items() for name in (first, *names)}

    def tensors(self) -> dict[str, torch.Tensor]:
        return {**self.parameters, **self.buffers}

    def snapshot(self) -> "State":
        """The same with copies of the buffers, which forward passes may change."""
        return dataclasses.replace(self, buffers={name: x.detach().clone() for name, x in self.buffers.items()})


def state_of(module: torch.nn.Module) -> State:
    """Raises ExportError for what cannot be exported: tensors without values."""
    saved = module.state_dict(keep_vars=True).keys()
    first: dict[int, str] = {}
    aliases: dict[str, list[str]] = {}
    parts: tuple[dict, dict] = ({}, {})
    sources = (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    for found, source in zip(parts, sources):
        for name, tensor in source:
            if id(tensor) in first:
                aliases[first[id(tensor)]].append(name)
                continue
            first[id(tensor)] = name
            aliases[name] = []
            found[name] = tensor
            if tensor.is_meta or isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
                raise ExportError(f"{name} has no values: initialise the module before exporting it")
    parameters, buffers = parts
    return State(parameters, buffers, {name for name in buffers if name in saved}, aliases)


@contextlib.contextmanager
def preserved(module: torch.nn.Module) -> Iterator[None]:
    """Leaves the module as it was: modes, buffers, other attributes, gradients, and PyTorch's random numbers.

    Inside, a module in evaluation mode is in training mode; parts of a module in training mode stay
    in the mode that they are in (a batch norm whose statistics are frozen).
    """
    modes = {part: part.training for part in module.modules()}
    parameters = {x: (x.requires_grad, x.grad) for x in module.parameters()}
    buffers = {x for x in module.buffers()}
    devices = sorted({x.device.index or 0 for x in (*parameters, *buffers) if x.is_cuda})
    try:
        with torch.random.fork_rng(devices=devices), preserved_buffers(module), preserved_attributes(module):
            if not module.training:
                module.train()
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode
        for parameter, (trained, gradient) in parameters.items():
            parameter.requires_grad_(trained)
            parameter.grad = gradient


@contextlib.contextmanager
def preserved_buffers(module: torch.nn.Module) -> Iterator[None]:
    """Leaves the buffers as they were: their values, and the tensors that they are, for which a pass may set others."""
    buffers = {part: dict(part._buffers) for part in module.modules()}
    with preserved_values(x for held in buffers.values() for x in held.values() if x is not None):
        try:
            yield
        finally:
            for part, held in buffers.items():
                part._buffers.clear()
                part._buffers.update(held)


@contextlib.contextmanager
def preserved_values(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    values = {x: x.detach().clone() for x in tensors}
    memory = {x: x.data for x in values}
    try:
        yield
    finally:
        _put_back(values, memory)


@contextlib.contextmanager
def without_hooks(parameters: Iterable[torch.nn.Parameter]) -> Iterator[None]:
    hooks = {x: x._backward_hooks for x in parameters if x._backward_hooks}
    for parameter in hooks:
        parameter._backward_hooks = None
    try:
        yield
    finally:
        for parameter, held in hooks.items():
            parameter._backward_hooks = held


def address_of(x: torch.Tensor) -> int:
    """Where its memory begins; 0 for one that has none of its own."""
    try:
        return x.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


class _Cut(TorchFunctionMode):
    """Copies tensors that were computed as ones that were not: copy.deepcopy refuses those of a graph. What is in the memory of a
    parameter is in that of its copy."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.memory = {address_of(x): x for x in module.parameters() if x.numel()}

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.__deepcopy__:
            tensor, memo = args
            parameter = self.memory.get(address_of(tensor)) if tensor.numel() else None
            if parameter is not None:
                first = tensor.storage_offset() - parameter.storage_offset()
                memo[id(tensor)] = copy.deepcopy(parameter, memo).detach().as_strided(tensor.shape, tensor.stride(), first)
            elif not tensor.is_leaf:
                memo[id(tensor)] = tensor.detach().clone()
            if id(tensor) in memo:
                return memo[id(tensor)]
        return function(*args, **(kwargs or {}))


def copied(module: torch.nn.Module) -> torch.nn.Module:
    """A copy of the module, which may keep results of an earlier pass: the distribution that a policy sampled from."""
    with _Cut(module):
        return copy.deepcopy(module)


def _put_back(values: dict[torch.Tensor, torch.Tensor], memory: dict[torch.Tensor, torch.Tensor]) -> None:
    """Gives tensors their values again, in the memory in which these were: `x.data = y` lets it be another."""
    with torch.no_grad():
        for tensor, value in values.items():
            if tensor.data_ptr() != memory[tensor].data_ptr():
                tensor.data = memory[tensor]
            if not torch.equal(tensor, value):
                tensor.copy_(value)


@dataclasses.dataclass
class Observation:
    """What a forward pass in training mode showed."""

    reached: set[str]
    """Parameters that the outputs depend on, by first name."""
    padding: dict[str, int]
    """Parameters by first name -> the row of an embedding that stands for padding, -1 for none."""
    updated: dict[str, str]
    """Running statistics that the pass moved -> the batch norm's name; other buffers that it changed -> nothing."""
    written: set[str]
    """Parameters that the pass wrote into, by first name."""
    stops: bool
    """Whether something was detached, or computed without gradients."""
    drawn: int
    """Random operations (dropouts) that ran."""
    outputs: dict[str, torch.Size]
    functions: set[str]
    """The subclasses of torch.autograd.Function that a gradient goes through."""
    mistaken: set[str]
    """What PyTorch's older exporter of ONNX gets wrong."""
    overwrites: bool
    """Whether the pass writes into a tensor that has another name, a part of it or one by detach()."""
    masks: set[str]
    """Dropouts that are random masks in files that take them apart."""
    hooks: bool
    """Whether a tensor, a parameter or a part has hooks, which may change gradients."""
    derives: bool
    """Whether forward takes derivatives itself, by torch.autograd.grad or what calls it."""
    fixed: list[torch.Tensor]
    """Numbers and flags that the module holds, and that the pass neither wrote nor replaced."""
    strangers: list[str]
    """Attributes that hold what the outputs have a gradient of, and that is no parameter."""


def observe(module: torch.nn.Module, call: Call, state: State, *, only_norms: bool = True) -> Observation:
    """Runs the module once, forward and backward. To be called within `preserved`; what the pass changed is put back.

    Raises ExportError where a forward pass changes what a file cannot say that it changes: with `only_norms`, all but
    the statistics of batch norms.
    """
    for name, x in state.parameters.items():
        if x._post_accumulate_grad_hooks:
            raise ExportError(
                f"the parameter {name} has a hook that runs when its gradient is there (register_post_accumulate_grad_hook), and a file has "
                "no such thing: remove it, and do what it does between grad_step and apply_step"
            )
    before = state.snapshot().buffers
    watch, calls = _Watch(state.parameters), _Calls()
    versions = {x: x._version for x in _integers(module)}
    unnamed = _unnamed(module, state)
    computed = {name: x for name, x in state.buffers.items() if not x.is_leaf}
    with preserved_buffers(module):
        try:
            with _all_trainable(state), torch.enable_grad():
                with watch, calls:
                    outputs = call.run(module)
                frozen = [name for name, x in state.parameters.items() if x.is_floating_point() and not x.requires_grad]
                nodes = backward_nodes(outputs.values())
                reached = _reached(outputs, state, computed)
        finally:
            watch.put_back()
        after = dict(module.named_buffers(remove_duplicate=False))
        changed = [n for n, x in before.items() if after.get(n) is None or not _same(x, after[n])]
        fixed = [x for x in _integers(module) if versions.get(x) == x._version]
    if frozen:
        raise ExportError(
            f"forward sets requires_grad=False for the parameter {frozen[0]}, which a file cannot say: set it before the export"
        )
    if only_norms and watch.written:
        raise ExportError(
            f"the forward pass writes into the parameter {sorted(watch.written)[0]} (max_norm of an embedding does), and "
            "ONNX has no way to say so: give the file a name that ends in .pt2"
        )
    masks = {f"{name} drops in training alone" for name in calls.masks}
    if only_norms and (unknown := watch.unknown | calls.unknown | masks):
        raise ExportError(
            f"{' and '.join(sorted(unknown))}, and ONNX has no way to say so: give the file a name that ends in .pt2"
        )
    updated = _statistics(module, changed, state) if only_norms else dict.fromkeys(changed, "")
    return Observation(
        reached=reached,
        padding={n: max(watch.lookups.get(id(x), {-1})) for n, x in state.parameters.items()},
        updated=updated,
        written=set(watch.written),
        stops=watch.stops,
        drawn=watch.drawn,
        outputs={name: x.shape for name, x in outputs.items()},
        functions=functions_of(nodes) - {_HOOKED},
        mistaken=watch.mistaken,
        overwrites=watch.overwrites,
        masks=calls.masks,
        hooks=calls.hooks or any(x._backward_hooks for x in state.parameters.values()) or _has_backward_hooks(module),
        derives=calls.derives,
        fixed=fixed,
        strangers=sorted({unnamed[x.variable] for x in nodes if getattr(x, "variable", None) in unnamed}),
    )


def _unnamed(module: torch.nn.Module, state: State) -> dict[torch.Tensor, str]:
    """What requires a gradient in attributes, and in modules there, beside parameters and buffers -> the attribute."""
    known = {*state.parameters.values(), *state.buffers.values()}
    found = {}
    for path, part in module.named_modules():
        for name, held in vars(part).items():
            for x in tree_leaves(held):
                tensors = x.parameters() if isinstance(x, torch.nn.Module) else [x] if isinstance(x, torch.Tensor) else []
                found |= {x: f"{path}.{name}" if path else name for x in tensors if x.requires_grad and x.is_leaf and x not in known}
    return found


_HOOKED = "BackwardHookFunction"
"""What a part that has hooks goes through."""


def _has_backward_hooks(module: torch.nn.Module) -> bool:
    of_all = torch.nn.modules.module._global_backward_hooks or torch.nn.modules.module._global_backward_pre_hooks
    return bool(of_all) or any(part._backward_hooks or part._backward_pre_hooks for part in module.modules())


def _integers(module: torch.nn.Module) -> list[torch.Tensor]:
    """The integers and truth values among the module's buffers and other attributes."""
    held = [x for part in module.modules() for x in tree_leaves(vars(part)) if isinstance(x, torch.Tensor)]
    return [x for x in held if not (x.is_floating_point() or x.is_complex() or x.is_inference())]


@contextlib.contextmanager
def _all_trainable(state: State) -> Iterator[None]:
    """Frozen parameters take part in the export as others do."""
    frozen = [x for x in state.parameters.values() if x.is_floating_point() and not x.requires_grad]
    for parameter in frozen:
        parameter.requires_grad_(True)
    try:
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def metadata(state: State, observation: Observation, initializers: set[str]) -> str:
    """What a file says of its initialisers, as JSON text."""
    parameters = []
    for name, parameter in state.parameters.items():
        entry = {"name": name, "requires_grad": parameter.requires_grad, "aliases": state.aliases[name]}
        if observation.padding[name] >= 0:
            entry["padding_idx"] = observation.padding[name]
        parameters.append(entry)
    buffers = [{"name": name, "persistent": name in state.persistent} for name in state.buffers]
    held = {
        "parameters": [entry for entry in parameters if entry["name"] in initializers],
        "buffers": [entry for entry in buffers if entry["name"] in initializers],
    }
    return json.dumps({"version": 1, **held})


def _reached(outputs: dict[str, torch.Tensor], state: State, computed: dict[str, torch.Tensor]) -> set[str]:
    """The parameters that some output depends on. Raises ExportError if one depends on a buffer that was `computed` of others."""
    names = [name for name, x in state.parameters.items() if x.requires_grad]
    sums = [x.sum() for x in outputs.values() if x.requires_grad]
    if not names or not sums:
        return set()
    try:
        gradients = torch.autograd.grad(sums, [*(state.parameters[name] for name in names), *computed.values()], allow_unused=True)
    except RuntimeError as error:
        raise ExportError(f"PyTorch cannot differentiate the module: {error}") from error
    for name, gradient in zip(computed, gradients[len(names) :]):
        if gradient is not None:
            raise ExportError(f"a gradient flows through the buffer {name} to what it was computed of, when it was made: use detach() there")
    return {name for name, gradient in zip(names, gradients) if gradient is not None}


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


class _Watch(TorchDispatchMode):
    """Sees every operator that runs: embeddings with a padding row, what writes into parameters, and what draws random numbers."""

    supports_higher_order_operators = True  # whose graphs it does not look into

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
        self.drawn = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, torch._ops.HigherOrderOperator):
            return func(*args, **kwargs)
        if func.overloadpacket in _LOOKUPS:
            self.look_up(args[0], _argument("padding_idx", func, args, kwargs, otherwise=-1))
        self.stops |= func is torch.ops.aten.detach.default or not torch.is_grad_enabled()
        if torch.Tag.nondeterministic_seeded in func.tags and _drops(func, args, kwargs):
            self.drawn += 1
        if mistaken := _mistaken(func, args, kwargs):
            self.mistaken.add(mistaken)
        self.unknown.update(_unknown(func, args, kwargs))
        for tensor in _written_by(func, args, kwargs):
            name = self.memory.get(tensor.untyped_storage().data_ptr())
            if name is not None and name not in self.written:
                self.written[name] = self.parameters[name].detach().clone()
            self.overwrites |= name is None and tensor.untyped_storage().data_ptr() in self.shared
        results = func(*args, **kwargs)
        if any(x.alias_info is not None and not x.alias_info.is_write for x in func._schema.returns):
            self.shared.update(x.untyped_storage().data_ptr() for x in tree_leaves(results) if isinstance(x, torch.Tensor))
        return results

    def put_back(self) -> None:
        """Undoes what was written; `x.data = y` runs no operator."""
        for name, x in self.parameters.items():
            if x.data_ptr() != self.held[name].data_ptr():
                self.written.setdefault(name, self.held[name].clone())
        values = {self.parameters[name]: value for name, value in self.written.items()}
        _put_back(values, {x: self.held[name] for name, x in self.parameters.items()})

    def look_up(self, table: torch.Tensor, padding: int) -> None:
        """Which row takes no gradient is said of a parameter, where a file says nothing of the lookup itself."""
        if any(table is x for x in self.parameters.values()):
            found = self.lookups.setdefault(id(table), set())
            found.add(padding)
            if len(found) > 1:
                self.mistaken.add("lookups of one table with different rows for padding (padding_idx), or with one and with none")
        elif padding >= 0:
            self.mistaken.add("an embedding with a row for padding (padding_idx) whose table is computed")


def _written_by(func, args, kwargs) -> Iterator[torch.Tensor]:
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
_MASKS = (functional.alpha_dropout, functional.feature_alpha_dropout)
"""Dropouts that exporters take apart: the random masks that are left would drop in evaluation, too."""


class _Calls(TorchFunctionMode):
    """Sees calls that are other operators by the time _Watch sees them, hooks that are registered and derivatives that are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks, self.derives = False, False
        self.unknown: set[str] = set()
        """What exporters of ONNX leave out without a word."""
        self.masks: set[str] = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.hooks |= func is torch.Tensor.register_hook
        self.derives |= func is torch.autograd.grad
        if func in _CALLS:
            text, is_lost = _CALLS[func]
            if is_lost(_given(func, args, kwargs)):
                self.unknown.add(text)
        if func in _MASKS:
            given = _given(func, args, kwargs)
            if given["training"] and given["p"] > 0:
                self.masks.add(func.__name__)
        return func(*args, **kwargs)


def _given(func, args, kwargs) -> dict:
    """The arguments of a call by name, those left out included."""
    bound = inspect.signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b)


def _statistics(module: torch.nn.Module, changed: list[str], state: State) -> dict[str, str]:
    """The batch norms whose statistics are among the changed buffers; no other buffer may be."""
    first = state.first_names()
    owners: dict[str, tuple[str, torch.nn.Module]] = {}
    for path, part in module.named_modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            for leaf in ("running_mean", "running_var", "num_batches_tracked"):
                name = f"{path}.{leaf}" if path else leaf
                owners[first.get(name, name)] = (path, part)
    result = {}
    for name in changed:
        if name not in owners:
            raise ExportError(
                f"the forward pass changes the buffer {name}, and ONNX has no way to say so: only batch norms "
                "may move statistics. Compute it outside of the module, or make it a parameter"
            )
        path, part = owners[name]
        if part.momentum is None:
            raise ExportError(f"the batch norm {path} averages over all batches (momentum=None): give it a momentum")
        if not name.endswith("num_batches_tracked"):
            result[name] = path
    return result
