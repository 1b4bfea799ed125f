# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What forward reads and writes by a tensor's `.data`, what it freezes for a while, what it sets for buffers, and parts that it converts, in
a form that tracers follow."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map_only

from .errors import ExportError
from .watching import requirement


@contextlib.contextmanager
def traced_data() -> Iterator[None]:
    """Inside, `x.data` is x.detach(), and `x.data = y` writes y into it.

    PyTorch (2.15) traces neither: torch.export fails, and the TorchScript exporter writes the numbers of the example.
    """
    with mock.patch.object(torch.Tensor, "data", _Data().attribute(), create=True):
        yield


class _Data:
    """The attribute, and what was read by it."""

    def __init__(self) -> None:
        self.read: list[tuple[torch.Tensor, torch.Tensor]] = []

    def attribute(self) -> property:
        return property(self.get, self.set)

    def get(self, x: torch.Tensor) -> torch.Tensor:
        self.read.append((x, x.detach()))
        return self.read[-1][1]

    def set(self, x: torch.Tensor, y: torch.Tensor) -> None:
        if any(held is x and data is y for held, data in self.read):  # x.data = x.data.to(device), which has it already
            return
        if (x.shape, x.dtype) == (y.shape, y.dtype):
            x.detach().copy_(y.detach())
        else:
            torch._C.TensorBase.data.__set__(x, y)


class TracedFreezes(TorchFunctionMode):
    """Inside, a parameter that is said to require no gradient is read by detach() until it is said to require one, as a discriminator's
    are while a generator is trained. PyTorch (2.15) traces nothing of that."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen: set[torch.Tensor] = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        required = requirement(func, args, kwargs)
        if required is False and isinstance(args[0], torch.nn.Parameter):
            self.frozen.add(args[0])
            return args[0]
        if required and args[0] in self.frozen:
            self.frozen.remove(args[0])
            return args[0]
        if self.frozen:
            args, kwargs = tree_map_only(torch.Tensor, lambda x: x.detach() if x in self.frozen else x, (args, kwargs))
        return func(*args, **kwargs)


@contextlib.contextmanager
def written_buffers(module: torch.nn.Module) -> Iterator[None]:
    """What is set inside for a buffer of a part of the module is written into it behind: PyTorch (2.15) loses it in a trace."""
    before = {part: dict(part._buffers) for part in module.modules() if part is not module}
    yield
    for part, held in before.items():
        for name, x in held.items():
            y = part._buffers.get(name)
            if x is None or y is None or y is x or (x.shape, x.dtype) != (y.shape, y.dtype):
                continue
            with torch.no_grad():
                x.copy_(y)
            part._buffers[name] = x


@contextlib.contextmanager
def settled_parts() -> Iterator[None]:
    """Inside, `self.part.to(x.device)` leaves a part as it is that is there, and has that type, which PyTorch (2.15) does not trace."""
    with mock.patch.object(torch.nn.Module, "_apply", _apply):
        yield


def _apply(module: torch.nn.Module, change, recurse: bool = True) -> torch.nn.Module:
    tensors = [*module.parameters(recurse), *module.buffers(recurse)]
    with _disable_current_modes():
        for kind in {(x.dtype, x.device) for x in tensors}:
            x = change(torch.empty(0, dtype=kind[0], device=kind[1]))
            if (x.dtype, x.device) != kind:
                raise ExportError(f"forward converts a {type(module).__name__}, of {kind[0]} on {kind[1]}: convert it before the export")
    return module
