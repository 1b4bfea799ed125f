# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose forward takes derivatives, and whose loss hangs on them. Each is exported with its backward pass."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Equation(nn.Module):
    """Burgers' equation, whose residual has second derivatives, with a viscosity to find."""

    def __init__(self, width=12):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.viscosity = nn.Parameter(torch.tensor(0.1))

    def forward(self, x, t, start):
        x, t = x.requires_grad_(), t.requires_grad_()
        u = self.field(torch.cat([x, t], 1))
        along, rate = torch.autograd.grad(u.sum(), [x, t], create_graph=True)
        (bend,) = torch.autograd.grad(along.sum(), x, create_graph=True)
        residual = rate + u * along - self.viscosity * bend
        first = self.field(torch.cat([x, torch.zeros_like(t)], 1))
        return {"loss": residual.square().mean() + F.mse_loss(first, start), "residual": residual}


class Forces(nn.Module):
    """An energy of atoms that exchange messages, trained by its forces."""

    def __init__(self, width=8):
        super().__init__()
        self.kinds, self.filters, self.inner = nn.Embedding(5, width), nn.Linear(6, width), nn.Linear(width, width, bias=False)
        self.head = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.LayerNorm(width), nn.Linear(width, 1))
        self.register_buffer("centers", torch.linspace(0, 4, 6))

    def forward(self, kinds, positions, edges, forces):
        positions = positions.requires_grad_()
        distance = (positions[edges[0]] - positions[edges[1]]).norm(dim=-1)
        basis = torch.exp(-2 * (distance[:, None] - self.centers) ** 2)
        cutoff = torch.where(distance < 4, 0.5 * torch.cos(distance * math.pi / 4) + 0.5, 0.0)
        x = self.kinds(kinds)
        messages = self.inner(x)[edges[1]] * F.silu(self.filters(basis)) * cutoff[:, None]
        energy = self.head(x.index_add(0, edges[0], messages)).sum()
        (slope,) = torch.autograd.grad(energy, positions, create_graph=True)
        return {"loss": F.mse_loss(-slope, forces) + 0.01 * energy.square(), "energy": energy, "forces": -slope}


class Penalized(nn.Module):
    """A critic of images whose slope is held near one, and a spectral norm."""

    def __init__(self, width=8, pixels=16):
        super().__init__()
        features = width * (pixels // 8) ** 2
        self.critic = nn.Sequential(
            nn.Conv2d(2, 6, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(6, width, 4, 2, 1), nn.InstanceNorm2d(width, affine=True), nn.SiLU(),
            nn.AvgPool2d(2), nn.Flatten(), nn.utils.parametrizations.spectral_norm(nn.Linear(features, 1)),
        )

    def forward(self, real, made, share):
        mixed = (share * real + (1 - share) * made).requires_grad_()
        (slope,) = torch.autograd.grad(self.critic(mixed).sum(), mixed, create_graph=True)
        penalty = (slope.flatten(1).norm(dim=1) - 1).square().mean()
        return {"loss": self.critic(made).mean() - self.critic(real).mean() + 10 * penalty}


class Adapted(nn.Module):
    """Parameters that are good after a step of their own (MAML)."""

    def __init__(self, width=4, pixels=4):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width, track_running_stats=False), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(width * (pixels // 2) ** 2, 3),
        )

    def forward(self, support, classes, query, wanted):
        weights = dict(self.net.named_parameters())
        inner = F.cross_entropy(torch.func.functional_call(self.net, weights, support), classes)
        slopes = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
        weights = {name: x - 0.4 * slope for (name, x), slope in zip(weights.items(), slopes)}
        return {"loss": F.cross_entropy(torch.func.functional_call(self.net, weights, query), wanted), "inner": inner}


class Motion(nn.Module):
    """Accelerations of a Lagrangian, by its Hessian, and the Laplacian of a wave function, forward over reverse."""

    def __init__(self):
        super().__init__()
        self.potential = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 1))
        self.wave = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, state, acceleration):
        def lagrangian(z):
            return self.potential(z).squeeze(-1) + z[2:].square().sum()

        def laplacian(place):
            slope = torch.func.grad(lambda z: self.wave(z).squeeze(-1))
            return sum(torch.func.jvp(slope, (place,), (axis,))[1][k] for k, axis in enumerate(torch.eye(2)))

        bend = torch.func.vmap(torch.func.hessian(lagrangian))(state)
        force = torch.func.vmap(torch.func.grad(lagrangian))(state)[:, :2] - torch.einsum("bij,bj->bi", bend[:, 2:, :2], state[:, 2:])
        found = torch.linalg.solve(bend[:, 2:, 2:], force)
        spread = torch.func.vmap(laplacian)(state[:, :2])
        return {"loss": F.mse_loss(found, acceleration) + spread.square().mean(), "acceleration": found, "laplacian": spread}


class Nested(nn.Module):
    """Slopes of what is computed of mean losses, of which second derivatives ask for each element."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, x, wanted):
        x = x.requires_grad_()
        y = self.net(x)
        losses = F.mse_loss(y, wanted), F.smooth_l1_loss(y, wanted), F.huber_loss(y, wanted, reduction="sum"), F.soft_margin_loss(y, wanted.sign())
        value = torch.stack([*losses, F.binary_cross_entropy(y.sigmoid(), wanted.sigmoid())]).tanh().prod()
        (slope,) = torch.autograd.grad(value, x, create_graph=True)
        return {"loss": slope.square().sum() * 100, "slope": slope}


class Settled(nn.Module):
    """A slope that is another one in evaluation."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop, self.last = nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.4), nn.Linear(6, 1)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = x.requires_grad_()
        y = self.last(self.drop(self.norm(self.first(x)).tanh()))
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return {"loss": slope.square().mean(), "slope": slope}


def pairs(count):
    """Which atoms see each other: all."""
    edges = torch.combinations(torch.arange(count))
    return torch.cat([edges, edges.flip(1)]).T.contiguous()


def cases():
    torch.manual_seed(1)
    images = {name: torch.randn(3, 2, 16, 16) for name in ("real", "made")}
    tasks = {name: torch.randn(6, 1, 4, 4) for name in ("support", "query")}
    classes = {name: torch.tensor([0, 1, 2, 2, 1, 0]) for name in ("classes", "wanted")}
    return {
        "equation": (Equation, {"x": torch.rand(8, 1), "t": torch.rand(8, 1), "start": torch.rand(8, 1)}),
        "forces": (Forces, {"kinds": torch.randint(5, (6,)), "positions": torch.randn(6, 3), "edges": pairs(6), "forces": torch.randn(6, 3)}),
        "penalized": (Penalized, images | {"share": torch.rand(3, 1, 1, 1)}),
        "inner_step": (Adapted, tasks | classes),
        "motion": (Motion, {"state": torch.randn(4, 4), "acceleration": torch.randn(4, 2)}),
        "nested": (Nested, {"x": torch.randn(5, 4), "wanted": torch.randn(5, 3)}),
    }
