# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives and integrals of sampled functions, elements that a constant mask chooses, pooling at random places, kernels as
wide as an image is shrunk."""

import torch
from torch.nn import functional as F

MASK = torch.tensor([[True, False, True], [False, True, True]])
POINTS = torch.tensor([0.0, 0.5, 2.0])
REPEATED = torch.tensor([[3, 1, 1], [3, 3, 1]])
PLACES = torch.tensor([[[0.3, 0.8], [0.6, 0.1]]])


def image(x):
    """A parameter of two rows and three columns as an image [1, 2, 7, 6]."""
    return torch.sin(x[None, :, :, None].repeat(1, 1, 3, 6)[:, :, :7] * torch.arange(1.0, 7.0))


def spread(x, different, places, counts):
    """A parameter by what differs in REPEATED."""
    return x.flatten()[places] * different.sum() + x * counts.square().sum()


NUMERICS = {
    "trapezoid": lambda x: torch.trapezoid(x, dim=0), "trapezoid_points": lambda x: torch.trapz(x, POINTS.to(x)) * torch.trapezoid(x, x.exp()),
    "cumulative_trapezoid": lambda x: torch.cumulative_trapezoid(x, dx=0.5) * torch.cumulative_trapezoid(x, POINTS.to(x)),
    "gradient": lambda x: torch.gradient(x, dim=1)[0] * torch.gradient(x, spacing=0.5, dim=(0, 1))[0], "gradient_edges": lambda x: torch.gradient(x, spacing=2.0, dim=1, edge_order=2)[0],
    "kron": lambda x: torch.kron(x, x.exp()), "kron_ranks": lambda x: torch.kron(x[0], x[None]), "vander": lambda x: torch.linalg.vander(x, N=4),
    "rank": lambda x: x * torch.linalg.matrix_rank(x @ x.mT) * torch.linalg.matrix_rank(x[:, :1] @ x[:1], hermitian=False), "tensordot_one": lambda x: torch.tensordot(x[:, :1], x, ([1], [1])),
    "masked_select": lambda x: x.masked_select(MASK), "nonzero": lambda x: x * MASK.nonzero().sum(0)[0], "where_true": lambda x: x[torch.where(MASK)],
    "nonzero_static": lambda x: x * (torch.nonzero_static(x > 0, size=4).sum(1)[:3] + 0.5),
    "unique": lambda x: spread(x, *torch.unique(REPEATED, return_inverse=True, return_counts=True)), "unique_columns": lambda x: spread(x, *torch.unique(REPEATED + 1, dim=1, return_inverse=True, return_counts=True)),
    "unique_neighbors": lambda x: spread(x, *torch.unique_consecutive(REPEATED + 2, return_inverse=True, return_counts=True)),
    "antialias": lambda x: F.interpolate(image(x), (3, 8), mode="bilinear", antialias=True), "antialias_cubic": lambda x: F.interpolate(image(x), (8, 2), mode="bicubic", antialias=True, align_corners=True),
    "fractional": lambda x: F.fractional_max_pool2d(image(x), (2, 3), (4, 3), _random_samples=PLACES.to(x)), "fractional_volume": lambda x: F.fractional_max_pool3d(image(x)[:, None], (1, 2, 1), (1, 5, 4), _random_samples=torch.tensor([[[0.9, 0.4, 0.2]]]).to(x)),
    "lowest_of_all": lambda x: x.min() * x.max(),
}
