# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as programs have it that PyTorch took apart on a GPU: by the operators of its kernels, which no CPU runs."""

import torch
from torch import nn
from torch.nn import functional

aten = torch.ops.aten


def of_kernels(q, k, v, mask, hidden):
    """A program has these in place of `whole`: PyTorch takes one of them by the device and the arguments."""
    causal = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True, scale=0.4)[0]
    every = aten._scaled_dot_product_flash_attention(q, k, v)[0]
    masked = aten._scaled_dot_product_efficient_attention(q, k, v, mask.expand(2, -1, -1, -1), True)[0]
    behind = aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, True)[0]
    shown = aten._scaled_dot_product_cudnn_attention(q, k, v, hidden.expand(2, 2, -1, -1), True)[0]
    short = aten._scaled_dot_product_cudnn_attention(q[:, :, 1:], k, v, None, True, scale=0.3)[0]
    return causal + every + masked + behind + shown, short


def whole(q, k, v, mask, hidden):
    attention = functional.scaled_dot_product_attention
    causal, every = attention(q, k, v, is_causal=True, scale=0.4), attention(q, k, v)
    masked, behind, shown = attention(q, k, v, mask), attention(q, k, v, is_causal=True), attention(q, k, v, hidden)
    return causal + every + masked + behind + shown, attention(q[:, :, 1:], k, v, scale=0.3)


class Kernels(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.mask = nn.Linear(8, 24), nn.Parameter(torch.randn(1, 2, 4, 4))
        self.register_buffer("hidden", torch.randn(4, 4).triu(1) - 1)

    def forward(self, x):
        q, k, v = self.heads(x).view(2, 4, 3, 2, 4).permute(2, 0, 3, 1, 4)
        return (of_kernels if torch.compiler.is_exporting() else whole)(q, k, v, self.mask, self.hidden)
