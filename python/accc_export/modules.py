# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a module consists of, and how it is left as it was."""

import contextlib
import copy
import dataclasses
import types
from collections.abc import Iterable, Iterator

import torch
from torch.overrides import TorchFunctionMode

from .attributes import address_of, preserved_attributes
from .errors import ExportError


@dataclasses.dataclass
class State:
    """The tensors of a module: parameters and buffers by the first of their names. Parameters of integers, which have no gradient, are
    buffers here."""

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
    saved = module.state_dict(keep_vars=True)  # which may have other names: a part around another takes its own out of them
    tensors = {id(x) for x in saved.values()}
    first: dict[int, str] = {}
    aliases: dict[str, list[str]] = {}
    parameters, buffers = {}, {}
    for source in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, tensor in source:
            if id(tensor) in first:
                aliases[first[id(tensor)]].append(name)
                continue
            first[id(tensor)] = name
            aliases[name] = []
            is_parameter = isinstance(tensor, torch.nn.Parameter) and (tensor.is_floating_point() or tensor.is_complex())
            (parameters if is_parameter else buffers)[name] = tensor
            if tensor.is_meta or isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
                raise ExportError(f"{name} has no values: initialise the module before exporting it")
    return State(parameters, buffers, {name for name, x in buffers.items() if name in saved or id(x) in tensors}, aliases)


@contextlib.contextmanager
def preserved(module: torch.nn.Module) -> Iterator[None]:
    """Leaves the module as it was: modes, buffers, other attributes, gradients, and PyTorch's random numbers.

    Inside, a module in evaluation mode is in training mode; parts of a module in training mode stay
    in the mode that they are in (a batch norm whose statistics are frozen). Gradients are computed, and nothing is cast, whatever
    PyTorch was told around the call.
    """
    parameters = {x: (x.requires_grad, x.grad) for x in module.parameters()}
    buffers = {x for x in module.buffers()}
    devices = sorted({x.device.index or 0 for x in (*parameters, *buffers) if x.is_cuda})
    try:
        with _ordinary(), torch.random.fork_rng(devices=devices), preserved_buffers(module), preserved_modes(module):
            if not module.training:
                module.train()
            yield
    finally:
        for parameter, (trained, gradient) in parameters.items():
            parameter.requires_grad_(trained)
            parameter.grad = gradient


AUTOCAST = ("cpu", "cuda")
"""The devices that torch.autocast may be on for."""


@contextlib.contextmanager
def _ordinary() -> Iterator[None]:
    """Inside, torch.no_grad(), torch.inference_mode() and torch.autocast() around are off."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for device in AUTOCAST:
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        yield


@contextlib.contextmanager
def preserved_modes(module: torch.nn.Module) -> Iterator[None]:
    """Leaves each part in its mode, with its attributes, and the parameters as they were where a part has a train() of its own: there are
    some that add their updates to a weight for evaluation."""
    modes = {part: part.training for part in module.modules()}
    base = torch.nn.Module
    has_own = any(type(part).train is not base.train or type(part).eval is not base.eval for part in modes)
    with preserved_attributes(module), preserved_values(module.parameters() if has_own else ()):
        try:
            yield
        finally:
            for part, mode in modes.items():
                part.training = mode


@contextlib.contextmanager
def evaluating(module: torch.nn.Module) -> Iterator[None]:
    """Inside, the module is in evaluation mode."""
    with preserved_modes(module):
        module.eval()
        yield


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
    values = {x: x.detach().clone() for x in tensors if x.layout is torch.strided}
    memory = {x: x.data for x in values}
    try:
        yield
    finally:
        put_back(values, memory)


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


class _Cut(TorchFunctionMode):
    """Copies tensors that were computed as ones that were not: copy.deepcopy refuses those of a graph, and some sparse ones. What is in the memory of a
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
            elif not tensor.is_leaf or (tensor.layout is not torch.strided and not isinstance(tensor, torch.nn.Parameter)):
                memo[id(tensor)] = tensor.detach().clone()
            if id(tensor) in memo:
                return memo[id(tensor)]
        return function(*args, **(kwargs or {}))


def copied(module: torch.nn.Module) -> torch.nn.Module:
    """A copy of the module, which may keep results of an earlier pass: the distribution that a policy sampled from. Python modules
    among its attributes are the copy's, too."""
    held = [value for part in module.modules() for value in vars(part).values() if isinstance(value, types.ModuleType)]
    with _Cut(module):
        try:
            return copy.deepcopy(module, {id(value): value for value in held})
        except (RuntimeError, TypeError) as error:
            raise ExportError(f"the module cannot be copied{_uncopied(module)}, and goldens train a copy: {error}") from error


def _uncopied(module: torch.nn.Module) -> str:
    """In a message, which attribute it is that cannot be copied: a lock, an open file."""
    for name, part in module.named_modules():
        for attribute, value in vars(part).items():
            if attribute in ("_parameters", "_buffers", "_modules") or isinstance(value, types.ModuleType):
                continue
            try:
                copy.deepcopy(value)
            except (RuntimeError, TypeError):
                return f" (its attribute {name + '.' if name else ''}{attribute})"
    return ""


def put_back(values: dict[torch.Tensor, torch.Tensor], memory: dict[torch.Tensor, torch.Tensor]) -> None:
    """Gives tensors their values again, in the memory in which these were: `x.data = y` lets it be another."""
    with torch.no_grad():
        for tensor, value in values.items():
            if tensor.data_ptr() != memory[tensor].data_ptr():
                tensor.data = memory[tensor]
            if not torch.equal(tensor, value):
                tensor.copy_(value)
