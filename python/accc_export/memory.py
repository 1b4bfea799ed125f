# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters that are no tensors of their own: a file holds each by itself, and so does what trains it."""

import itertools

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .errors import ExportError
from .modules import State, address_of

Range = tuple[int, int]


def check_memory(state: State) -> None:
    """Raises ExportError for a parameter that has elements in the place of others, its own or another's, and for one that is no plain
    tensor."""
    if quantized := [name for name, x in state.tensors().items() if x.is_quantized]:
        raise ExportError(f"{quantized[0]} is quantized, and a file holds plain numbers: dequantize(), or integers with a scale")
    held: dict[int, list[tuple[Range, str]]] = {}
    for name, x in state.parameters.items():
        if is_traceable_wrapper_subclass(x):
            kind = type(x.data).__name__
            raise ExportError(f"the parameter {name} is a {kind}, which is made of other tensors, and a file holds plain ones: give the module such")
        if x.layout is not torch.strided:
            raise ExportError(f"the parameter {name} is sparse ({x.layout}), and a file holds dense ones: to_dense()")
        if x.numel() == 0 or address_of(x) == 0:
            continue
        first, last = _range(x)
        if x.numel() * x.element_size() > last - first:
            raise ExportError(f"elements of the parameter {name} share memory (expand()), and no optimizer trains them so: give it its own (clone())")
        held.setdefault(address_of(x), []).append(((first, last), name))
    for parts in held.values():
        for (one, a), (other, b) in itertools.combinations(sorted(parts), 2):
            x, y = state.parameters[a], state.parameters[b]
            if one[1] > other[0] and (x.requires_grad or y.requires_grad) and _meet(x, y):
                raise ExportError(
                    f"the parameters {a} and {b} share memory, so that training one changes the other, and a file holds each by itself: "
                    "make them one parameter of two names, or give each memory of its own (clone())"
                )


def _range(x: torch.Tensor) -> Range:
    """Where in its storage it begins and ends, in bytes."""
    last = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride()))
    return x.storage_offset() * x.element_size(), (x.storage_offset() + last + 1) * x.element_size()


def _meet(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether both have some element, and not only one between the other's."""
    if x.element_size() != y.element_size():
        return True
    places = torch.arange(max(_range(x)[1], _range(y)[1]) // x.element_size())
    first, second = (places.as_strided(z.shape, z.stride(), z.storage_offset()).flatten() for z in (x, y))
    return bool(torch.isin(first, second).any())
