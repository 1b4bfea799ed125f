# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of the zoo: a module, what it is called with, and a loss for whatever it returns."""

import copy
import dataclasses
import math
import pathlib
import sys

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "export"))

from cases import perturb, remove_randomness  # noqa: E402

GRADIENT, NORM = 0.05, 8.0


@dataclasses.dataclass
class Model:
    """`inputs` are keyword arguments of `module.forward`, tensors all."""

    module: nn.Module
    inputs: dict[str, torch.Tensor]


class WithLoss(nn.Module):
    """Returns {"loss": scalar} for a model that has none: each output's mean, weighted by a cosine of its index.

    Without the weights, the loss of a model that ends with a normalisation would have no gradient at all.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.scale = 1.0

    def forward(self, **inputs):
        parts = [_weighted(x) for x in _tensors(self.model(**inputs)) if x.is_floating_point()]
        return {"loss": torch.stack(parts).mean() * self.scale}


def prepare(model: Model, dtype: str = "float32") -> Model:
    """The model as it is exported and trained: wrapped, in training mode, with nothing random in it, its f32 in `dtype`."""
    module = model.module.train()
    remove_randomness(module)
    perturb(module)
    wrapped = WithLoss(module).train()._apply(lambda x: _narrowed(x, getattr(torch, dtype)))
    inputs = {name: _narrowed(x, getattr(torch, dtype)) for name, x in model.inputs.items()}
    wrapped.scale = _scale(wrapped, inputs)
    return Model(wrapped, inputs)


def _narrowed(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype) if x.dtype == torch.float32 else x


def _scale(module: WithLoss, inputs: dict[str, torch.Tensor]) -> float:
    """The power of two that brings the median gradient near GRADIENT, but the norm of all to no more than NORM.

    Gradients of a mean over many values are below the absolute tolerance of `accc diff`: wrong ones would be right.
    With a large norm the first step would lead where the second has nothing but noise.
    """
    module = copy.deepcopy(module)
    module(**inputs)["loss"].backward()
    gradients = [x.grad.abs() for x in module.parameters() if x.grad is not None]  # also of complex ones
    sizes = sorted(x for x in (g.square().mean().sqrt().item() for g in gradients) if x > 0)
    if not sizes:
        raise ValueError("no parameter has a gradient")
    norm = math.sqrt(sum(g.double().square().sum().item() for g in gradients))
    return 2.0 ** math.floor(math.log2(min(GRADIENT / sizes[len(sizes) // 2], NORM / norm)))


def _weighted(x: torch.Tensor) -> torch.Tensor:
    x = x if x.dtype == torch.float64 else x.float()
    weights = torch.cos(torch.arange(x.numel(), dtype=x.dtype)).view_as(x)
    return (x * weights).mean()


def _tensors(value):
    """The tensors of what a module returned, in order. Caches of keys and values are no output to train."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name != "past_key_values":
                yield from _tensors(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _tensors(getattr(value, field.name))
