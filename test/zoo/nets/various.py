# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recommenders, graphs, control, physics."""

import torch
from torch import nn
from torch.nn import functional


class Dlrm(nn.Module):
    """Dense features beside embedding bags; all pairs of vectors interact by their products."""

    def __init__(self, tables=3, rows=20, width=8):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1), persistent=False)

    def forward(self, dense, sparse):
        dense = self.bottom(dense)
        vectors = torch.stack([dense, *(bag(x) for bag, x in zip(self.bags, sparse.unbind(1)))], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat([dense, products], 1))


def deep_recommender(items=60):
    """nvidia_deeprecommender: an autoencoder of ratings, with SELU."""
    return nn.Sequential(
        nn.Linear(items, 32),
        nn.SELU(),
        nn.Linear(32, 16),
        nn.SELU(),
        nn.Linear(16, 32),
        nn.SELU(),
        nn.Linear(32, items),
    )


class Graph(nn.Module):
    """basic_gnn_*: two layers of message passing over edges, by gather and scatter."""

    def __init__(self, kind, inputs=8, width=16, classes=4):
        super().__init__()
        layer = {"gcn": _Gcn, "sage": _Sage, "gin": _Gin, "edgecnn": _EdgeCnn}[kind]
        self.first, self.second = layer(inputs, width), layer(width, classes)

    def forward(self, x, edges):
        return self.second(functional.relu(self.first(x, edges)), edges)


class _Gcn(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear, self.bias = nn.Linear(inputs, outputs, bias=False), nn.Parameter(torch.zeros(outputs))

    def forward(self, x, edges):
        source, target = edges
        degrees = torch.ones_like(x[:, 0]).index_add(0, target, torch.ones_like(source, dtype=x.dtype))
        scale = degrees.rsqrt()
        x = self.linear(x)
        messages = x[source] * (scale[source] * scale[target])[:, None]
        own = x * (scale * scale)[:, None]
        return own.scatter_add(0, target[:, None].expand_as(messages), messages) + self.bias


class _Sage(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.neighbours, self.own = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edges):
        source, target = edges
        mean = torch.zeros_like(x).index_reduce(0, target, x[source], "mean", include_self=False)
        return self.neighbours(mean) + self.own(x)


class _Gin(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(
            nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU(), nn.Linear(outputs, outputs)
        )

    def forward(self, x, edges):
        source, target = edges
        return self.mlp((1 + self.eps) * x + torch.zeros_like(x).index_add(0, target, x[source]))


class _EdgeCnn(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2 * inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))
        self.outputs = outputs

    def forward(self, x, edges):
        source, target = edges
        messages = self.mlp(torch.cat([x[target], x[source] - x[target]], 1))
        empty = x.new_zeros(len(x), self.outputs)
        at = target[:, None].expand_as(messages)
        return empty.scatter_reduce(0, at, messages, "amax", include_self=False)


class Energy(nn.Module):
    """lennard_jones: energies of a potential that a network learns."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, distances):
        predicted = self.body(distances)
        true = 4 * (distances**-12 - distances**-6)
        return functional.mse_loss(predicted, true), predicted.sum(0)


class ActorCritic(nn.Module):
    """soft_actor_critic: a squashed Gaussian with given noise, its log-probability, two critics' minimum."""

    def __init__(self, states=6, actions=2):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, 2 * actions))
        critic = lambda: nn.Sequential(nn.Linear(states + actions, 32), nn.ReLU(), nn.Linear(32, 1))  # noqa: E731
        self.first, self.second = critic(), critic()

    def forward(self, states, noise):
        mean, deviation = self.actor(states).chunk(2, dim=1)
        deviation = torch.exp(-5 + 3.5 * (torch.tanh(deviation) + 1))
        raw = mean + deviation * noise
        action = torch.tanh(raw)
        log = -0.5 * noise**2 - deviation.log() - torch.log(1 - action**2 + 1e-6)
        both = torch.cat([states, action], 1)
        value = torch.minimum(self.first(both), self.second(both))
        return (0.1 * log.sum(1, keepdim=True) - value).mean()


class PixelActor(nn.Module):
    """drq: images padded and shifted, an encoder without pooling, an actor with a layer norm."""

    def __init__(self, actions=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(9, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten())
        self.trunk = nn.Sequential(nn.Linear(8 * 13 * 13, 16), nn.LayerNorm(16), nn.Tanh())
        self.policy = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2 * actions))

    def forward(self, images):
        images = functional.pad(images, (4, 4, 4, 4), mode="replicate")[:, :, 3:35, 5:37] / 255.0 - 0.5
        mean, log = self.policy(self.trunk(self.encoder(images))).chunk(2, dim=-1)
        return torch.tanh(mean), torch.exp(log.clamp(-10, 2))


class Omniglot(nn.Module):
    """maml_omniglot: one inner step of gradient descent inside of the loss."""

    def __init__(self, classes=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3),
            nn.BatchNorm2d(8, momentum=1.0, affine=True),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3),
            nn.BatchNorm2d(8, momentum=1.0, affine=True),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.weight, self.bias = nn.Parameter(torch.randn(classes, 200) * 0.05), nn.Parameter(torch.zeros(classes))

    def forward(self, support, labels, query, wanted):
        known = self.features(support)
        error = functional.softmax(known @ self.weight.t() + self.bias, 1) - functional.one_hot(labels, len(self.bias))
        error = error / len(labels)
        weight, bias = self.weight - 0.4 * error.t() @ known, self.bias - 0.4 * error.sum(0)
        return functional.cross_entropy(self.features(query) @ weight.t() + bias, wanted)
