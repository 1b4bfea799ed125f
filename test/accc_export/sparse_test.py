#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and sparse matrices. PyTorch, with which the training is compared, has them as they are."""

import unittest

import torch
from torch import nn
from torch.nn import functional

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export

PLACES = torch.tensor([[0, 1, 2, 3, 4, 0, 2, 2], [1, 0, 3, 2, 0, 4, 4, 4]])  # the last is there twice
VALUES = torch.tensor([0.5, 0.75, -0.25, 1.5, 0.125, 2.0, -1.0, 0.625])
INPUTS = {"nodes": torch.tensor([0, 2, 4]), "target": torch.tensor([0, 1, 2])}


class Graph(nn.Module):
    """Classes of nodes by those of their neighbours, which `spread` computes of a matrix and of features."""

    def __init__(self, spread, matrix, **parameters):
        super().__init__()
        self.features, self.classes, self.spread = nn.Embedding(5, 4), nn.Linear(4, 3), spread
        self.places = PLACES
        for name, x in parameters.items():
            self.register_parameter(name, nn.Parameter(x))
        self.matrix = matrix

    def forward(self, nodes, target):
        x = self.spread(self, self.features.weight)
        return {"loss": functional.cross_entropy(self.classes(x)[nodes], target)}


def multiplied(module, x):
    a = module.matrix
    return torch.sparse.mm(a, x) + torch.spmm(a, x) + a @ x + torch.mm(a, x) + a.mm(x) + torch.matmul(a, x[:, 0])[:, None] + torch.mv(a, x[:, 1])[:, None]


def changed(module, x):
    a = module.matrix
    x = torch.sparse.addmm(x, a * torch.tensor(0.5), x, beta=0.25, alpha=2) + (x.t() @ a).t() + torch.mm(a.coalesce().t(), x) + (-a / 2).transpose(0, 1) @ x
    return x + a.to_dense() @ x + a.coalesce().values().sum() * a.size(0) + a.detach().float().T @ x


def in_rows(module, x):
    return torch.sparse.mm(module.matrix, x)


def left_out(module, x):
    """As recommenders leave out neighbours: each where what is given to it is large."""
    a = module.matrix.coalesce()
    kept = (a.values() + 0.6).int().bool()
    places, values = a.indices().t()[kept], a.values()[kept] / 0.7
    return torch.sparse.mm(torch.sparse.FloatTensor(places.t(), values, a.size()), x)


def weighted(module, x):
    weights = torch.tanh(module.weights) + x[PLACES[0], 0] * x[PLACES[1], 1]
    return torch.sparse.mm(torch.sparse_coo_tensor(module.places, weights, (5, 5)), x)


class SparseTest(ExportCase):
    def setUp(self):
        super().setUp()
        self.matrix = torch.sparse_coo_tensor(PLACES, VALUES, (5, 5))

    def trained(self, module):
        for exporter in ("torch.export", "joint", "dynamo"):
            golden = self.folder / "golden"
            accc_export.golden(module, INPUTS, golden, loss="output:loss", exporter=exporter, steps=2)
            self.compare_library(golden, exporter)

    def refused(self, pattern, spread):
        with self.refusal(pattern):
            accc_export.export(Graph(spread, self.matrix), INPUTS, self.folder / "m.pt2")

    def test_products(self):
        module = Graph(multiplied, self.matrix)
        self.trained(module)
        self.assertIs(module.matrix, self.matrix)
        self.trained(Graph(changed, self.matrix))
        self.trained(Graph(left_out, self.matrix))

    def test_layouts(self):
        self.trained(Graph(in_rows, self.matrix.to_sparse_csr()))
        module = Graph(in_rows, None)
        module.register_buffer("before", torch.zeros(2))
        del module.matrix
        module.register_buffer("matrix", self.matrix)
        module.register_buffer("after", torch.zeros(2))
        self.trained(module)
        self.assertEqual([name for name, _ in module.named_buffers()], ["before", "matrix", "after"])
        self.assertIs(module.matrix, self.matrix)

    def test_values_that_are_computed(self):
        self.trained(Graph(weighted, None, weights=torch.randn(8)))

    def test_refusals(self):
        self.refused("forward multiplies sparse matrices with one another", lambda module, x: (module.matrix @ module.matrix) @ x)
        self.refused(r"forward calls \w*softmax of a sparse matrix", lambda module, x: torch.sparse.softmax(module.matrix, 1) @ x)
        self.refused("forward calls mul of a sparse matrix", lambda module, x: (module.matrix * torch.ones(5, 5)) @ x)
        self.refused("forward calls div of a sparse matrix", lambda module, x: (module.matrix / module.matrix) @ x)
        self.refused("forward calls sum of a sparse matrix", lambda module, x: module.matrix.sum() + x)
        self.refused("asks for the places of a sparse matrix that it made", lambda module, x: module.matrix.t().coalesce().values().sum() + x)


if __name__ == "__main__":
    unittest.main()
