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
from torch.utils._pytree import tree_leaves

from .watching import written_by

_ELEMENTS, _MANY = 4096, 2**18
"""How many elements a tensor has at most of which the values are known; and where forward asks for them, such as the mask of 512 tokens."""

_GRIDS = (torch.linspace, torch.logspace, torch.arange)
_FILLED = (torch.eye, torch.full, torch.ones, torch.zeros)
_PLAIN = (int, float, bool, type(None), torch.dtype, torch.device, torch.layout)
"""The types of arguments that no trace makes anything of."""


class _Grids(TorchFunctionMode):
    """Makes grids, such as a solver's times, of a list of their numbers, which tracers know. PyTorch (2.15) knows no tensor that an
    operator makes of nothing. Integers may be places, which compilers know as such, and what is filled is mostly written into: of
    those, all that forward makes are known only where it asks for values."""

    def __init__(self, *, every: bool = False) -> None:
        super().__init__()
        self.every, self.most = every, _MANY if every else _ELEMENTS

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        made = (*_GRIDS, *_FILLED) if self.every else _GRIDS
        if function in made and all(type(x) in _PLAIN for x in tree_leaves((args, kwargs))):
            with _disable_current_modes():
                grid = function(*args, **kwargs)
            if (self.every or grid.is_floating_point()) and grid.numel() <= self.most and not grid.requires_grad:
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
        stack.enter_context(_known_up_to(_ELEMENTS))
        stack.enter_context(mock.patch.object(fake_tensor.FakeTensorConverter, "from_real_tensor", converted))
        stack.enter_context(_forgotten_where_written())
        stack.enter_context(_Grids())
        yield


@contextlib.contextmanager
def all_known() -> Iterator[None]:
    """Inside, tracers know the integers of torch.arange as well, and what is filled with a number: losses list dimensions by
    `torch.arange(2, x.ndim).tolist()`, and a transformer asks whether the mask that it is given is the causal one."""
    with _known_up_to(_MANY), _Grids(every=True):
        yield


@contextlib.contextmanager
def _forgotten_where_written() -> Iterator[None]:
    """Inside, a tensor is not known any more where what is not known is written into a view of it. PyTorch (2.15) then takes the view alone for
    unknown, and would decide branches by what the whole was before."""
    traced = proxy_tensor.proxy_call

    def call(mode, func, pre_dispatch, args, kwargs):
        slots = mode.tracer.tensor_tracker
        before = [(x, slots[x].constant) for x in written_by(func, args, kwargs) if x in slots]
        results = traced(mode, func, pre_dispatch, args, kwargs)
        for x, constant in before:
            if constant is not None and slots[x].constant is None:
                address = constant.untyped_storage().data_ptr()
                for slot in list(slots.values()):
                    if slot.constant is not None and slot.constant.untyped_storage().data_ptr() == address:
                        slot.constant = None
        return results

    with mock.patch.object(proxy_tensor, "proxy_call", call):
        yield


@contextlib.contextmanager
def _known_up_to(elements: int) -> Iterator[None]:
    """Inside, tracers know what operators make of known tensors, if it has no more elements than this, or than around it."""
    with contextlib.ExitStack() as stack:
        for module in (fake_tensor, proxy_tensor):
            if hasattr(module, "CONSTANT_NUMEL_LIMIT"):
                limit = max(elements, module.CONSTANT_NUMEL_LIMIT)
                stack.enter_context(mock.patch.object(module, "CONSTANT_NUMEL_LIMIT", limit))
        yield
