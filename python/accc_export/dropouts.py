# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropouts in a form that stays one."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch


@contextlib.contextmanager
def plain_dropouts() -> Iterator[None]:
    """Calls torch.dropout for dropouts in place and for those of whole channels.

    PyTorch (2.15) takes the others apart when it writes ONNX or a joint graph. What it writes are random masks, which nothing
    tells from randomness that is meant: they would drop in evaluation, too.
    """
    calls = {"dropout_": _in_place, "feature_dropout": _of_channels, "feature_dropout_": _of_channels_in_place}
    with contextlib.ExitStack() as stack:
        for name, call in calls.items():  # where torch.nn.functional finds them
            stack.enter_context(mock.patch.object(torch._VF, name, call))
        yield


def _in_place(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x.copy_(torch.dropout(x, p, train)) if train and p > 0 else x


def _of_channels(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x * _mask(x, p) if train and p > 0 else x


def _of_channels_in_place(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x.mul_(_mask(x, p)) if train and p > 0 else x


def _mask(x: torch.Tensor, p: float) -> torch.Tensor:
    return torch.dropout(x.new_ones((*x.shape[:2], *[1] * (x.dim() - 2))), p, True)
