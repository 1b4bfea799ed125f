# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of text and speech."""

import math

import torch
from torch import nn
from torch.nn import functional

WORDS, WIDTH = 50, 32


class Translator(nn.Module):
    """attention_is_all_you_need_pytorch: PyTorch's own transformer with a causal mask and tied words."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.register_buffer("positions", _sinusoids(32, WIDTH))
        self.body = nn.Transformer(WIDTH, 2, 2, 2, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(WIDTH, WORDS, bias=False)
        self.out.weight = self.words.weight

    def forward(self, source, target):
        mask = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), 1)
        source_padding = source == 0
        x = self.body(
            self._embedded(source),
            self._embedded(target),
            tgt_mask=mask,
            tgt_is_causal=False,  # it is, but to be asked for it would depend on the mask's values
            src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding,
        )
        return self.out(x)

    def _embedded(self, words):
        return self.words(words) * WIDTH**0.5 + self.positions[: words.shape[1]]


class SpeechTransformer(nn.Module):
    """speech_transformer: frames of sound to letters; attention masks from lengths."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(40, WIDTH), nn.LayerNorm(WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.letters = nn.Embedding(WORDS, WIDTH)
        self.register_buffer("positions", _sinusoids(64, WIDTH))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, 2, 64, dropout=0.0, batch_first=True), 2)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, frames, lengths, letters):
        padding = torch.arange(frames.shape[1])[None] >= lengths[:, None]
        x = self.norm(self.linear(frames)) + self.positions[: frames.shape[1]]
        memory = self.encoder(x, src_key_padding_mask=padding)
        target = self.letters(letters) + self.positions[: letters.shape[1]]
        causal = torch.triu(torch.full((letters.shape[1],) * 2, float("-inf"), dtype=x.dtype), 1)
        return self.out(
            self.decoder(target, memory, tgt_mask=causal, tgt_is_causal=False, memory_key_padding_mask=padding)
        )


class _GptBlock(nn.Module):
    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))

    def forward(self, x):
        q, k, v = (_heads(t, self.heads) for t in self.qkv(self.norm1(x)).split(WIDTH, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norm2(x))


class NanoGpt(nn.Module):
    """nanogpt: tied embedding, learned positions, causal attention."""

    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(32, WIDTH)
        self.blocks = nn.Sequential(_GptBlock(), _GptBlock())
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.words.weight = self.out.weight

    def forward(self, words, targets):
        x = self.words(words) + self.positions(torch.arange(words.shape[1]))
        logits = self.out(self.norm(self.blocks(x)))
        return functional.cross_entropy(logits.view(-1, WORDS), targets.view(-1), ignore_index=-1)


class _RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class _LlamaBlock(nn.Module):
    def __init__(self, complex_rotary):
        super().__init__()
        self.complex_rotary = complex_rotary
        self.norm1, self.norm2 = _RmsNorm(), _RmsNorm()
        self.q, self.o = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.k, self.v = nn.Linear(WIDTH, 16, bias=False), nn.Linear(WIDTH, 16, bias=False)
        self.up, self.gate = nn.Linear(WIDTH, 64, bias=False), nn.Linear(WIDTH, 64, bias=False)
        self.down = nn.Linear(64, WIDTH, bias=False)

    def forward(self, x, angles):
        y = self.norm1(x)
        q, k, v = _heads(self.q(y), 2), _heads(self.k(y), 1), _heads(self.v(y), 1)
        q, k = self._rotated(q, angles), self._rotated(k, angles)
        k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        mask = torch.full((x.shape[1],) * 2, float("-inf"), dtype=x.dtype).triu(1)
        y = functional.softmax(scores + mask, dim=-1) @ v
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    def _rotated(self, x, angles):
        pairs = x.reshape(*x.shape[:-1], -1, 2)
        if self.complex_rotary:
            turn = torch.polar(torch.ones_like(angles), angles)
            return torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turn).flatten(3)
        even, odd = pairs.unbind(-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(3)


class Llama(nn.Module):
    """llama rotates by complex numbers as Meta's code does, simple_gpt by pairs of real ones."""

    def __init__(self, complex_rotary):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(_LlamaBlock(complex_rotary) for _ in range(2))
        self.norm, self.out = _RmsNorm(), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words):
        x = self.words(words)
        rates = 1.0 / 10000 ** (torch.arange(0, 16, 2, dtype=x.dtype) / 16)
        angles = torch.outer(torch.arange(words.shape[1], dtype=x.dtype), rates)
        for block in self.blocks:
            x = block(x, angles)
        return self.out(self.norm(x))


class SpeakerEncoder(nn.Module):
    """tts_angular: LSTMs with projections, the last frame normalised, the angular loss of GE2E."""

    def __init__(self):
        super().__init__()
        self.lstm1, self.lstm2 = nn.LSTM(40, 32, batch_first=True), nn.LSTM(16, 32, batch_first=True)
        self.project1, self.project2 = nn.Linear(32, 16, bias=False), nn.Linear(32, 16, bias=False)
        self.scale, self.shift = nn.Parameter(torch.tensor(10.0)), nn.Parameter(torch.tensor(-5.0))

    def forward(self, frames):
        x = self.project1(self.lstm1(frames)[0])
        x = self.project2(self.lstm2(x)[0])[:, -1]
        x = functional.normalize(x, p=2, dim=1).view(2, 2, -1)
        centres = x.mean(1)
        similarity = functional.cosine_similarity(x[:, :, None], centres[None, None], dim=-1)
        logits = (similarity * self.scale + self.shift).flatten(0, 1)
        return functional.cross_entropy(logits, torch.arange(2).repeat_interleave(2))


class Tacotron(nn.Module):
    """tacotron2: convolutions and an LSTM over letters, a decoder cell with location-aware attention, a postnet."""

    def __init__(self, frames=4, mels=8):
        super().__init__()
        self.frames, self.mels = frames, mels
        self.letters = nn.Embedding(WORDS, WIDTH)
        self.convolutions = nn.Sequential(nn.Conv1d(WIDTH, WIDTH, 5, padding=2), nn.BatchNorm1d(WIDTH), nn.ReLU())
        self.encoder = nn.LSTM(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)
        self.prenet = nn.Sequential(nn.Linear(mels, 16), nn.ReLU())
        self.cell = nn.LSTMCell(16 + WIDTH, 24)
        self.query, self.memory = nn.Linear(24, 16, bias=False), nn.Linear(WIDTH, 16, bias=False)
        self.location, self.energy = nn.Conv1d(1, 16, 3, padding=1), nn.Linear(16, 1, bias=False)
        self.out = nn.Linear(24 + WIDTH, mels)
        self.postnet = nn.Sequential(nn.Conv1d(mels, mels, 5, padding=2), nn.BatchNorm1d(mels), nn.Tanh())

    def forward(self, letters, mels):
        x = self.convolutions(self.letters(letters).transpose(1, 2)).transpose(1, 2)
        memory = self.encoder(x)[0]
        keys = self.memory(memory)
        hidden = cell = memory.new_zeros(len(letters), 24)
        weights = memory.new_zeros(len(letters), letters.shape[1])
        context, result = memory.new_zeros(len(letters), WIDTH), []
        for step in range(self.frames):
            hidden, cell = self.cell(torch.cat([self.prenet(mels[:, step]), context], 1), (hidden, cell))
            located = self.location(weights[:, None]).transpose(1, 2)
            energies = self.energy(torch.tanh(self.query(hidden)[:, None] + located + keys))[..., 0]
            weights = functional.softmax(energies, dim=1)
            context = torch.bmm(weights[:, None], memory)[:, 0]
            result.append(self.out(torch.cat([hidden, context], 1)))
        coarse = torch.stack(result, 2)
        return coarse, coarse + self.postnet(coarse)


def _heads(x, count):
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def _sinusoids(length, width):
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
