# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of which forward may ask for the values: those that it makes of numbers, and those that the module holds."""

import contextlib
from collections.abc import Iterable, Iterator
from unittest import mock

import torch
from torch._subclasses import fake_tensor
from torch.fx.experimental import proxy_tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

_ELEMENTS = 4096
_GRIDS = (torch.linspace, torch.logspace, torch.arange)
_PLAIN = (int, float, bool, type(None), torch.dtype, torch.device, torch.layout)
"""The types of arguments that no trace makes anything of."""


class _Grids(TorchFunctionMode):
    """Makes grids, such as a solver's times, of a list of their numbers, which tracers know. PyTorch (2.15) knows no tensor that an
    operator makes of nothing. Integers may be places, which compilers know as such."""

    def __init__(self, *, integers: bool = False) -> None:
        super().__init__()
        self.integers = integers

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in _GRIDS and all(type(x) in _PLAIN for x in (*args, *kwargs.values())):
            with _disable_current_modes():
                grid = function(*args, **kwargs)
            if (self.integers or grid.is_floating_point()) and grid.numel() <= _ELEMENTS and not grid.requires_grad:
                return torch.tensor(grid.tolist(), dtype=grid.dtype, device=grid.device)
        return function(*args, **kwargs)


@contextlib.contextmanager
def known_constants(fixed: Iterable[torch.Tensor] = ()) -> Iterator[None]:
    """Inside, tracers know the values of small tensors that forward makes of numbers, as it may ask for: a solver compares its times.

    PyTorch (2.15) knows those of one element. What is written into is not known any more, here as there. It knows none of what
    the module holds: those of `fixed`, which no pass writes, are known here, as is the flag of a layer that was initialised by
    its first batch.
    """
    held = {id(x): x for x in fixed if x.numel() <= _ELEMENTS}
    convert = fake_tensor.FakeTensorConverter.from_real_tensor

    def converted(self, mode, tensor, *args, **kwargs):
        fake = convert(self, mode, tensor, *args, **kwargs)
        if id(tensor) in held and fake.constant is None:
            fake.constant = tensor.detach().clone()
            self.add_constant_storage_mapping(fake)
        return fake

    with contextlib.ExitStack() as stack:
        for module in (fake_tensor, proxy_tensor):
            if hasattr(module, "CONSTANT_NUMEL_LIMIT"):
                stack.enter_context(mock.patch.object(module, "CONSTANT_NUMEL_LIMIT", _ELEMENTS))
        stack.enter_context(mock.patch.object(fake_tensor.FakeTensorConverter, "from_real_tensor", converted))
        stack.enter_context(_Grids())
        yield



def known_ranges() -> contextlib.AbstractContextManager:
    """Inside, tracers know the integers of torch.arange as well: losses list dimensions so, `torch.arange(2, x.ndim).tolist()`."""
    return _Grids(integers=True)
