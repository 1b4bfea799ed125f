# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that compute a loss of their own, and do more for it than layers: routing, matching, dynamic programming."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Routed(nn.Module):
    """A mixture of experts: each word goes to its two best of four, as long as these have room."""

    def __init__(self, width=16, experts=4, room=6):
        super().__init__()
        self.gate, self.head, self.room = nn.Linear(width, experts), nn.Linear(width, 5), room
        self.up = nn.Parameter(torch.randn(experts, width, 32) * 0.2)
        self.down = nn.Parameter(torch.randn(experts, 32, width) * 0.2)

    def forward(self, x, target):
        chances = F.softmax(self.gate(x), -1)
        weights, best = chances.topk(2, -1)
        chosen = F.one_hot(best, chances.shape[-1]).to(x)  # [words, 2, experts]
        place = (chosen.flatten(0, 1).cumsum(0) - 1).view(chosen.shape)
        fits = (place < self.room) * chosen
        slots = F.one_hot(place.clamp(0, self.room - 1).long(), self.room).to(x) * fits.unsqueeze(-1)
        given = torch.einsum("wec,wd->ecd", slots.sum(1), x)
        results = torch.bmm(F.gelu(torch.bmm(given, self.up)), self.down)
        back = (slots * (weights / weights.sum(-1, keepdim=True))[:, :, None, None]).sum(1)
        balance = (chances.mean(0) * chosen[:, 0].mean(0)).sum()
        return F.cross_entropy(self.head(x + torch.einsum("wec,ecd->wd", back, results)), target) + 0.04 * balance


class Translated(nn.Module):
    """An encoder and a decoder that have the batch first, of attentions that want positions first."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(20, 8), nn.Linear(8, 20)
        self.layers = nn.Transformer(8, 2, 1, 1, 12, dropout=0.0, batch_first=True)

    def forward(self, source, target):
        x = self.words(target[:, :-1])
        seen = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        x = self.layers(self.words(source), x, tgt_mask=seen, tgt_is_causal=True)
        return F.cross_entropy(self.head(x).flatten(0, 1), target[:, 1:].flatten())


class Adapted(nn.Module):
    """A frozen language model with low-rank changes to a projection (LoRA)."""

    def __init__(self):
        super().__init__()
        self.words, self.query, self.head = nn.Embedding(20, 16), nn.Linear(16, 16), nn.Linear(16, 20, bias=False)
        self.requires_grad_(False)
        self.low, self.high = nn.Parameter(torch.randn(16, 2) * 0.3), nn.Parameter(torch.full((2, 16), 0.01))

    def forward(self, words, target):
        x = self.words(words)
        x = F.scaled_dot_product_attention(self.query(x) + x @ self.low @ self.high, x, x, is_causal=True)
        return F.cross_entropy(self.head(x).flatten(0, 1), target.flatten())


class Contrasted(nn.Module):
    """Pairs are found among all of a batch, in both directions, at a temperature that is learned (CLIP)."""

    def __init__(self):
        super().__init__()
        self.images, self.texts, self.temperature = nn.Linear(12, 8), nn.Linear(10, 8), nn.Parameter(torch.tensor(2.6))

    def forward(self, images, texts):
        a, b = F.normalize(self.images(images), dim=-1), F.normalize(self.texts(texts), dim=-1)
        scores = self.temperature.exp() * a @ b.T
        pairs = torch.arange(scores.shape[0])
        return (F.cross_entropy(scores, pairs) + F.cross_entropy(scores.T, pairs)) / 2


class Denoised(nn.Module):
    """A step of a diffusion model: noise that was added at given times is estimated."""

    def __init__(self):
        super().__init__()
        self.first, self.time, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.Linear(8, 8), nn.GroupNorm(2, 8)
        self.last = nn.Conv2d(8, 1, 3, padding=1)
        self.register_buffer("kept", torch.cumprod(1 - torch.linspace(1e-4, 0.02, 50), 0))

    def forward(self, images, times, noise):
        kept = self.kept[times][:, None, None, None]
        angles = times[:, None] * torch.exp(-torch.arange(4.0)).to(images)
        x = self.first(kept.sqrt() * images + (1 - kept).sqrt() * noise)
        x = x + self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        return F.mse_loss(self.last(F.silu(self.norm(x))), noise)


class Transduced(nn.Module):
    """The loss of a transducer (RNN-T): a sum over all paths through a lattice of times and labels."""

    def __init__(self, symbols=6):
        super().__init__()
        self.sound, self.text = nn.Linear(7, symbols), nn.Embedding(symbols, symbols)

    def forward(self, sound, labels):
        joined = self.sound(sound)[:, :, None] + F.pad(self.text(labels), (0, 0, 1, 0))[:, None]
        scores = F.log_softmax(joined, -1)  # [batch, times, labels + 1, symbols]
        times, count = sound.shape[1], labels.shape[1]
        blank, label = scores[..., 0], scores[:, :, :-1].gather(3, labels[:, None, :, None].expand(-1, times, -1, 1))[..., 0]
        row = []
        for time in range(times):
            before, row = row, []
            for at in range(count + 1):
                ways = [before[at] + blank[:, time - 1, at]] if time else []
                ways += [row[at - 1] + label[:, time, at - 1]] if at else []
                row.append(torch.logaddexp(*ways) if len(ways) == 2 else ways[0] if ways else torch.zeros_like(blank[:, 0, 0]))
        return -(row[-1] + blank[:, -1, -1]).mean()


class Spelled(nn.Module):
    """Losses of speech without alignment (CTC): rows of labels or one behind the other, an empty text, and one too long for its sound."""

    def __init__(self, symbols=5):
        super().__init__()
        self.sound = nn.Linear(7, symbols)

    def forward(self, sound, labels, times, lengths):
        scores = F.log_softmax(self.sound(sound), -1).transpose(0, 1)  # [times, batch, symbols]
        behind = torch.cat([labels[0, :3], labels[1, :2], labels[3, :4]])
        return (F.ctc_loss(scores, labels, times, lengths, zero_infinity=True),
                F.ctc_loss(scores, labels[:, :2], (6, 4, 5, 3), (2, 1, 0, 2), blank=4, reduction="sum"),
                F.ctc_loss(scores, behind, times, lengths, reduction="none", zero_infinity=True),
                F.ctc_loss(scores[:, 0], labels[0, :3], times[0], lengths[0]))


class Unspoken(nn.Module):
    """CTC of a text that is too long for its sound, beside one that is not: the loss is infinite, and its gradient NaN."""

    def __init__(self, symbols=5):
        super().__init__()
        self.sound, self.short = nn.Linear(7, symbols), nn.Linear(7, symbols)

    def forward(self, sound, labels, times, lengths):
        long, short = (F.log_softmax(layer(sound), -1).transpose(0, 1) for layer in (self.sound, self.short))
        return (F.ctc_loss(long, labels, times, lengths, reduction="sum", blank=2),
                F.ctc_loss(short, labels, times, lengths.clamp(max=1), reduction="sum", blank=2))


class Dictated(nn.Module):
    """CTC of the labels that a mask selects among those that pad the rows, as many as it selects in each row, as lengths say, or as sums give."""

    def __init__(self, symbols=5):
        super().__init__()
        self.sound = nn.Linear(7, symbols)

    def forward(self, sound, labels, lengths):
        scores = F.log_softmax(self.sound(sound), -1).transpose(0, 1)
        is_label = labels >= 0
        times = torch.full((labels.shape[0],), sound.shape[1])
        selected = labels.masked_select(is_label)
        return (F.ctc_loss(scores, selected, times, is_label.sum(-1), reduction="none"),
                F.ctc_loss(scores, labels[is_label], times, lengths, reduction="sum"),
                F.ctc_loss(scores, selected, times, (torch.arange(9) < lengths[:, None]).sum(-1), reduction="sum", blank=3),
                F.ctc_loss(scores, selected, times, torch.stack([lengths, 0 * lengths], 1).sum(-1)))


class Ragged(nn.Module):
    """Recurrent layers of packed sequences: sorted or not, in both directions, padded to a length and with what."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        self.projected = nn.LSTM(6, 4, proj_size=2, bidirectional=True)
        self.gru, self.rnn = nn.GRU(4, 3, bidirectional=True), nn.RNN(3, 2, nonlinearity="relu", batch_first=True)
        self.first, self.cells = nn.Parameter(torch.randn(4, 3, 3)), nn.Parameter(torch.randn(4, 3, 3))
        self.before = nn.Parameter(torch.randn(2, 3, 3))

    def forward(self, x):
        packed = pack_padded_sequence(x, torch.tensor([6, 4, 1]), batch_first=True)
        wide, states = self.lstm(packed, (self.first, self.cells))
        doubled = wide._replace(data=2 * wide.data)
        projected, (last, cell) = self.projected(doubled)
        padded, lengths = pad_packed_sequence(projected, batch_first=True, padding_value=0.5, total_length=8)
        unsorted = pack_padded_sequence(x.transpose(0, 1), torch.tensor([2, 5, 5]), enforce_sorted=False)
        gated, gate = self.gru(unsorted, self.before)
        plain, _ = self.rnn(pack_padded_sequence(pad_packed_sequence(gated)[0].transpose(0, 1)[..., :3], [3, 3, 3], True))
        return padded, pad_packed_sequence(plain)[0], *states, last, cell, gate, lengths + 0.0


class Matched(nn.Module):
    """A head that gives six boxes, of which each target takes the nearest."""

    def __init__(self):
        super().__init__()
        self.boxes, self.classes = nn.Linear(8, 24), nn.Linear(8, 18)

    def forward(self, x, boxes, classes):
        found, scores = self.boxes(x).sigmoid().view(-1, 6, 4), self.classes(x).view(-1, 6, 3)
        nearest = torch.cdist(boxes, found, p=1).argmin(-1)[..., None]
        found, scores = found.gather(1, nearest.expand(-1, -1, 4)), scores.gather(1, nearest.expand(-1, -1, 3))
        return F.smooth_l1_loss(found, boxes) + F.cross_entropy(scores.flatten(0, 1), classes.flatten())


class Packed(nn.Module):
    """Rows of several texts: attention within each, positions from the start of each."""

    def __init__(self):
        super().__init__()
        self.words, self.positions, self.project, self.head = nn.Embedding(20, 16), nn.Embedding(12, 16), nn.Linear(16, 48), nn.Linear(16, 20)

    def forward(self, words, text, target):
        at = torch.arange(words.shape[1])
        begins = F.pad(text[:, 1:] != text[:, :-1], (1, 0))
        start = torch.cummax(torch.where(begins, at, 0), 1)[0]
        mask = (text[:, :, None] == text[:, None, :]) & (at[:, None] >= at)
        x = self.words(words) + self.positions(at - start)
        query, key, value = self.project(x).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return F.cross_entropy(self.head(x).flatten(0, 1), target.flatten())


class Opposed(nn.Module):
    """Both losses of a generator and a discriminator, neither of which moves the other's parameters, as one."""

    def __init__(self):
        super().__init__()
        self.make = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 6))
        self.judge = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

    def forward(self, noise, real):
        made = self.make(noise)
        judged = F.softplus(-self.judge(real)).mean() + F.softplus(self.judge(made.detach())).mean()
        fixed = {name: value.detach() for name, value in self.judge.named_parameters()}
        return judged + F.softplus(-torch.func.functional_call(self.judge, fixed, (made,))).mean()
