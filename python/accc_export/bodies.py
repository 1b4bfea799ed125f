# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops, torch.cond, scan and other higher-order operators, in runs that modes of PyTorch's watch."""

import contextlib
import functools
import types
from collections.abc import Iterator
from unittest import mock

import torch
from torch._higher_order_ops import utils
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class WatchingMode(TorchDispatchMode):
    """A mode in which such an operator is what it is without one. PyTorch (2.15) does not trace its functions in a mode, and then
    gives no gradient to what they hold, such as the parameters of a layer, or fails."""

    supports_higher_order_operators = True
    tracing = False

    def __enter__(self):
        if not hasattr(self, "entered"):
            self.entered = []
        self.entered.append(_traced_bodies())
        self.entered[-1].__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.entered.pop().__exit__(*error)

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Whether PyTorch traces in spite of the mode. What a module compiles itself (torch.compile) runs as it is: the mode sees its operators."""
        return WatchingMode.tracing


class BodiesMode(WatchingMode):
    """Calls `operator` for every operator, also those that a higher-order one runs, for which PyTorch leaves the mode."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(function, torch._ops.HigherOrderOperator):
            args, kwargs = tree_map(self._entered, (args, kwargs))
            return function(*args, **kwargs)
        return self.operator(function, args, kwargs)

    def operator(self, function, args, kwargs):
        raise NotImplementedError

    def _entered(self, x):
        is_called = isinstance(x, (types.FunctionType, types.MethodType, functools.partial, torch.nn.Module))
        return functools.partial(self._call, x) if is_called else x

    def _call(self, function, *args, **kwargs):
        with self:
            return function(*args, **kwargs)


@contextlib.contextmanager
def _traced_bodies() -> Iterator[None]:
    """Lets PyTorch trace what a higher-order operator calls."""
    name = "_hop_compile_and_call"
    call = getattr(utils, name, None)
    if call is None:  # older versions
        yield
        return

    def traced(*args, **kwargs):
        with mock.patch.object(WatchingMode, "tracing", True):
            return call(*args, **kwargs)

    with mock.patch.object(utils, name, traced):
        yield
