# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module that asks where its tensors lie in memory, for make.py."""

from typing import Dict, List

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def place(x: Tensor) -> List[int]:
    return list(x.stride()) + [x.storage_offset(), int(x.is_contiguous())]


def places(all: List[Tensor]) -> Tensor:
    found: List[int] = []
    for x in all:
        found += place(x)
    return torch.tensor(found, dtype=torch.float32)


class Layouts(nn.Module):
    """Strides of views, of results, and of what was written into."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 6).t())  # not contiguous
        self.mix = nn.Linear(5, 4)

    def views(self, x: Tensor) -> List[Tensor]:
        _, _, third = x.unbind(1)
        _, tail = x.split([2, 3], dim=3)
        _, high = torch.chunk(x, 2, 2)
        one = x[:, :1]
        empty = x[:, 3:]
        diagonal = x.diagonal(1, 2, 3)
        pairs = torch.view_as_complex(x.view(2, 3, 10, 2)[:, 1:])
        return [
            x, x.transpose(1, 3), x.permute(3, 0, 2, 1), x[1], x[:, 1:3, ::2], x[..., -1], third, tail, high, one, empty, x.narrow(2, 1, 2),
            x.unsqueeze(0), x.unsqueeze(2), x.unsqueeze(4), x.transpose(0, 3).unsqueeze(1), one.squeeze(1), one.squeeze(), one.mT,
            x[:1].expand(4, 3, 4, 5), x[0, 0].expand(2, -1, 5), x[0, 0, 0].expand(7, 5), one.expand(2, 3, 4, 5).transpose(0, 1), x.select(2, 3),
            x.unfold(3, 2, 2), x.transpose(1, 2).unfold(1, 3, 1), diagonal, x.diagonal(-1, 3, 1), x.view(6, 20), x.view(2, 3, 2, 2, 5), x.transpose(0, 1).view(3, 2, 20),
            x.transpose(0, 1).flatten(2), x.unflatten(2, [2, 2]), x.movedim(1, 3), x[:, :, 1].transpose(1, 2).view(2, 5, 3, 1), one.view(2, 4, 5), one.transpose(1, 2).view(2, 4, 1, 5),
            empty.view(0, 3, 4), empty.expand(2, 0, 4, 5), x.as_strided([3, 2], [2, 7], 5), x[1].as_strided([2, 2], [30, 1]), torch.view_as_real(pairs), pairs, pairs.imag, x.detach()[1:],
        ]

    def copies(self, x: Tensor) -> List[Tensor]:
        y = x.transpose(1, 3)
        loose = x[:, ::2]
        wide = x[:, :1].expand(2, 3, 4, 5)
        channels = x.contiguous(memory_format=torch.channels_last)
        return [
            y.contiguous(), y.clone(), loose.clone(), wide.clone(), loose.transpose(0, 3).clone(), y.reshape(2, 60), y.reshape(2, 5, 2, 2, 3), x.reshape(24, 5), y.flatten(1, 2),
            y.flatten(2), loose.reshape(2, -1), wide.reshape(2, 3, 20), wide.reshape(6, 20), y.to(torch.float64), loose.double(), wide.to(torch.int64), x.to(torch.float32), channels,
            channels.contiguous(), channels.clone(), x.clone(memory_format=torch.channels_last), channels.float(), channels.to(torch.float64), torch.zeros_like(loose), torch.ones_like(channels),
            torch.empty_like(y, memory_format=torch.contiguous_format), torch.cat([y, y], 1), torch.cat([x, x], 2), torch.stack([x, x], 1), F.pad(y[0], [1, 1]), F.pad(x, [1, 1, 2, 2]),
            y.flip(0), loose.flip(1), y.repeat(1, 2, 1, 1), y.masked_fill(y > 0, 0.0), y.tril(), y.sort(1)[0], y.topk(2, 1)[0], y.gather(0, torch.zeros_like(y, dtype=torch.int64)),
            y.index_select(1, torch.tensor([0, 2])), x[torch.tensor([1, 0])],
        ]

    def elementwise(self, x: Tensor) -> List[Tensor]:
        y = x.transpose(1, 3)
        loose = x[:, ::2]
        wide = x[:, :1].expand(2, 3, 4, 5)
        channels = x.contiguous(memory_format=torch.channels_last)
        row = torch.arange(5.0)
        return [
            y * 2, y.exp(), loose + 1, loose.relu(), wide * 2, wide.tanh(), y + y.contiguous(), y.contiguous() + y, x + row, row + x, x.mT * row.unsqueeze(1), channels * x, x * channels,
            channels + 1, channels.sigmoid(), y / x.transpose(1, 3), wide * x, wide + wide.transpose(0, 0), loose * loose, torch.where(y > 0, y, 0.0), torch.where(x > 0, x, wide),
            y.clamp(0, 1), torch.addcmul(y, y, y), 1 - y, 2.0 ** y, y ** 2, y == 0, torch.maximum(x, channels), x.permute(3, 2, 1, 0) + 1, x[:1].permute(1, 0, 3, 2) * 1, x[:, :, :1].transpose(2, 3).abs(),
            F.gelu(y), F.silu(loose), y.double() * wide.transpose(1, 3).contiguous(), torch.lerp(y, y * 0, 0.5),
        ]

    def products(self, x: Tensor) -> List[Tensor]:
        y = x.transpose(1, 2)
        written = x.transpose(1, 3).clone()
        written[:, 0] = 1.0
        turned = x[0].clone()
        turned.transpose_(0, 2)
        turned.unsqueeze_(1)
        return [
            self.mix(x), self.mix(y), F.linear(y, self.weight), self.weight, self.weight.t(), self.weight * 2, y @ self.weight.t(),
            x[0] @ x[1].mT, x[0, 0] @ self.weight.t(), y.sum(1), y.mean(-1, keepdim=True), y.amax(2), y.softmax(1), F.log_softmax(y, -1), F.layer_norm(y, [5]), y.cumsum(2), y.argmax(1), y.var(0),
            written, turned, F.embedding(torch.tensor([[1, 0]]), self.weight), F.dropout(y, 0.0, True), torch.zeros([2, 3]), torch.arange(4),
        ]

    def writes(self, x: Tensor) -> Tensor:
        y = self.mix(x)
        y[1].as_strided([2, 3], [1, 7], 3).mul_(2)  # outside of y[1]
        y.transpose(2, 3).reshape(-1).mul_(3)  # a copy
        y[:, 1:].transpose(0, 1).flatten(2)[0] = 0.5  # a view
        square = y[0, 0] * 2
        column = square[:, 1]
        same = square.narrow(0, 0, 4)
        same.unsqueeze_(0)  # a tensor of its own: `square` remains a matrix
        square.t_()
        square[1] = 2.0  # what `column` sees
        rows = self.mix(x)[0, 1]
        rows[:1].expand(3, 4)[::3].mul_(2)  # one of three rows that are the same
        shared = rows.reshape(-1).as_strided([3, 2], [1, 1], 4)
        shared.select(1, 1).copy_(column[:3].exp())  # all but one of them are in the first column, too
        pairs = rows.unfold(1, 2, 1)
        pairs[:, 1, 0].mul_(3)  # what the first pairs end with
        return y + column + rows.tanh() + shared.tanh().sum(0).repeat(2)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        written = self.writes(x)
        loss = (written * written).mean() + self.weight.sin().mean()
        return {
            "loss": loss, "written": written, "views": places(self.views(x)), "copies": places(self.copies(x)), "elementwise": places(self.elementwise(x)), "products": places(self.products(x)),
        }
