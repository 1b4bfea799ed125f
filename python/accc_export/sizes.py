# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators whose results have sizes that depend on values, of which a trace has none, though nothing that is read depends on them."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch._subclasses import fake_tensor

_LOSSES = torch.ops.aten._ctc_loss.Tensor
_GRADIENT = torch.ops.aten._ctc_loss_backward.Tensor


@contextlib.contextmanager
def traced_alignments() -> Iterator[None]:
    """Inside, tracers follow torch.nn.functional.ctc_loss.

    PyTorch (2.15) refuses it: what it keeps for the gradient is as large as the longest of the texts, which is a value. Here that is
    as large as a text may be; nothing but the gradient reads it.
    """
    rules = [(lambda operator: operator is _LOSSES, _losses), (lambda operator: operator is _GRADIENT, _gradient)]
    loss = torch.ctc_loss

    def of_tensors(scores, labels, times, lengths, *options):
        """Of lists, for which PyTorch makes tensors that no trace sees."""
        times, lengths = (x if isinstance(x, torch.Tensor) else torch.tensor(x) for x in (times, lengths))
        return loss(scores, labels, times, lengths, *options)

    with (
        mock.patch.object(fake_tensor, "op_implementations_checks", [*rules, *fake_tensor.op_implementations_checks]),
        mock.patch.object(torch, "ctc_loss", of_tensors),
    ):
        yield


@contextlib.contextmanager
def traced_selections() -> Iterator[None]:
    """Inside, masked_select() is x[mask], of which a trace knows that one mask selects as many elements each time. PyTorch (2.15) has another
    size for each masked_select(), and does not trace what is computed of two of them, such as a loss."""
    operator = torch.masked_select

    def selected(input: torch.Tensor, mask: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        if out is not None or input.shape != mask.shape:
            return operator(input, mask, out=out)
        return input[mask]

    with mock.patch.object(torch, "masked_select", selected), mock.patch.object(torch.Tensor, "masked_select", selected):
        yield


def _losses(mode, operator, scores, labels, *rest, **options):
    sequences = scores.shape[1:-1]  # how many, or none
    return scores.new_empty(sequences), scores.new_empty((*sequences, scores.shape[0], 2 * labels.shape[-1] + 1))


def _gradient(mode, operator, gradient, scores, *rest, **options):
    return torch.empty_like(scores)
