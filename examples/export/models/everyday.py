# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of the kinds that people train: a few thousand parameters, one size only."""

import functools

import torch
from torch import nn
from torch.nn import functional

from cases import Case, perturb

WORDS, PADDING = 20, 0


def _noise(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


def _classes(count, *shape):
    return torch.randint(count, shape, generator=torch.Generator().manual_seed(3))


def _words(*shape):
    """Words, the last few of some rows padding."""
    words = torch.randint(1, WORDS, shape, generator=torch.Generator().manual_seed(2))
    words[1::2, -2:] = PADDING
    return words


def _case(module, inputs, target, **options):
    perturb(module)
    return Case(module, inputs, target, **{"outputs": None, **options})


def mlp_batchnorm():
    """Tabular data: batch norms between linear layers, a regression."""
    module = nn.Sequential(
        nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Linear(16, 2)
    )  # fmt: skip
    options = {"loss": "mse", "optimizer": "adamw,weight_decay=0.05,clip_grad_norm=1", "lr": 1e-3}
    return _case(module, {"features": _noise(16, 12)}, _noise(16, 2), dynamic={"batch": {"features": 0}}, **options)


def mlp_dropout():
    """The same kind with dropout, which has no goldens but a mean."""
    module = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
    return _case(module, {"features": _noise(16, 12)}, _classes(3, 16), optimizer="adam")


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2)
        )  # fmt: skip
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(16 * 2 * 2, 32), nn.Tanh(), nn.Linear(32, 10))

    def forward(self, images):
        return self.classifier(self.features(images))


def lenet():
    inputs = {"images": _noise(8, 1, 16, 16)}
    options = {"loss": "cross_entropy,label_smoothing=0.1", "optimizer": "sgd,momentum=0.9,nesterov"}
    return _case(LeNet(), inputs, _classes(10, 8), dynamic={"batch": {"images": 0}}, **options)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.short = nn.Identity()
        if stride > 1:
            self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = functional.silu(self.norm1(self.conv1(x)))
        return functional.silu(self.norm2(self.conv2(y)) + self.short(x))


def residual_cnn():
    """Residual blocks with batch norm, of SiLU: rounding decides nothing at its kinks."""
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), Residual(8, 8, 1), Residual(8, 16, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
    )  # fmt: skip
    return _case(module, {"images": _noise(8, 3, 12, 12)}, _classes(5, 8), optimizer="sgd,momentum=0.9,weight_decay=1e-4")


class UNet(nn.Module):
    """Two levels, upsampled by transposed convolution, concatenated with what came before."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = self._block(1, 6), self._block(6, 12)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(12, 6, 2, stride=2)
        self.last = self._block(12, 6)
        self.head = nn.Conv2d(6, 3, 1)

    @staticmethod
    def _block(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.SiLU())

    def forward(self, images):
        fine = self.down1(images)
        coarse = self.down2(self.pool(fine))
        return self.head(self.last(torch.cat([fine, self.up(coarse)], dim=1)))


def unet():
    """Segmentation: a class for every pixel, those on the rim do not count, classes weighted."""
    target = _classes(3, 4, 12, 12)
    target[:, 0] = 255
    loss = "cross_entropy,ignore_index=255,weight=0.5:1:2"
    return _case(UNet(), {"images": _noise(4, 1, 12, 12)}, target, loss=loss, optimizer="adam", lr=1e-3)


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(x).reshape(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.project(y.transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads, causal)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.2)
        self.positions = nn.Parameter(torch.randn(1, 17, width) * 0.2)
        self.blocks = nn.Sequential(Block(width, 2), Block(width, 2))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 4)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit():
    inputs = {"images": _noise(4, 3, 16, 16)}
    options = {"optimizer": "adamw,weight_decay=0.05", "lr": 1e-3, "dynamic": {"batch": {"images": 0}}}
    return _case(ViT(), inputs, _classes(4, 4), **options)


class GPT(nn.Module):
    """Embedding and output tied, attention written out with a mask that is a buffer."""

    def __init__(self, width=16, time=8):
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, width), nn.Embedding(time, width)
        self.norm1, self.query, self.key = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.norm2 = nn.Linear(width, width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 32), nn.GELU(approximate="tanh"), nn.Linear(32, width))
        self.head = nn.Linear(width, WORDS, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.full((time, time), -1e4).triu(1))
        self.register_buffer("places", torch.arange(time), persistent=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(self.places)
        y = self.norm1(x)
        scores = self.query(y) @ self.key(y).transpose(1, 2) / 4 + self.mask
        x = x + torch.softmax(scores, dim=-1) @ self.value(y)
        return {"logits": self.head(x + self.mlp(self.norm2(x)))}


def gpt():
    """The output is a dict, and its classes stand last."""
    options = {"loss": "cross_entropy=logits,class_dim=-1", "optimizer": "adamw,beta2=0.95,clip_grad_norm=1", "lr": 1e-3}
    return _case(GPT(), {"tokens": _classes(WORDS, 3, 8)}, _classes(WORDS, 3, 8), **options)


class Bert(nn.Module):
    """Classifies sentences of different lengths. What embeds padding is part of the mean, and does not learn."""

    def __init__(self, width=16):
        super().__init__()
        self.words = nn.Embedding(WORDS, width, padding_idx=PADDING)
        self.kinds = nn.Embedding(2, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, tokens, kinds):
        x = self.layer(self.words(tokens) + self.kinds(kinds), src_key_padding_mask=tokens == PADDING)
        return self.head(x.mean(dim=1))


def bert_padding():
    inputs = {"tokens": _words(4, 7), "kinds": _classes(2, 4, 7)}
    return _case(Bert(), inputs, _classes(2, 4), optimizer="adamw", lr=1e-3)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.words = nn.Embedding(WORDS, 8)
        self.recurrent = kind(8, 10, num_layers=2, batch_first=True, bidirectional=kind is nn.GRU)
        self.head = nn.Linear(20 if kind is nn.GRU else 10, 3)

    def forward(self, tokens):
        return self.head(self.recurrent(self.words(tokens))[0].mean(dim=1))


def recurrent(kind):
    return _case(Recurrent(kind), {"tokens": _classes(WORDS, 4, 6)}, _classes(3, 4), optimizer="adam,amsgrad", lr=1e-2)


def autoencoder():
    """Its target are images; binary cross-entropy of every pixel."""
    module = nn.Sequential(
        nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.SiLU(), nn.Conv2d(6, 8, 3, stride=2, padding=1), nn.SiLU(),
        nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1), nn.BatchNorm2d(6), nn.SiLU(),
        nn.ConvTranspose2d(6, 1, 4, stride=2, padding=1),
    )  # fmt: skip
    images = torch.sigmoid(_noise(4, 1, 12, 12))
    return _case(module, {"images": images}, images.clone(), loss="bce_with_logits", optimizer="adam", lr=1e-3)


class Siamese(nn.Module):
    """One encoder for both inputs, and a contrastive loss that the model computes itself."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 6))

    def forward(self, left, right, same):
        a, b = (functional.normalize(self.encoder(x), dim=1) for x in (left, right))
        distance = (a - b).square().sum(dim=1)
        loss = (same * distance + (1 - same) * functional.relu(1.5 - distance)).mean()
        return {"loss": loss, "distance": distance}


def siamese():
    inputs = {"left": _noise(8, 10), "right": _noise(16, 10)[8:], "same": _classes(2, 8).float()}
    return _case(Siamese(), inputs, None, loss="output:loss", optimizer="sgd,momentum=0.9", lr=0.1)


class FineTuned(nn.Module):
    """A frozen base, its batch norm in evaluation mode, below a new head."""

    def __init__(self):
        super().__init__()
        self.base = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.head = nn.Linear(32, 4)
        self.base.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.base.eval()
        return self

    def forward(self, images):
        return self.head(self.base(images).flatten(1))


def fine_tuned():
    return _case(FineTuned().train(), {"images": _noise(4, 3, 8, 8)}, _classes(4, 4), optimizer="adam", lr=1e-2)


def weight_norm():
    """Direction and length of a weight are parameters; log probabilities."""
    normed = nn.utils.parametrizations.weight_norm
    module = nn.Sequential(
        normed(nn.Conv1d(3, 8, 3)), nn.ELU(), nn.Flatten(), normed(nn.Linear(64, 4)), nn.LogSoftmax(dim=1)
    )  # fmt: skip
    return _case(module, {"signal": _noise(4, 3, 10)}, _classes(4, 4), loss="nll", lr=0.1)


MODELS = {
    "mlp_batchnorm": mlp_batchnorm,
    "mlp_dropout": mlp_dropout,
    "lenet": lenet,
    "residual_cnn": residual_cnn,
    "unet": unet,
    "vit": vit,
    "gpt": gpt,
    "bert_padding": bert_padding,
    "lstm_text": functools.partial(recurrent, nn.LSTM),
    "gru_text": functools.partial(recurrent, nn.GRU),
    "autoencoder": autoencoder,
    "siamese": siamese,
    "fine_tuned": fine_tuned,
    "weight_norm": weight_norm,
}
