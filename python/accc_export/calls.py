# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a module is called and what it returns, as flat lists of named tensors."""

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from .data import written_buffers
from .errors import ExportError, warn

Inputs = torch.Tensor | Sequence[Any] | Mapping[str, Any]


@dataclasses.dataclass
class Call:
    """One call of a module: `inputs` are the tensors among the arguments, in order and by name.

    What is no tensor among the arguments (None, numbers, flags) is part of the exported model.
    """

    args: tuple
    kwargs: dict[str, Any]
    inputs: dict[str, torch.Tensor]

    def run(self, module: torch.nn.Module, tensors: Sequence[torch.Tensor] | None = None) -> dict[str, torch.Tensor]:
        """Calls the module with copies of these tensors in place of the inputs; its outputs by name."""
        args, kwargs = self.arguments(copies(self.inputs.values() if tensors is None else tensors))
        return name_outputs(module(*args, **kwargs))

    def arguments(self, tensors) -> tuple[tuple, dict[str, Any]]:
        rest = iter(tensors)
        return tuple(_rebuild(x, rest) for x in self.args), {k: _rebuild(x, rest) for k, x in self.kwargs.items()}


def copies(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Tensors that a module may write into."""
    return [x.detach().clone().requires_grad_(x.requires_grad) for x in tensors]


def make_call(module: torch.nn.Module, inputs: Inputs, names: Sequence[str] | None = None) -> Call:
    """Binds example inputs to the parameters of `module.forward`, whose names the tensors get.

    Arguments that are lists or dicts of tensors give one input each, `states_0`, `states_1`. `names`
    replaces all of these names.
    """
    if isinstance(inputs, Mapping):
        args, kwargs = (), dict(inputs)
    else:
        args, kwargs = ((inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)), {}
    signature = inspect.signature(module.forward)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ExportError(f"example_inputs do not fit {type(module).__name__}.forward{signature}: {error}") from None
    named: list[tuple[str, torch.Tensor]] = []
    args = tuple(bound.args)
    positional = iter(bound.args)
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            for i, value in enumerate(positional):
                named += _tensors(f"{name}_{i}", value)
        elif parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            if name in bound.arguments and name not in bound.kwargs:
                named += _tensors(name, next(positional))
    for name, value in bound.kwargs.items():
        named += _tensors(name, value)
    if not named:
        raise ExportError("there is no tensor among example_inputs")
    if names is not None:
        if len(names) != len(named):
            raise ExportError(f"{len(names)} input names for {len(named)} tensors: {', '.join(n for n, _ in named)}")
        named = [(new, tensor) for new, (_, tensor) in zip(names, named)]
    if len({name for name, _ in named}) != len(named):
        raise ExportError(f"two inputs have one name: {', '.join(name for name, _ in named)}")
    for name, x in named:
        if x.is_nested or x.is_quantized or x.layout is not torch.strided:
            raise ExportError(f"the input {name} is nested, quantized or sparse: pass it as a dense tensor, with a mask or lengths where rows end")
    return Call(args, dict(bound.kwargs), {name: x.resolve_conj().resolve_neg() for name, x in named})


def name_outputs(value: Any) -> dict[str, torch.Tensor]:
    """The tensors of what a module returned: by key, field or position.

    A tensor alone is `output`; those of a tuple are `output_0`, `output_1`.
    """
    names = _fields(value)
    if names is None and isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    found: dict[str, torch.Tensor] = {}
    parts = [("output", value)] if names is None else names
    for name, part in parts:
        for full, tensor in _tensors(name, part, strict=False):
            if full in found:
                raise ExportError(f"two outputs have the name {full}")
            found[full] = tensor
    if not found:
        raise ExportError(f"the module returns no tensor, but {type(value).__name__}")
    return found


Returned = Callable[[dict[str, torch.Tensor], Sequence[torch.Tensor]], Any]
"""From the outputs of a module by name, and the tensors after its inputs, to what is returned in their place."""


@contextlib.contextmanager
def flat_forward(
    module: torch.nn.Module, call: Call, names: Sequence[str] = (), returned: Returned | None = None
) -> Iterator[None]:
    """Lets `module` take and return flat tensors, under the names of its own parameters.

    A module around it would do the same, and put its name before every parameter's. `names` are those of the
    arguments, the inputs first; by default the arguments are the inputs, and what is returned a tuple of the outputs.
    """
    original = module.forward
    own = vars(module).get("forward")

    def forward(*tensors):
        args, kwargs = call.arguments(tensors[: len(call.inputs)])
        with written_buffers(module):
            outputs = name_outputs(original(*args, **kwargs))
        return returned(outputs, tensors[len(call.inputs) :]) if returned else tuple(outputs.values())

    # Names of arguments need be identifiers; input_names say how they are called in the file.
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = names or [f"x{i}" for i in range(len(call.inputs))]
    forward.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    vars(module)["forward"] = forward
    try:
        yield
    finally:
        del vars(module)["forward"]
        if own is not None:
            vars(module)["forward"] = own


def _fields(value: Any) -> list[tuple[str, Any]] | None:
    """Names and values of a dict, a dataclass or a named tuple; None for anything else."""
    if isinstance(value, Mapping):  # Hugging Face's ModelOutput is one, of the fields that are not None
        return [(str(name), part) for name, part in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value))
    return None


def _tensors(name: str, value: Any, strict: bool = True) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    parts = _fields(value)
    if parts is None and isinstance(value, (list, tuple)):
        parts = [(str(i), part) for i, part in enumerate(value)]
    for part, element in parts or []:
        yield from _tensors(f"{name}_{part}", element, strict)
    if parts is None and not isinstance(value, (type(None), bool, int, float, str, torch.dtype, torch.device)):
        what = f"{name} is of type {type(value).__name__}, which ONNX has no tensor for"
        if strict:
            raise ExportError(f"the input {what}: pass tensors, or lists and dicts of them")
        warn(f"the output {what}: it is left out")


def _rebuild(value: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """`value` with its tensors replaced, in the order in which `_tensors` finds them."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, Mapping):
        return {key: _rebuild(part, tensors) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_rebuild(part, tensors) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_rebuild(part, tensors) for part in value)
    return value
