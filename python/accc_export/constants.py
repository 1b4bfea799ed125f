# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that forward makes of numbers."""

import contextlib
from collections.abc import Iterator
from unittest import mock

from torch._subclasses import fake_tensor
from torch.fx.experimental import proxy_tensor

_ELEMENTS = 4096


@contextlib.contextmanager
def known_constants() -> Iterator[None]:
    """Inside, tracers know the values of small tensors that forward makes of numbers, as it may ask for: a solver compares its times.

    PyTorch (2.15) knows those of one element. What is written into is not known any more, here as there.
    """
    with contextlib.ExitStack() as stack:
        for module in (fake_tensor, proxy_tensor):
            if hasattr(module, "CONSTANT_NUMEL_LIMIT"):
                stack.enter_context(mock.patch.object(module, "CONSTANT_NUMEL_LIMIT", _ELEMENTS))
        yield
