# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules that make.py and old.py script."""

import enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def weigh(outputs: List[Tensor]) -> Tensor:
    """The mean of each output, weighted by a cosine."""
    loss = torch.zeros([])
    for x in outputs:
        weights = torch.cos(torch.arange(x.numel(), dtype=torch.float32, device=x.device)).view(x.shape)
        loss = loss.to(x.dtype) + (x * weights.to(x.dtype)).mean()
    return loss


class Ragged(nn.Module):
    """Recurrent layers of sequences whose lengths are a buffer."""

    def __init__(self):
        super().__init__()
        self.gru, self.lstm = nn.GRU(4, 3, bidirectional=True, batch_first=True), nn.LSTM(6, 2)
        self.register_buffer("lengths", torch.tensor([2, 6, 4]))

    def forward(self, x):
        packed, last = self.gru(pack_padded_sequence(x, self.lengths, batch_first=True, enforce_sorted=False))
        again, (state, cell) = self.lstm(packed)
        padded, lengths = pad_packed_sequence(again, batch_first=True, padding_value=-1.0, total_length=7)
        return {"loss": (padded * padded.exp()).sum() + (last * lengths[:, None]).sum() + cell.sum(), "padded": padded, "state": state}


class Reduction(enum.Enum):
    MEAN = "mean"
    SUM = "sum"


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


class Control(nn.Module):
    """Conditions and loops whose course is known, lists, dicts, tuples, optional arguments, early returns."""

    names: List[str]

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))
        self.gates = nn.ModuleDict({"a": nn.Linear(6, 6), "b": nn.Linear(6, 6)})
        self.head = nn.Linear(6, 2)
        self.spare = nn.Linear(3, 3)
        self.depth = 2
        self.scales = [0.5, 2.0]
        self.reduction = Reduction.MEAN

    def pick(self, x: Tensor, which: int) -> Tensor:
        if which == 0:
            return x.relu()
        if which < 2:
            return x.tanh()
        return x

    def pair(self, x: Tensor) -> Pair:
        return Pair(x.sin(), x.cos())

    def forward(self, x: Tensor, bias: Optional[Tensor] = None, power: float = 2.0) -> Dict[str, Tensor]:
        for i, layer in enumerate(self.layers):
            x = x + self.pick(layer(x), i)
        step, steps = 0, x.shape[1] // 2
        while step < steps:
            x = x * 0.9
            step += 1
            if step > self.depth:
                break
        for gate in self.gates.values():
            x = x * torch.sigmoid(gate(x))
        if bias is not None:
            x = x + bias
        parts: List[Tensor] = []
        for scale in self.scales:
            if scale > 1.0 and len(parts) > 0:
                parts.append(x ** power * scale)
            else:
                parts += [x * scale]
        kept: Dict[str, Tensor] = {}
        for i in range(len(parts)):
            kept[f"part{i}"] = parts[i].mean(dim=-1, keepdim=True)
        for i in range(len(parts) + 4, len(parts), -3):
            x = x + 0.1 * x.roll(i, 1)
        if "part1" in kept:
            x = x - kept["part1"]
        pair = self.pair(x)
        x = pair.first - pair.second
        batch, width = x.shape
        assert width == 6, f"width {width}"
        shape: Tuple[int, int, int] = (batch, 2, -1)
        x = x.view(shape).sum(2) + self.head(x)
        y = torch.stack(parts).mean(0) if self.reduction == Reduction.MEAN else torch.stack(parts).sum(0)
        return {"loss": weigh([x, y]), "first": x, "second": y}


class State(nn.Module):
    """Buffers that are written and set, no_grad, the training flag, writes into slices, tied and frozen weights."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.0)
        self.frozen = nn.Linear(8, 8)
        self.frozen.requires_grad_(False)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("average", torch.zeros(8))
        self.register_buffer("total", torch.zeros(8))
        self.register_buffer("steps", torch.zeros(1))
        self.register_buffer("shifts", torch.tensor([1, 2]))

    def forward(self, words: Tensor) -> Dict[str, Tensor]:
        x = self.embedding(words).mean(1)
        x = self.drop(F.relu(self.norm(x), inplace=True))
        if self.training:
            with torch.no_grad():
                self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
                scale = self.frozen(x).sigmoid()
                self.total[1:3] += scale[0, 1:3]
            self.steps = self.steps + 1
        else:
            scale = torch.ones_like(x)
        x = x * scale + self.frozen(x - self.average)
        y = x.clone()
        for i in range(len(self.shifts)):
            y[:, i] = x[:, int(self.shifts[i])]
        y[:, 4:].mul_(2)
        logits = self.head(y)
        return {"loss": weigh([logits]), "logits": logits}


class Itemized(nn.Module):
    """Numbers that are elements of tensors: of buffers, of a shape, complex ones, lists of them, and one that depends on the number of
    steps."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.norm = nn.BatchNorm1d(6, momentum=None)
        self.register_buffer("rate", torch.tensor(0.5), persistent=False)
        self.register_buffer("table", torch.arange(1500).view(15, 100) % 5)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        y = self.norm(self.first(x))
        z = torch.complex(y, y.sin())
        z[..., -1:] = 1j
        shape = torch._shape_as_tensor(y)
        y = torch.view_as_real(z).view(int(shape[0]), 2 * int(shape[1])) * float(self.rate)
        y = y[:, :int((self.table + 2).max())] / self.rate.item()
        dims: List[int] = torch.arange(1, y.dim()).tolist()
        y = y - y.mean(dims, keepdim=True)
        rows: List[List[int]] = self.table[1:3, 2:5].tolist()
        scales: List[float] = torch.stack([self.rate, self.rate.exp()]).tolist()
        signs: List[bool] = (self.table[0, :2] > 0).tolist()
        rate: float = self.rate.tolist()
        for row in rows:
            y = y + rate * y[:, row[1]].unsqueeze(1) * scales[row[0] % 2] if signs[1] else y * row[2]
        return {"loss": weigh([y]), "y": y}


class Paused(nn.Module):
    """Tensors made while no gradient is recorded, and used while one is."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        x = torch.tanh(self.first(x)) + 1
        with torch.no_grad():
            later = torch.zeros_like(x)  # what is written into it has its gradient
            same = x.contiguous()  # x itself
            left, right = x.exp().chunk(2, 1)
            x[0].mul_(0.5)
        x.data[1].mul_(0.5)
        x = x * nn.init.ones_(torch.empty(6)) + nn.init.zeros_(torch.empty(6))
        x = nn.init.constant_(x[:, :1] * 2, 0.5) + x  # which keeps the gradient of what is overwritten
        later[:, 1:] = x[:, :-1]
        later[:, 0].mul_(same[:, 0])
        y = x * same + later * torch.cat([right, left], 1)
        return {"loss": weigh([y]), "y": y}


class Sequence(nn.Module):
    """Recurrent layers and attention, whose modules of PyTorch have long code with many conditions."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, num_layers=2, batch_first=True)
        self.gru = nn.GRU(6, 8, bidirectional=False)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        x, (hidden, cell) = self.lstm(x)
        x, last = self.gru(x.transpose(0, 1))
        x = self.encoder(x.transpose(0, 1))
        y, weights = self.attention(x, x, x)
        logits = self.head(y + last[0].unsqueeze(1))
        assert weights is not None
        return {"loss": weigh([logits, weights, hidden, cell]), "logits": logits, "weights": weights}


class Masked(nn.Module):
    """What masks select that depend on data."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        y = self.mix(x)
        leaky = y.clone()
        leaky[leaky < 0] *= 0.5
        leaky[leaky > 0.1] = leaky[leaky > 0.1].sqrt()
        rows = x[:, 0] > 0
        classes = (x[:, 1] > 0).long() + (x[:, 2] > 0).long()
        chosen = y[rows]
        if chosen is not None and isinstance(chosen, torch.Tensor):
            chosen = torch.tanh(chosen) * y[rows]
        loss = F.cross_entropy(self.head(chosen), classes[rows]) + leaky.mean() + y.masked_select(y > 0).mean() + y[rows][:, 1].sum()
        columns = y.detach().sum(0) > 0
        loss = loss + y[rows, :].norm() / len(y[rows]) + y[:, columns].square().sum() / (y[rows].shape[0] + y[:, columns].numel())
        loss = loss + y[rows].logsumexp(0).exp().sum() + y[:, columns].logsumexp(1, keepdim=True).sum() + y[x[:, 0] > 99].logsumexp([0, 1]).exp()
        return {"loss": loss, "leaky": leaky}


class Data(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            return x
        return -x


class Loop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while x.abs().max() > 1:
            x = x / 2
        return x


class Raises(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] != 7:
            raise ValueError("seven rows are expected")
        return x


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


class Unknown(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = torch.linalg.eigvalsh(x)
        return y + torch.special.bessel_j0(x[0])


class Chosen(nn.Module):
    """A mask of a parameter, which training changes."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.5, -0.5, 1.0]))

    def forward(self, x: Tensor) -> Tensor:
        return x.sum() * self.weight[self.weight > 0].cumsum(0)[0]


class Bounded(nn.Module):
    """A mask of a buffer that the module writes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("bound", torch.tensor([-1.0, 0.5, 1.0]))

    def forward(self, x: Tensor) -> Tensor:
        self.bound.add_(1)
        return x.sum() * self.bound[self.bound > 0].cumsum(0)[0]


REFUSED = {"data": Data, "loop": Loop, "raises": Raises, "counts": Counts, "unknown": Unknown,
           "chosen": Chosen, "bounded": Bounded}
