# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""acme::quantize in PyTorch: the operator whose functions for accc are in quantize.c, and a module that uses it.

Learned step size quantization (https://arxiv.org/abs/1902.08153): rounds to multiples of a step that is trained with
the weights. Its backward pass is not the derivative of its forward pass, which is zero almost everywhere, so no
composition of other operators can take its place.
"""

import math

import torch
from torch import nn


def bounds(bits):
    """The smallest and the largest multiple of the step."""
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


@torch.library.custom_op("acme::quantize", mutates_args=())
def quantize(x: torch.Tensor, step: torch.Tensor, bits: int) -> torch.Tensor:
    low, high = bounds(bits)
    return (x / step).clamp(low, high).round() * step


@quantize.register_fake
def _(x, step, bits):
    return torch.empty_like(x)


def _save(ctx, inputs, output):
    x, step, ctx.bits = inputs
    ctx.save_for_backward(x, step)


def _backward(ctx, dy):
    x, step = ctx.saved_tensors
    low, high = bounds(ctx.bits)
    ratio = x / step
    inside = (ratio > low) & (ratio < high)
    error = torch.where(inside, ratio.round() - ratio, ratio.clamp(low, high))
    scale = 1 / math.sqrt(x.numel() * high)
    return torch.where(inside, dy, 0), (dy * error).sum() * scale, None


quantize.register_autograd(_backward, setup_context=_save)


class QuantizedLinear(nn.Linear):
    def __init__(self, inputs, outputs, bits):
        super().__init__(inputs, outputs)
        self.bits = bits
        with torch.no_grad():
            high = bounds(bits)[1]
            self.step = nn.Parameter(2 * self.weight.abs().mean() / math.sqrt(high))

    def forward(self, x):
        return nn.functional.linear(x, quantize(self.weight, self.step, self.bits), self.bias)


class Net(nn.Module):
    """Tells two spirals apart, with weights of four bits."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            QuantizedLinear(2, 32, 4), nn.Tanh(), QuantizedLinear(32, 32, 4), nn.Tanh(), QuantizedLinear(32, 2, 4)
        )

    def forward(self, points):
        return {"logits": self.layers(points)}


def spirals(count):
    """Points on two spirals, and which of them each is on."""
    labels = torch.arange(count) % 2
    angle = 4 * torch.rand(count) + 0.5
    turned = angle + torch.pi * labels
    points = torch.stack([angle * turned.cos(), angle * turned.sin()], dim=1) / 4
    return points + 0.01 * torch.randn(count, 2), labels
