# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments at the edge of what an operator takes: tensors without dimensions, indices from the end, thresholds that matter."""

import torch
from torch.nn import functional as F

ZERO = torch.zeros((), dtype=torch.int64)
LABELS = torch.tensor([[1, -1, 0], [-1, 1, 1]])  # of what belongs together, or does not; and another
BAGS = {"input": torch.tensor([1, 0, 1, 1]), "offsets": torch.tensor([0, 2])}


def bag(mode, padding, factors=lambda x: None):
    return lambda x: F.embedding_bag(BAGS["input"], x, BAGS["offsets"], mode=mode, padding_idx=padding, per_sample_weights=factors(x))


def in_double(y):
    """The tensor's sum if it is of float64, and the sum of zeros else."""
    return ((y.sum() * 1e-9 + 1) - 1) * 1e9


CORNERS = {
    "cosine_of_numbers": lambda x: F.cosine_similarity(x[0, 0], x[1, 1], dim=0),
    "gather_number": lambda x: x[0, 0].gather(0, ZERO) * x[0, 1].gather(0, ZERO[None]),
    "index_select_number": lambda x: x[0, 0].index_select(0, ZERO),
    "scatter_number": lambda x: x[0, 0].scatter(0, ZERO, x[0, 1]) + x[0, 2].scatter(0, ZERO, 3.0),
    "scatter_add_number": lambda x: x[0, 0].scatter_add(0, ZERO, x[0, 1]),
    "scatter_reduce_number": lambda x: x[0, 0].scatter_reduce(0, ZERO, x[0, 1], "prod") + x[0, 0].scatter_reduce(0, ZERO, x[1, 1], "mean"),
    "circular_less": lambda x: F.pad(x[None], (-1, 1), mode="circular") * F.pad(x[None], (2, -1), mode="circular")[..., :3],
    "softplus_threshold": lambda x: F.softplus(3 * x, 2, 0.5),
    "adaptive_many": lambda x: F.adaptive_avg_pool1d(x.repeat(1, 17), 40), "slice_scatter_far": lambda x: torch.slice_scatter(x, x[:, 1:2].exp(), 1, 1, step=1000),
    "avg_pool_large": lambda x: F.avg_pool2d(x.repeat(7, 5)[None].square(), (13, 6), (12, 5), 2, ceil_mode=True, count_include_pad=False),
    "max_pool_large": lambda x: F.max_pool2d((x[0, 0] * torch.arange(300).sin().reshape(1, 15, 20)), 9, (5, 6), 4),
    "max_pool_long": lambda x: F.max_pool1d((x[0, 0] * torch.arange(300).sin()[None]), 90, 41),
    "hinge_embedding_between": lambda x: F.hinge_embedding_loss(x, torch.tensor([[1.0, -1.0, 0.3], [-1.0, 2.0, 1.0]]).to(x), reduction="none"),
    "labels_as_booleans": lambda x: F.hinge_embedding_loss(x, LABELS > 0, reduction="none") + F.cosine_embedding_loss(x, x.flip(1), LABELS[:, 0] > 0),
    "labels_as_bytes": lambda x: F.hinge_embedding_loss(x, LABELS.byte(), reduction="none") + F.cosine_embedding_loss(x, x.flip(1), LABELS[:, 0].byte()),
    "results_in_double": lambda x: x * sum(in_double(y) for y in (
        F.cross_entropy(x, (LABELS.double() * 2).softmax(1)), F.binary_cross_entropy_with_logits(x, LABELS.double().sigmoid()),
        *torch.gradient(x, spacing=[torch.tensor([0.0, 0.3]).double(), torch.tensor([0.0, 0.3, 0.9]).double()]),
        torch.diff(x, prepend=LABELS.double()), torch.inner(x, LABELS.double()[0, 0]))),
    "bce_whole_weights": lambda x: F.binary_cross_entropy_with_logits(x, LABELS.to(x).sigmoid(), LABELS + 3, pos_weight=torch.tensor(2)),
    "diff_none": lambda x: torch.diff(x, 0, prepend=x, append=x),
    "bag_sum_without_last": bag("sum", -1), "bag_mean_without_last": bag("mean", -1), "bag_max_without_first": bag("max", 0),
    "bag_max_without_last": bag("max", -1),
    "floor_divide_near": lambda x: x * torch.div(torch.tensor([1.0, -1.0, 0.3]).to(x), 0.1, rounding_mode="floor") + x * (torch.tensor([[6.0], [-6.0]]).to(x) // 0.2),
    "pow_of_zero": lambda x: x * torch.tensor([0, 0, 2]).pow(torch.tensor([-1, 0, -1])),
    "linspace_int": lambda x: x * torch.linspace(4.3, -3, 3, dtype=torch.int64),
    "mean_of_ints": lambda x: x * torch.zeros(3, dtype=torch.int64).scatter_reduce(0, torch.tensor([0, 0, 1]), torch.tensor([-1, -2, 3]), "mean"),
    "rnn_cells": lambda x: torch.rnn_tanh_cell(x, x, x.mT @ x, x.mT @ x) + torch.rnn_relu_cell(x, x, x.mT @ x, x.mT @ x, x[0], x[1]),
    "poisson_full": lambda x: F.poisson_nll_loss(x, torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.5, 9.0]]).to(x), full=True, reduction="none"),
    "addbmm_without_sum": lambda x: torch.baddbmm(torch.ones_like(x)[None], x[None], x[None].mT @ x[None], beta=0),
    "bag_by_factors": bag("sum", None, lambda x: x.flatten()[:4].exp()), "bag_by_factors_without_first": bag("sum", 0, lambda x: x.flatten()[2:].sin()),
    "gather_none": lambda x: x + x[0].gather(0, torch.zeros(2, 0, dtype=torch.int64)).sum(),
}
