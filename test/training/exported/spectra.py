# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that work on spectra and on complex numbers: a global filter, a Fourier neural operator, rotary attention, a
classifier of sounds."""

import torch
from torch import nn
from torch.nn import functional as F


class GlobalFilter(nn.Module):
    """The mixer of GFNet: each frequency of an image times a weight, kept as pairs of reals."""

    def __init__(self, width, side):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(side, side // 2 + 1, width, 2) * 0.2)

    def forward(self, x):  # [batch, rows, columns, width]
        spectrum = torch.fft.rfft2(x, dim=(1, 2), norm="ortho")
        return torch.fft.irfft2(spectrum * torch.view_as_complex(self.weight), s=x.shape[1:3], dim=(1, 2), norm="ortho")


class SpectralConvolution(nn.Module):
    """The layer of a Fourier neural operator: a complex matrix for each of the lowest frequencies."""

    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.low = nn.Parameter(torch.randn(width, width, modes, modes, dtype=torch.cfloat) / width)
        self.high = nn.Parameter(torch.randn(width, width, modes, modes, dtype=torch.cfloat) / width)

    def forward(self, x):  # [batch, width, rows, columns]
        spectrum, modes = torch.fft.rfft2(x), self.modes
        low = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :modes, :modes], self.low)
        high = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -modes:, :modes], self.high)
        between = low.new_zeros(*low.shape[:2], x.shape[2] - 2 * modes, modes)
        mixed = F.pad(torch.cat([low, between, high], 2), (0, spectrum.shape[3] - modes))
        return torch.fft.irfft2(mixed, s=x.shape[2:])


class RotaryAttention(nn.Module):
    """Queries and keys turned by complex numbers, as in the code of LLaMA: a buffer."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, self.joined = heads, nn.Linear(width, 3 * width)
        rates = 10000.0 ** -(torch.arange(0, width // heads, 2) / (width // heads))
        angles = torch.outer(torch.arange(length), rates)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def turned(self, x):
        numbers = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(numbers * self.turns[: x.shape[2]]).flatten(3).type_as(x)

    def forward(self, x):  # [batch, length, width]
        q, k, v = self.joined(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        return F.scaled_dot_product_attention(self.turned(q), self.turned(k), v).transpose(1, 2).flatten(2)


class Spectra(nn.Module):
    """Sounds as spectrograms, mixed along frequencies, modes and frames."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(14), persistent=False)
        self.lift, self.filter = nn.Conv2d(1, 4, 1), GlobalFilter(4, 8)
        self.operator, self.attention = SpectralConvolution(4, 3), RotaryAttention(32, 2, 12)
        self.head = nn.Linear(32, 3)

    def forward(self, sound):  # [batch, 63]
        spectrum = torch.stft(sound, 14, 9, window=self.window, return_complex=True)  # [batch, 8, 8]
        x = self.lift((spectrum.abs() + 1e-3).log()[:, None])
        x = x + self.filter(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        x = F.gelu(x + self.operator(x))
        return {"logits": self.head(self.attention(x.flatten(1, 2).transpose(1, 2)).mean(1)), "spectrum": torch.view_as_real(spectrum)}
