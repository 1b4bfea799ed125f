# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropouts in a form that stays one."""

import contextlib
import sys
from collections.abc import Iterator
from unittest import mock

import torch


@contextlib.contextmanager
def plain_dropouts(as_factors: bool = False) -> Iterator[None]:
    """Calls torch.dropout for dropouts in place and for those of whole channels.

    PyTorch (2.15) takes the others apart when it writes ONNX or a joint graph. What it writes are random masks, which nothing
    tells from randomness that is meant: they would drop in evaluation, too. So it does with derivatives of dropouts that
    themselves have one: `as_factors` drops ones, and multiplies with what is left.
    """
    calls = {"dropout_": _in_place, "feature_dropout": _of_channels, "feature_dropout_": _of_channels_in_place}
    calls |= {"dropout": _as_factor} if as_factors else {}
    with contextlib.ExitStack() as stack:
        for name, call in calls.items():  # where torch.nn.functional finds them
            stack.enter_context(mock.patch.object(torch._VF, name, call))
        yield


@contextlib.contextmanager
def plain_drop_paths() -> Iterator[None]:
    """Calls torch.dropout for stochastic depth, whose module draws by self.training, which no file has: torchvision's and timm's."""
    calls = {
        ("torchvision.ops.stochastic_depth", "stochastic_depth"): _stochastic_depth,
        ("timm.layers.drop", "drop_path"): _drop_path,
    }
    with contextlib.ExitStack() as stack:
        for (module, name), call in calls.items():
            if module in sys.modules:
                stack.enter_context(mock.patch.object(sys.modules[module], name, call))
        yield


def _stochastic_depth(input: torch.Tensor, p: float, mode: str, training: bool = True) -> torch.Tensor:
    return input * _mask(input, p, input.shape[0] if mode == "row" else 1) if training and p > 0 else input


def _drop_path(x: torch.Tensor, drop_prob: float = 0.0, training: bool = False, scale_by_keep: bool = True) -> torch.Tensor:
    if not training or drop_prob == 0:
        return x
    mask = _mask(x, drop_prob, x.shape[0])
    return x * (mask if scale_by_keep else (mask != 0).to(x.dtype))


def _in_place(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x.copy_(torch.dropout(x, p, train)) if train and p > 0 else x


def _as_factor(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x * _mask(x, p, *x.shape) if train and p > 0 else x


def _of_channels(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x * _mask(x, p, *x.shape[:2]) if train and p > 0 else x


def _of_channels_in_place(x: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    return x.mul_(_mask(x, p, *x.shape[:2])) if train and p > 0 else x


def _mask(x: torch.Tensor, p: float, *outer: int) -> torch.Tensor:
    """Ones of which a dropout has taken some, one for each index of the outer dimensions."""
    return torch.dropout(x.new_ones((*outer, *[1] * (x.dim() - len(outer)))), p, True)
