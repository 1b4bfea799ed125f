# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks of attention that are made element by element, by functions of places under torch.vmap."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch._dynamo import _trace_wrapped_higher_order_op as wrapped


@contextlib.contextmanager
def plain_indices() -> Iterator[None]:
    """Inside, such a function reads `x[b, q]` by aten.index. Otherwise it reads by an autograd.Function, which PyTorch (2.15) writes into no
    file."""
    with mock.patch.object(wrapped, "mod_index", _indexed):
        yield


def _indexed(x: torch.Tensor, indices: list[torch.Tensor]) -> torch.Tensor:
    return torch.ops.aten.index(x, indices) if indices else x
