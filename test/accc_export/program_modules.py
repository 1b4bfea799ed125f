# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that programs_test.py exports."""

import torch
from torch import nn
from torch.nn import functional


class Everything(nn.Module):
    """What programs have that ONNX models have not: tied weights, buffers that change, gradients that stop."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 8, padding_idx=0)
        self.norm, self.batch_norm, self.fixed = nn.LayerNorm(8), nn.BatchNorm1d(8), nn.Linear(8, 8)
        self.head = nn.Linear(8, 9, bias=False)
        self.head.weight = self.words.weight
        self.unused, self.stopped, self.dead = nn.Linear(2, 2), nn.Linear(8, 8), nn.Linear(8, 8)
        self.fixed.requires_grad_(False)
        self.register_buffer("average", torch.zeros(8))
        self.register_buffer("recent", torch.arange(24.0).view(3, 8))

    def forward(self, tokens, *, shift):
        x = self.norm(self.words(tokens))
        functional.dropout(self.dead(x).float(), 0.0).relu_()
        q = self.fixed(x).unsqueeze(1)
        x = x + functional.scaled_dot_product_attention(q, q, q, is_causal=True).squeeze(1)
        x = self.batch_norm(x.mean(dim=1) + shift) + self.stopped(shift).detach()
        with torch.no_grad():
            self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
        x = x + self.recent.mean(0)
        self.recent = torch.cat([self.recent[1:], shift[:1]])
        return {"logits": self.head(x), "hidden": x}


class Teaching(nn.Module):
    """Of what its teacher computes without gradients, one result is read."""

    def __init__(self):
        super().__init__()
        self.student, self.teacher, self.dead = (nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        y = self.student(x)
        with torch.no_grad():
            taught = self.teacher(x)
            self.dead(taught)
        return (y - taught).square().mean()


class Causal(nn.Module):
    """An encoder, which asks whether its mask is the causal one."""

    def __init__(self, mask):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
        self.encoder, self.mask = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), mask

    def forward(self, x):
        return self.encoder(x, mask=self.mask())


class Written(nn.Module):
    """Forward passes write into its parameters."""

    def __init__(self):
        super().__init__()
        self.words, self.mix = nn.Embedding(9, 4, max_norm=0.5), nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            self.mix.weight.clamp_(-0.1, 0.1)
        return Scaled.apply(self.mix(self.words(x)).tanh(), 1.0)


class Scaled(torch.autograd.Function):
    """The identity, whose gradient is scaled."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.scale * gradient, None


class Overwritten(torch.autograd.Function):
    """A softmax whose result its forward pass writes into."""

    @staticmethod
    def forward(ctx, x):
        y = x.softmax(-1)
        ctx.save_for_backward(y)
        return y.masked_fill_(y < 0.1, 0.0)

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return y * (gradient - (y * gradient).sum(-1, keepdim=True))


class Attending(nn.Linear):
    def forward(self, x):
        return Overwritten.apply(super().forward(x))


class Reversed(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale, self.mix, self.norm = scale, nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return Scaled.apply(self.norm(self.mix(x)), self.scale) ** 2


class Hooked(nn.Module):
    def __init__(self, hook):
        super().__init__()
        self.mix, self.hook = nn.Linear(4, 4), hook

    def forward(self, x):
        x = self.mix(x)
        if self.hook and x.requires_grad:
            x.register_hook(self.hook)
        return x.tanh()


class Filtered(nn.Module):
    """Has complex numbers for parameter, buffer and input."""

    def __init__(self):
        super().__init__()
        self.mix, self.scale = nn.Linear(8, 8), nn.Parameter(torch.randn(5, dtype=torch.complex64))
        self.register_buffer("turn", torch.polar(torch.ones(5), torch.arange(5.0)))

    def forward(self, sound, shift):
        spectrum = torch.fft.rfft(self.mix(sound)) * self.scale * self.turn + shift
        return {"loss": torch.fft.irfft(spectrum.abs() * spectrum, n=8).square().mean()}


def everything():
    torch.manual_seed(0)
    return Everything(), {"tokens": torch.randint(9, (4, 5)), "shift": torch.randn(4, 8)}, torch.randint(9, (4,))


class Averaging(nn.Module):
    """A teacher whose frozen parameters follow the student's."""

    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(4, 3), nn.Linear(4, 3).requires_grad_(False)

    def forward(self, x):
        with torch.no_grad():
            for average, parameter in zip(self.teacher.parameters(), self.student.parameters()):
                average.lerp_(parameter, 0.1)
            taught = self.teacher(x)
        return {"loss": (self.student(x + 1) - taught).square().mean()}


class Following(nn.Module):
    """Tells a token by those before it, and takes no rows that are too short for that."""

    def __init__(self, count):
        super().__init__()
        self.table, self.mix, self.count = nn.Embedding(5, 4), nn.Conv1d(4, 5, count), count

    def forward(self, tokens):
        scores = self.mix(self.table(tokens[:, :-1]).transpose(1, 2)).log_softmax(1)
        return {"loss": -scores.gather(1, tokens[:, None, self.count :]).mean()}


class Standing(Following):
    """Has a weight for each of eight tokens."""

    def forward(self, tokens):
        return {"loss": super().forward(tokens)["loss"] * (tokens * torch.arange(8.0)).mean()}


class Shifted(nn.Embedding):
    """Tells a token by the one before it. Of a mean over one token, PyTorch takes for granted that it is none."""

    def forward(self, tokens):
        scores = super().forward(tokens)[:, :-1].log_softmax(-1)
        return {"loss": -torch.gather(scores, 2, tokens[:, 1:, None]).squeeze(2).sum(-1).mean()}


class Apart(nn.Linear):
    """PyTorch computes distances of few points otherwise than of more."""

    def forward(self, points):
        return {"loss": torch.cdist(super().forward(points), points).mean()}


class Transformed(nn.Linear):
    """Returns the spectrum of its output as well."""

    def forward(self, x):
        sound = super().forward(x)
        return {"sound": sound, "spectrum": torch.fft.rfft(sound)}


class Policy(nn.Linear):
    """Keeps the distribution of its latest pass where no other module sees it, as libraries of reinforcement learning do."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.kept = {}

    def forward(self, x):
        mean, log_scale = super().forward(x).unbind(1)
        self.kept["log_prob"] = torch.distributions.Normal(mean, log_scale.exp()).log_prob(x[:, 0])
        return {"loss": -self.kept["log_prob"].mean()}


class Scalar(nn.Linear):
    def __init__(self):
        super().__init__(4, 2)

    def forward(self, x):
        scores = super().forward(x)
        return {"loss": scores.square().mean(), "scores": scores}


class Tempered(nn.Module):
    """Its arguments are in the graph, in lower case, beside operators of these names."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, t, mul, T):
        return {"loss": (self.layer(t) * mul / T).square().sum()}


class Windowed(nn.Module):
    """Writes into windows of two elements."""

    def __init__(self, step):
        super().__init__()
        self.layer, self.step = nn.Linear(4, 4), step

    def forward(self, x):
        y = self.layer(x)
        y.unfold(1, 2, self.step)[..., 1:] *= 2
        return {"loss": y.square().sum()}


class Alike(nn.Module):
    """Two parameters whose gradient is the same tensor."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return {"loss": ((self.first + self.second) * x).sum()}


class Squared(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return {"loss": self.module(x).square().mean()}


class Unseen(nn.Module):
    """Of its torch.no_grad() PyTorch (2.15) exports nothing."""

    def __init__(self, dropout):
        super().__init__()
        self.fixed, self.layer, self.dropout = nn.Linear(4, 4), nn.Linear(4, 4), nn.Dropout(dropout)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad():
                h = self.fixed(x)
            return self.dropout(self.layer(h + self.fixed(x).tanh()).float())


class Cancelling(nn.Linear):
    """Has a parameter whose gradient is rounding alone: softmax does not see what all scores have in common."""

    def __init__(self):
        super().__init__(4, 4)
        self.common = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        return {"loss": -(super().forward(x) + self.common).log_softmax(1)[:, 0].mean()}


class Asking(nn.Linear):
    """Gives something else while it is exported."""

    def forward(self, x):
        y = super().forward(x)
        return y if torch.compiler.is_exporting() else torch.tanh(y)


class Buffered(nn.Linear):
    """Begins a sum with a buffer that asks for a gradient, and has another that was computed of its weight."""

    def __init__(self, *sizes, of=lambda x: x):
        super().__init__(*sizes)
        self.register_buffer("zero", torch.zeros(()))
        self.register_buffer("first", self.weight.clone())
        self.of = of

    def forward(self, x):
        loss = self.zero.requires_grad_() + super().forward(x).square().mean()
        return {"loss": loss + (self.of(self.first) * self.weight).sum()}


class Along(nn.Linear):
    """The gradient of softplus has other strides than PyTorch expects while it traces, so that a view of it does not exist."""

    def forward(self, x):
        return functional.softplus(super().forward(x)).transpose(1, 2).cumsum(-1)


class Halves(nn.Linear):
    """Writes into parts of a tensor, which is read as a whole behind."""

    def forward(self, x):
        y = x.clone()
        y[:, :2].mul_(super().forward(x)[:, :2])
        y[:, 2:][:, 0].add_(1)
        return y


class Shared(nn.Module):
    """Has a batch norm in two places."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.again = nn.Sequential(self.layer, nn.Tanh())

    def forward(self, x):
        return {"loss": (self.again(self.layer(x)) * x).mean()}


class Average(nn.Module):
    """Sets a tensor of another shape for its buffer, of which torch.export says nothing in a part of a module."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, x):
        y = x - self.mean
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return y


class Branch(nn.Linear):
    def __init__(self):
        super().__init__(4, 2)

    def forward(self, x):
        return super().forward(x if x.sum() > 0 else -x)


class Initialised(nn.Linear):
    """Takes its bias from the first batch, and the sine of some columns: flags, in a buffer and in an attribute that is none."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("ready", torch.tensor(False))
        self.is_angle = torch.tensor([True, False, False, True])

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.bias.copy_(x.mean(0)[: self.out_features])
                self.ready.fill_(True)
        columns = [x[:, i].sin() if is_angle else x[:, i] for i, is_angle in enumerate(self.is_angle)]
        return super().forward(torch.stack(columns, 1))


class Replaced(Initialised):
    """Does so by other data for the parameter and the flag, as nflows' ActNorm."""

    def forward(self, x):
        if not self.ready:
            self.bias.data = x.detach().mean(0)[: self.out_features]
            self.ready.data = torch.tensor(True)
        return nn.Linear.forward(self, x)


class Comparing(nn.Linear):
    def forward(self, x):
        return super().forward(x) if torch.equal(x, x.relu()) else x


class Row(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("row", self.weight.data[0], persistent=False)

    def forward(self, x):
        return super().forward(x) + (x * self.row).sum(1, keepdim=True)
