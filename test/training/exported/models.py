# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that make.py and old.py export, with their inputs and losses."""

import copy
import functools
import json
import math
import zipfile

import torch
import torch._higher_order_ops as control
from torch import nn
from torch.nn import functional as F

import kernels
import selections
import spectra
import tasks


class Rescaled(nn.Module):
    """Writes into its input, as preprocessing does, and reads it behind that."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 3)

    def forward(self, x):
        before = x.sum(1, keepdim=True)
        x[:, :2].clamp_(min=0)
        x.sub_(0.5).div_(0.25)
        return self.linear(x) * before


class Headed(nn.Module):
    """A head over many classes and its loss together, which PyTorch computes for some rows at a time."""

    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(6, 8), nn.Linear(8, 5)

    def forward(self, x):
        x, target = self.first(x).tanh(), torch.tensor([3, 1, 0, 2, 4])
        loss = functools.partial(F.linear_cross_entropy, x, self.head.weight, options=nn.LinearCrossEntropyOptions(batch_chunk_size=2))
        each = loss(target, weight=torch.arange(1.0, 6).to(x), reduction="none", ignore_index=2)
        return loss(target, linear_bias=self.head.bias), loss(torch.full((5, 5), 0.2).tril().to(x), reduction="sum"), each


class Written(nn.Module):
    """Writes into tensors, views and buffers, as PyTorch's programs do."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding="same")
        self.norm = nn.BatchNorm2d(4)
        self.scale = nn.Parameter(torch.ones(4), requires_grad=False)
        self.shift = nn.Parameter(torch.zeros(4))
        self.register_buffer("average", torch.zeros(4))
        self.register_buffer("grid", torch.arange(4.0), persistent=False)
        self.head = nn.Linear(4 * 5 * 5, 3)

    def forward(self, image):
        x = F.relu(self.norm(self.conv(image)), inplace=True)
        with torch.no_grad():
            self.average.mul_(0.9).add_(x.mean((0, 2, 3)), alpha=0.1)
        x = x * self.scale[:, None, None] + self.shift[:, None, None]
        y = x.clone()
        y[:, 0] = x[:, 1] * 2
        y[:, 1:3, ::2] += 1
        y[:, 3].mul_(self.grid[1])
        y.transpose(2, 3)[:, 0, 4] = 0.5
        y[:, :, [0, 2], [1, 1]] = 0.25
        return {"logits": self.head(y.flatten(1)), "least": y.amin((1, 2, 3))}


class Counted(nn.Module):
    """Attributes that are no buffers, and that forward writes into."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)
        self.calls = torch.zeros(1, dtype=torch.int64)
        self.average = torch.ones(4)
        self.scale = torch.tensor([0.5, 1.0, 2.0])

    def forward(self, x):
        self.calls += 1
        with torch.no_grad():
            self.average.mul_(0.5).add_(x.mean(0), alpha=0.5)
        return self.head(x * self.average) * self.scale / self.calls


class Stopped(nn.Module):
    """Values through which no gradient flows. Decomposing the program and tracing lose that."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.second = nn.Linear(6, 6)
        self.register_buffer("average", torch.zeros(6))

    def forward(self, x):
        x = torch.tanh(self.first(x))
        with torch.no_grad():
            self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
            scale = self.second(x).exp()
        return self.second(x - self.average) * scale + x.detach() * x


class Paused(nn.Module):
    """Tensors made while no gradient is recorded, and used while one is; a write that traces lose."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)

    def forward(self, x):
        x = torch.tanh(self.first(x)) + 1
        with torch.no_grad():
            later = torch.zeros_like(x)  # what is written into it has its gradient
            same = torch.atleast_2d((+x).contiguous().flatten(1))  # x itself
            same, _ = torch.broadcast_tensors(same.real, x[:1])  # likewise
            left, right = x.exp().chunk(2, 1)
            x[0].mul_(0.5)
        later[:, 1:] = x[:, :-1]
        later[:, 0].mul_(same[:, 0])
        torch.einsum("ij->ji", later)[2].mul_(3)  # a view
        return x * same + later * torch.cat([right, left], 1)


class Overwritten(nn.Module):
    """Parameters with a gradient of zeros: they are overwritten, or operators do not use their numbers."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        for name in ("filled", "zeroed", "copied", "viewed", "rows", "sliced", "sign", "power", "added", "drawn", "mean", "imaginary", "counted", "compared", "passed", "asked"):
            self.register_parameter(name, nn.Parameter(torch.randn(4)))

    def forward(self, x):
        x = self.first(x)
        filled, zeroed, copied, viewed, rows = (2 * p for p in (self.filled, self.zeroed, self.copied, self.viewed, self.rows))
        filled.fill_(0.5)
        zeroed.zero_()
        copied.copy_(x[0])
        viewed.view(2, 2).t().fill_(-1)
        rows[:] = x[1]
        sliced = self.sliced.slice_scatter(x[2], 0, 0, 4)
        added = torch.addmm(self.added, x, x.t() @ x, beta=0)
        drawn = torch.bernoulli(self.drawn.clamp(1, 1)) * torch.normal(self.mean, torch.zeros(4))
        real = torch.complex(x, self.imaginary.expand(5, 4)).real
        counted = torch.cdist(self.counted.view(1, 4), x, p=0) + torch.pdist((x * self.counted)[:2], p=0)
        passed, same = 2 * self.passed, x.clone()
        passed.logical_and_(self.asked.detach())  # of which PyTorch's graph does not know
        same.ge_(self.compared)
        return passed * same + self.asked * (x[0].clone().eq_(self.compared) + x) + real * drawn + torch.copysign(x, self.sign) + self.power**0 * filled - zeroed + copied * viewed + rows * sliced + added + counted.mean()


class Taught(nn.Module):
    """A teacher that follows the student, a power iteration that writes by `out=`, and a buffer that nothing reads."""

    def __init__(self):
        super().__init__()
        self.student = nn.Linear(4, 6)
        self.teacher = nn.Linear(4, 6).requires_grad_(False)
        self.register_buffer("direction", torch.ones(6))
        self.register_buffer("last", torch.zeros(5, 6))
        self.register_buffer("seen", torch.zeros(6, dtype=torch.bool))

    def forward(self, x):
        answer, weight = self.student(x), self.student.weight.detach()
        results = answer * self.direction.clone(), (answer - self.teacher(x)).square() * self.seen.clone()
        self.teacher.weight.mul_(0.9).add_(weight, alpha=0.1)
        F.normalize(weight @ (weight.T @ self.direction), dim=0, out=self.direction)
        self.last.copy_(answer.detach())
        self.seen |= (answer > 0.5).any(0)
        return results


class Followed(nn.Module):
    """A teacher that follows the student by operators on lists of tensors, and some through which a gradient flows."""

    def __init__(self):
        super().__init__()
        self.student = nn.Linear(4, 6)
        self.teacher = nn.Linear(4, 6).requires_grad_(False)

    def forward(self, x):
        followers, leaders = list(self.teacher.parameters()), [p.detach() for p in self.student.parameters()]
        torch._foreach_mul_(followers, 0.9)
        torch._foreach_add_(followers, leaders, alpha=0.1)
        taught = self.teacher(x)
        answers = torch._foreach_mul([self.student(x), self.student.bias], [2.0, 0.5])
        answers = torch._foreach_addcmul(answers, [taught, self.student.bias], answers, [0.5, 0.25])
        answers = torch._foreach_lerp(torch._foreach_sin(answers), answers, 0.3)
        return *answers, *torch._foreach_norm(answers), *torch._foreach_pow(torch._foreach_sigmoid(answers), 1.5)


class Recalled(nn.Module):
    """Running statistics that forward reads after it has moved them, which no gradient reaches, and what a step hands to the next."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.batch = nn.BatchNorm1d(4, momentum=0.3)
        self.register_buffer("queue", torch.zeros(6, 4))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))
        self.register_buffer("older", torch.zeros(4))
        self.register_buffer("newer", torch.ones(4))

    def forward(self, x):
        y = self.batch(self.fc(x)) * self.batch.running_var + self.batch.running_mean
        self.queue[(self.place + torch.arange(4)) % 6] = y.detach()[:4]
        self.place.copy_((self.place + 4) % 6)
        self.older.copy_(self.newer)
        self.newer.lerp_(y.detach().mean(0), 0.2)
        return y + self.queue.mean(0), y * (self.older + self.place), y * self.newer / self.batch.num_batches_tracked


class Scaled(nn.Module):
    """Integers times numbers with fractions or imaginary ones, which are float32 and not as wide as the tensors that a trace makes of numbers."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        places = torch.arange(4, device=x.device)
        turns = torch.exp(-0.5j * places / 1j) + 2j  # complex64
        return (self.fc(x) + self.fc((places * 0.5).to(x.dtype) + places // 1.5), F.linear(places * -0.25, self.fc.weight.float()),
                F.linear(turns.real * turns.imag, self.fc.weight.float()))


class Coded(nn.Module):
    """Integers and truth values among the parameters, as quantized layers have."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.codes = nn.Parameter(torch.randint(-8, 8, (4, 4), dtype=torch.int8), requires_grad=False)
        self.kept = nn.Parameter(torch.arange(4) > 0, requires_grad=False)

    def forward(self, x):
        return self.fc(x * self.kept) + F.linear(x, self.codes.to(x.dtype) / 8)


class Renewed(nn.Module):
    """Writes into parameters that are trained: rows of bounded norm, clipped and normalised weights, a row of zeros."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 4, max_norm=1.5)
        self.bags = nn.EmbeddingBag(7, 4, max_norm=0.8, norm_type=1.0)
        self.mix, self.head = nn.Linear(4, 4), nn.Linear(4, 3)
        self.conv = nn.Conv1d(1, 2, 2)

    def forward(self, words):
        x = self.words(words)
        bags = self.bags(words % 7)
        with torch.no_grad():
            self.mix.weight.clamp_(-0.3, 0.3)
        y = self.mix(x)
        weight = self.head.weight.detach()
        weight /= weight.norm(dim=1, keepdim=True)
        weight[0] = 0
        with torch.no_grad():
            self.conv.weight.mul_(0.9).clamp_(max=0.5)
        return self.head(y), self.conv(bags[:, None]), self.mix(bags), self.words.weight.square().sum(1)


class Normed(nn.Module):
    """Weights divided by their largest singular values, which a power iteration follows by `out=`."""

    def __init__(self):
        super().__init__()
        norm = functools.partial(nn.utils.parametrizations.spectral_norm, n_power_iterations=2)
        self.mix, self.head = norm(nn.Linear(4, 6)), norm(nn.Conv1d(1, 3, 2))

    def forward(self, x):
        return self.head(torch.tanh(self.mix(x)).unsqueeze(1))


class Lengthened(nn.Module):
    """Weights as directions and lengths: of rows, of columns, and one length of the whole. Cosines with vectors that are shorter than eps."""

    def __init__(self):
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.rows, self.columns = norm(nn.Linear(4, 6)), norm(nn.Linear(6, 4), dim=1)
        self.whole, self.kernel = norm(nn.Linear(4, 4), dim=None), norm(nn.Conv1d(1, 3, 2), dim=-1)

    def forward(self, x):
        y = self.columns(self.rows(x))
        short = F.cosine_similarity(y, x, eps=1.5), F.cosine_similarity(y * torch.tensor([1.0, 0.0, 1e-3, 1e-12, 2.0])[:, None], x)
        return self.kernel(self.whole(torch.tanh(y)).unsqueeze(1)), *short


class Steered(nn.Module):
    """A branch that depends on data, with a gradient of NaN on the side that is not taken, and loops over rows."""

    def __init__(self):
        super().__init__()
        self.mix, self.weight, self.start = nn.Linear(4, 4), nn.Parameter(torch.randn(4)), nn.Parameter(torch.randn(3, 4))

    def forward(self, x):
        y = self.mix(x)
        taken = torch.cond(y.max() > 100, lambda y: (y - 100).sqrt(), lambda y: y.sin(), (y,))
        scaled = control.map(lambda row, weight: torch.tanh(self.mix(row)) * weight, x, self.weight * 1)

        def step(carried, row):
            state = torch.tanh(self.mix(carried["state"]) + row)
            return {"state": state, "sum": carried["sum"] + state}, state * 2

        last, states = control.scan(step, {"state": self.start * 1, "sum": self.start * 2}, y, dim=1, reverse=True)
        count, _ = control.while_loop(
            lambda i, z: i < 3, lambda i, z: (i + 1, z * 2), (torch.tensor(0), x[0, 0, 0].detach()))
        return taken, scaled, last["state"] * last["sum"], states * count


class Laid(nn.Module):
    """Writes whose effect depends on strides: into what is a view or a copy, and into memory by strides."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)
        self.weight = nn.Parameter(torch.randn(4, 3).t())
        self.register_buffer("kept", torch.zeros(2, 3))

    def forward(self, x):
        y = self.mix(x)
        viewed, copied, turned = y.clone(), y.clone(), (y * 2).transpose(1, 2)
        viewed.reshape(6, 6)[:, 0] = 1  # a view
        copied.transpose(1, 2).reshape(2, 18).mul_(3)  # a copy, of which nothing remains
        turned.contiguous().add_(1)
        waves = turned.sin()  # lies as `turned` does
        waves.transpose(1, 2).flatten()[::5] = 0.5
        weight = self.weight * 2
        weight.reshape(-1)[1:].mul_(3)
        windows = viewed.as_strided((5, 2, 6), (6, 6, 1))  # which overlap
        viewed[1, 0] = x.mean()
        viewed.as_strided((2, 3), (1, 6), 3).mul_(2)
        self.kept.t().reshape(6).add_(1)
        self.kept.reshape(6)[1:].add_(0.5)
        return viewed, copied, turned, waves, weight, windows.exp(), windows[1:, 0] * self.kept[0, 1]


class Shared(nn.Module):
    """A buffer in the memory of a parameter, which changes as that is trained."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("copy", self.scale.data)

    def forward(self, x):
        return x * self.scale + self.copy


class Transposed(nn.Module):
    """Two parameters in the same memory, one as the transpose of the other."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Parameter(torch.ones(3, 3))
        self.decoder = nn.Parameter(self.encoder.data.t())

    def forward(self, x):
        return torch.tanh(x @ self.encoder) @ self.decoder


class Expanded(nn.Module):
    """A parameter whose columns are one column in memory."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3, 1).expand(3, 3))

    def forward(self, x):
        return x @ self.scale


class Halved(nn.Module):
    """A parameter with a twin in the same memory that is not trained."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.fixed = nn.Parameter(self.scale.data, requires_grad=False)

    def forward(self, x):
        return x * self.scale + self.fixed


class Turned(nn.Module):
    """Functions of torch.vmap that turn their elements over in place and draw numbers."""

    def forward(self, x):
        turned = torch.vmap(lambda row: row.clone().unsqueeze(0).t_())(x)
        return turned, torch.vmap(lambda row: row + torch.rand(3), randomness="different")(x)


class Cut(nn.Module):
    """What cannot be computed of all elements in place of those that a mask selects."""

    def forward(self, x):
        begin = (x > 1).sum().item()
        torch._check(begin >= 0)
        rows, indices = x[:, 0] > 0, (x > 1).long().sum(1)
        some, chosen = x[rows], indices[rows]
        return (x[x > 0][begin:].sum(), some.norm(-1), some.max(0).indices, (some @ some.t()).sum(),
                F.embedding(chosen, some).sum(), F.embedding(chosen, x, scale_grad_by_freq=True).sum())


REFUSED = {"shared": Shared, "transposed": Transposed, "expanded": Expanded, "halved": Halved, "turned": Turned, "cut": Cut}
"""Programs that are refused, in refused/<name>; they take x of two rows and three columns."""


class Parts(nn.Module):
    """Parameters and a buffer that are parts of the same memory, side by side and interleaved."""

    def __init__(self):
        super().__init__()
        flat, matrix = torch.randn(24), torch.randn(4, 6)
        self.first = nn.Parameter(flat[:12].view(4, 3))
        self.register_buffer("average", flat[12:15])
        self.second = nn.Parameter(flat[15:].view(3, 3))
        self.left, self.right = nn.Parameter(matrix[:, ::2]), nn.Parameter(matrix[:, 1::2])

    def forward(self, x):
        x = torch.tanh(x @ self.first + self.average) @ self.second
        with torch.no_grad():
            self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x, x @ (self.left.t() * self.right.t())


class Itemized(nn.Module):
    """Sizes and numbers that are elements of tensors: of buffers, of what is computed from them, of a constant, and of data."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Conv1d(4, 6, 3, stride=2)
        self.place = nn.Linear(2, 6)
        self.register_buffer("padding", torch.tensor(1))
        self.register_buffer("stride", torch.tensor([2], dtype=torch.int16), persistent=False)
        self.register_buffer("rate", torch.tensor(0.375), persistent=False)
        self.register_buffer("chosen", torch.tensor(True))
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("table", torch.arange(1500).view(15, 100) % 7, persistent=False)

    def forward(self, x):
        positive = (x > 0).sum()
        changing = self.norm.running_var.sum().item() * self.norm(x) / positive.item()
        size = x.shape[2] + self.padding
        more = (torch.ceil(size / self.stride) * self.stride + 1 - size).long()
        x = self.mix(nn.functional.pad(x, (self.padding.item(), more.item())))
        doubled = self.stride * 2
        doubled //= 2  # writes into no buffer
        rows, columns = doubled.item(), torch.tensor([[2, 3]])[0].tolist()[1]
        places = torch.stack(torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij"), -1)
        y = self.place(places.flatten(0, 1).to(x) * self.rate.item()) * self.chosen.item()
        near = (torch.arange(40.0)[:, None] - torch.arange(40.0)).abs() < 1.5  # more elements than are folded unasked
        band = torch.outer(x.flatten()[:40], x.flatten()[-40:])[near]
        return torch.tanh(x), torch.tanh(y) * (self.table * 2).max().item(), band * near.sum().item() / 40, changing


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.SiLU(),
            nn.Conv2d(8, 8, 3, padding=1, groups=4), nn.GroupNorm(2, 8), nn.Hardswish(), nn.MaxPool2d(3, 2, 1),
            nn.ConvTranspose2d(8, 4, 2, stride=2), nn.AvgPool2d(2, ceil_mode=True), nn.AdaptiveAvgPool2d((2, 3)),
        )
        self.head = nn.Linear(4 * 6, 5)

    def forward(self, image):
        return self.head(torch.flatten(self.features(image), 1))


class Language(nn.Module):
    """A causal language model whose output layer reads the embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(31, 16, padding_idx=0)
        self.position = nn.Embedding(8, 16)
        self.register_buffer("order", torch.arange(8))
        self.blocks = nn.ModuleList(nn.ModuleList([nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)])
                                    for _ in range(2))
        self.norm = nn.RMSNorm(16)
        self.head = nn.Linear(16, 31, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words):
        batch, time = words.shape
        x = self.embedding(words) + self.position(self.order[:time])
        for norm, qkv, out in self.blocks:
            q, k, v = qkv(norm(x)).view(batch, time, 3, 2, 8).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + out(y.transpose(1, 2).reshape(batch, time, 16))
        return self.head(self.norm(x))


class Frequented(nn.Module):
    """Gradients divided by how often a row is read, and norms that evaluation knows by other statistics."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 4, padding_idx=2, scale_grad_by_freq=True)
        self.bag = nn.EmbeddingBag(9, 4, mode="sum", scale_grad_by_freq=True)
        self.mean = nn.EmbeddingBag(9, 4, mode="mean", scale_grad_by_freq=True, padding_idx=1)
        self.batch, self.instance = nn.BatchNorm1d(4, track_running_stats=False), nn.InstanceNorm1d(4, track_running_stats=True)

    def forward(self, words):
        x = self.instance(self.words(words).transpose(1, 2)).sum(2)
        return x + self.batch(self.bag(words)) + self.mean(words)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 6)
        self.head = nn.Linear(6, 2)

    def forward(self, series):
        states, _ = self.lstm(series)
        _, last = self.gru(states.transpose(0, 1))
        return self.head(last[0])


class Projected(nn.Module):
    """LSTMs whose hidden states are projections of what their cells hand out."""

    def __init__(self):
        super().__init__()
        self.first = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True, proj_size=3)
        self.second = nn.LSTM(6, 4, bias=False, proj_size=2)

    def forward(self, series):
        states, (hidden, cells) = self.first(series)
        last = self.second(states.transpose(0, 1))[1]
        return hidden, cells, *last


class Bounded(nn.Module):
    """Parameters that are equal to what bounds them: a bound that is a number takes the gradient away, a tensor shares it."""

    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.tensor([0.0, 1.0, 1.5, 2.0, 3.0, 1.0, 2.0]))
        self.low = nn.Parameter(torch.tensor([1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 3.0]))
        self.high = nn.Parameter(torch.tensor([2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 3.0]))

    def forward(self, scale):
        x, low, high = self.x * scale, self.low * scale, self.high * scale
        numbers = x.clamp(1, 2) + x.clamp(min=1) + x.clamp(max=2) + x.clamp(2, 1)
        losses = F.margin_ranking_loss(x, low, torch.ones(7), reduction="none") + F.hinge_embedding_loss(x, -torch.ones(7), reduction="none")
        return numbers, x.clamp(low, high), x.clamp(min=low) * 2, x.clamp(max=high) * 3, losses, x.median(), x.max(), x.nanmedian()


class Indexed(nn.Module):
    """Gathers, scatters, sorts, sizes computed from sizes."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(9, 6))
        self.mix = nn.Linear(6, 6)

    def forward(self, values, places):
        n, time, _ = values.shape
        rows = self.table[places]
        x = self.mix(values) + rows
        best, where = x.topk(3, dim=-1)
        ordered = x.gather(1, x.argsort(1))
        sums = x.new_zeros(n, 9, 6).scatter_add(1, places[..., None].expand(-1, -1, 6), x)
        window = F.pad(ordered, (0, 0, time // 2, time - time // 2), mode="constant").unfold(1, time, 2)
        mask = torch.ones(time, time, dtype=torch.bool).tril()
        scores = torch.einsum("nik,njk->nij", x, rows).masked_fill(~mask, float("-inf")).softmax(-1)
        return best * where.clamp(max=2), sums.cumsum(1), window.mean(-1), scores @ x, x.max(1).values


class Mapped(nn.Module):
    """Functions by torch.vmap: nested, in chunks, along other dimensions, with writes into their elements."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)
        self.weight = nn.Parameter(torch.randn(3, 4, 2))
        self.register_buffer("factors", torch.arange(3))

    def forward(self, x):
        attend = torch.vmap(lambda q, k: (q @ k.t()).softmax(-1) @ k)(x, self.mix(x)[..., :4])
        pairs = torch.vmap(torch.vmap(lambda a, b: (a - b).square().sum(), (None, 0)), (0, None))(x[0], x[1])
        each = torch.vmap(lambda a, w: torch.tanh((a[:, None] * w).sum(0)), in_dims=(1, None))(x[0].t(), self.weight[0])
        models = torch.vmap(lambda w, row: (row @ w, row), in_dims=(0, None))(self.weight, x[0])
        outer = torch.vmap(lambda row: torch.vmap(lambda a: a * row.sum() + a, out_dims=-1)(row))(x[1])
        chunks = torch.vmap(lambda row: F.layer_norm(row, (4,)).exp(), chunk_size=2)(x[0])
        # A number of the batch decides no element type, however wide its own is.
        scaled = torch.vmap(lambda row, factor: row.round().int() * factor * row.new_ones(4), in_dims=(1, 0))(x[:, :3].contiguous(), self.factors)
        positive = (x > 0).sum().item()  # depends on data
        shares = torch.vmap(lambda row: row.cumsum(0) / positive)(x[1])
        rows = x.clone()

        def write(row, other):
            row.mul_(2)
            row[1:, :2] = other[1:, 2:]
            row.t()[0].add_(other[0, 0])
            with torch.no_grad():
                mask = torch.ones(4)
                share = row.softmax(-1) * other.sum()
                inner = torch.vmap(lambda a: a * row.sum())(share)
            return row.sum(0) * mask + (row * inner).sum(0)

        written = torch.vmap(write)(rows, x.flip(0))
        parts = torch.vmap(lambda row: row.split(2, -1), in_dims=1)(self.mix(x))
        return attend, pairs, each, *models, outer, chunks, scaled, shares, rows, written, *parts


class Measured(nn.Module):
    """Sizes that follow from others, arithmetic on them, and a branch that they decide."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x, rows):
        n, time = x.shape[0], x.shape[1]
        y = torch.tanh(self.mix(x)) / math.sqrt(time)
        pairs = self.mix(rows[1:]).view(n, 2, 6).sum(1)
        scale = (rows > 0).sum(1).max() + torch.arange(n).max()
        if time > 3:
            y = y.flip(1)
        return y * (time // 2), pairs[:, None] * y, self.mix(rows) * scale / torch.sym_max(n, time)


def words(limit, *shape):
    return torch.randint(1, limit, shape, generator=torch.Generator().manual_seed(2))


def numbers(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


OPEN = torch.export.Dim("batch", min=2, max=16)
CASES = {
    "written": (Written, {"image": numbers(3, 2, 5, 5)}, {"image": {0: OPEN}}, {"image.0": 3}),
    "laid": (Laid, {"x": numbers(2, 3, 4)}, None, {}),
    "stopped": (Stopped, {"x": numbers(5, 4)}, None, {}),
    "paused": (Paused, {"x": numbers(5, 4)}, None, {}),
    "overwritten": (Overwritten, {"x": numbers(5, 4)}, None, {}),
    "renewed": (Renewed, {"words": words(9, 3, 4)}, None, {}),
    "recalled": (Recalled, {"x": numbers(5, 4)}, None, {}),
    "scaled": (Scaled, {"x": numbers(5, 4)}, None, {}),
    "coded": (Coded, {"x": numbers(5, 4)}, None, {}),
    "lengthened": (Lengthened, {"x": numbers(5, 4)}, None, {}),
    "normed": (Normed, {"x": numbers(5, 4)}, None, {}),
    "counted": (Counted, {"x": numbers(5, 4)}, None, {}),
    "taught": (Taught, {"x": numbers(5, 4)}, None, {}),
    "followed": (Followed, {"x": numbers(5, 4)}, None, {}),
    "steered": (Steered, {"x": numbers(3, 5, 4)}, None, {}),
    "parts": (Parts, {"x": numbers(5, 4)}, None, {}),
    "itemized": (Itemized, {"x": numbers(3, 4, 7)}, None, {}),
    "cnn": (Cnn, {"image": numbers(2, 3, 15, 17)}, None, {}),
    "language": (Language, {"words": words(31, 3, 8)}, {"words": {0: OPEN}}, {"words.0": 3}),
    "frequented": (Frequented, {"words": words(9, 5, 6)}, None, {}),
    "recurrent": (Recurrent, {"series": numbers(3, 7, 4)}, None, {}),
    "projected": (Projected, {"series": numbers(3, 5, 4)}, None, {}),
    "bounded": (Bounded, {"scale": torch.ones(1)}, None, {}),
    "indexed": (Indexed, {"values": numbers(3, 5, 6), "places": words(9, 3, 5)},
                {"values": {0: OPEN}, "places": {0: OPEN}}, {"values.0": 3}),
    "mapped": (Mapped, {"x": numbers(2, 5, 4)}, None, {}),
    "masked": (selections.Masked, {"x": numbers(3, 4, 4)}, None, {}),
    "picked": (selections.Picked, {"x": numbers(7, 4)}, None, {}),
    "singled": (selections.Singled, {"x": numbers(7, 4)}, None, {}),
    "located": (selections.Located, {"x": numbers(7, 4)}, None, {}),
    "gleaned": (selections.Gleaned, {"x": numbers(7, 4)}, None, {}),
    "fitted": (selections.Fitted, {"x": numbers(7, 4)}, None, {}),
    "graded": (selections.Graded, {"x": numbers(7, 4)}, None, {}),
    "sifted": (selections.Sifted, {"x": numbers(7, 4)}, None, {}),
    "spliced": (selections.Spliced, {"x": numbers(7, 4)}, None, {}),
    "culled": (selections.Culled, {"x": numbers(6, 4)}, None, {}),
    "attended": (selections.Attended, {"x": numbers(7, 4)}, None, {}),
    "regrouped": (selections.Regrouped, {"x": numbers(7, 4)}, None, {}),
    "linked": (selections.Linked, {"x": numbers(6, 4), "edges": torch.tensor([[0, 1, 2, 3, 4, 5, 2, 0, 1], [1, 0, 2, 1, 4, 3, 5, 3, 3]])}, None, {}),
    "measured": (Measured, {"x": numbers(3, 4, 4), "rows": numbers(7, 4)},
                 {"x": {0: OPEN, 1: torch.export.Dim.AUTO}, "rows": {0: 2 * OPEN + 1}}, {"rows.0": 7, "x.1": 4}),
    "routed": (tasks.Routed, {"x": numbers(24, 16), "target": words(5, 24)}, None, {}),
    "translated": (tasks.Translated, {"source": words(20, 2, 7), "target": words(20, 2, 5)}, None, {}),
    "adapted": (tasks.Adapted, {"words": words(20, 2, 9), "target": words(20, 2, 9)}, None, {}),
    "contrasted": (tasks.Contrasted, {"images": numbers(6, 12), "texts": numbers(6, 10)}, None, {}),
    "denoised": (tasks.Denoised, {"images": numbers(4, 1, 8, 8), "times": words(50, 4), "noise": numbers(4, 1, 8, 8).flip(0)}, None, {}),
    "transduced": (tasks.Transduced, {"sound": numbers(2, 5, 7), "labels": words(6, 2, 3)}, None, {}),
    "spelled": (tasks.Spelled, {"sound": numbers(4, 6, 7), "labels": torch.tensor([[1, 1, 3, 2], [2, 3, 1, 1], [1, 2, 3, 1], [3, 3, 1, 1]]),
                                "times": torch.tensor([6, 5, 4, 5]), "lengths": torch.tensor([3, 2, 0, 4])}, None, {}),
    "unspoken": (tasks.Unspoken, {"sound": numbers(3, 4, 7), "labels": torch.tensor([[1, 1, 3], [3, 0, 1], [0, 0, 0]]),
                                  "times": torch.tensor([4, 3, 4]), "lengths": torch.tensor([3, 2, 3])}, None, {}),
    "dictated": (tasks.Dictated, {"sound": numbers(4, 6, 7), "labels": torch.tensor([[1, 1, -1], [3, -1, 2], [-1, -1, -1], [-1, 4, 4]]),
                                  "lengths": torch.tensor([1, 0, 4, 1])}, None, {}),
    "ragged": (tasks.Ragged, {"x": numbers(3, 6, 4)}, None, {}),
    "matched": (tasks.Matched, {"x": numbers(3, 8), "boxes": numbers(3, 2, 4).sigmoid(), "classes": words(3, 3, 2)}, None, {}),
    "packed": (tasks.Packed, {"words": words(20, 2, 12), "text": torch.tensor([[0] * 5 + [1] * 4 + [2] * 3, [0] * 7 + [1] * 5]),
                              "target": words(20, 2, 12)}, None, {}),
    "spectra": (spectra.Spectra, {"sound": numbers(3, 63)}, None, {}),
    "headed": (Headed, {"x": numbers(5, 6)}, None, {}),
    "rescaled": (Rescaled, {"x": numbers(4, 6)}, None, {}),
    "kernels": (kernels.Kernels, {"x": numbers(2, 4, 8)}, None, {}),
    "opposed": (tasks.Opposed, {"noise": numbers(8, 4), "real": numbers(8, 6)}, None, {}),
}
"""Name -> (module, inputs, dynamic_shapes, sizes of open dimensions)."""


def listed(found):
    """The tensors that a model gives."""
    return list(found.values()) if isinstance(found, dict) else found if isinstance(found, tuple) else [found]


def named(found):
    """The same by the names that they have as the entry `outputs` of a returned dict."""
    tensors = listed(found)
    return {"outputs" if len(tensors) == 1 else f"outputs_{i}": x for i, x in enumerate(tensors)}


def weigh(found):
    """The loss of what a model gives: the mean of each output, weighted by a cosine."""
    outputs = listed(found)
    weights = [torch.cos(torch.arange(x.numel(), dtype=torch.float32)).view(x.shape).to(x) for x in outputs]
    return sum((x * w).mean() for x, w in zip(outputs, weights))


def with_loss(model, detached=False, gives=lambda loss, found: {"loss": loss, "outputs": found}):
    """The model, which gives its loss beside what it gives; parameters keep their names."""
    model = copy.deepcopy(model)

    class Loss(type(model)):
        @functools.wraps(type(model).forward)
        def forward(self, *args, **kwargs):
            found = super().forward(*args, **kwargs)
            loss = weigh(found)
            return gives(loss, torch.utils._pytree.tree_map(torch.detach, found) if detached else found)

    model.__class__ = Loss
    return model


def tidy(path, compression):
    """Writes the archive again without stack traces, which name folders of this machine."""
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in records.items():
            if name.endswith(".json"):
                content = json.dumps(without_traces(json.loads(content))).encode()
            if "/sample_inputs/" not in name and name != "serialized_example_inputs.pt":
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, compression)


def without_traces(value):
    if isinstance(value, list):
        return [without_traces(each) for each in value]
    if isinstance(value, dict):
        return {name: without_traces(each) for name, each in value.items() if name != "stack_trace"}
    return value
