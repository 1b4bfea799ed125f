# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks that make images or sound from others."""

import math

import torch
from torch import nn
from torch.nn import functional

from nets.images import convolution


def dcgan():
    """Generator and discriminator, one after the other."""
    return nn.Sequential(
        nn.ConvTranspose2d(16, 32, 4, 1, 0, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.ConvTranspose2d(16, 3, 4, 2, 1, bias=False),
        nn.Tanh(),
        nn.Conv2d(3, 16, 4, 2, 1, bias=False),
        nn.LeakyReLU(0.2),
        nn.Conv2d(16, 32, 4, 2, 1, bias=False),
        nn.BatchNorm2d(32),
        nn.LeakyReLU(0.2),
        nn.Conv2d(32, 1, 4, 1, 0, bias=False),
        nn.Sigmoid(),
    )


class _Block(nn.Module):
    def __init__(self, width, affine):
        super().__init__()
        self.body = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(width, width, 3),
            nn.InstanceNorm2d(width, affine=affine),
            nn.ReLU(),
            nn.ReflectionPad2d(1),
            nn.Conv2d(width, width, 3),
            nn.InstanceNorm2d(width, affine=affine),
        )

    def forward(self, x):
        return x + self.body(x)


def translator(inputs=3, outputs=3, affine=False):
    """pytorch_CycleGAN_and_pix2pix's generator; stargan's has affine norms and the labels among its inputs."""
    return nn.Sequential(
        nn.ReflectionPad2d(3),
        nn.Conv2d(inputs, 8, 7),
        nn.InstanceNorm2d(8, affine=affine),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, 2, 1),
        nn.InstanceNorm2d(16, affine=affine),
        nn.ReLU(),
        _Block(16, affine),
        nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1),
        nn.InstanceNorm2d(8, affine=affine),
        nn.ReLU(),
        nn.ReflectionPad2d(3),
        nn.Conv2d(8, outputs, 7),
        nn.Tanh(),
    )


class StarGan(nn.Module):
    def __init__(self, labels=5):
        super().__init__()
        self.body = translator(3 + labels, affine=True)

    def forward(self, images, labels):
        labels = labels[:, :, None, None].repeat(1, 1, images.shape[2], images.shape[3])
        return self.body(torch.cat([images, labels], 1))


class UNet(nn.Module):
    """pytorch_unet: down by pooling, up by bilinear resizing and padding to the skip's size."""

    def __init__(self, inputs=3, outputs=2, width=8, up=None):
        super().__init__()
        double = lambda a, b: nn.Sequential(convolution(a, b), convolution(b, b))  # noqa: E731
        self.first, self.down = double(inputs, width), double(width, 2 * width)
        self.bottom = double(2 * width, 2 * width)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.middle, self.last = double(4 * width, width), double(2 * width, width)
        self.out = nn.Conv2d(width, outputs, 1)

    def forward(self, images):
        first = self.first(images)
        down = self.down(functional.max_pool2d(first, 2))
        bottom = self.bottom(functional.max_pool2d(down, 2))
        x = self.middle(self._joined(bottom, down))
        return self.out(self.last(self._joined(x, first)))

    def _joined(self, x, skip):
        x = self.up(x)
        high, wide = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        x = functional.pad(x, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
        return torch.cat([skip, x], 1)


class Matting(nn.Module):
    """Background_Matting: encoders of image, background and trimap, and heads for foreground and alpha."""

    def __init__(self):
        super().__init__()
        self.encoders = nn.ModuleList(nn.Sequential(convolution(c, 8), convolution(8, 16, 3, 2)) for c in (3, 3, 1))
        self.joined = nn.Sequential(convolution(48, 16, 1), convolution(16, 16))
        self.alpha = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(16, 1, 3, padding=1), nn.Tanh()
        )
        self.foreground = nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(16, 3, 3, padding=1))

    def forward(self, image, background, trimap):
        x = torch.cat([f(x) for f, x in zip(self.encoders, (image, background, trimap))], 1)
        x = self.joined(x)
        alpha = self.alpha(x) * 0.5 + 0.5
        return alpha, image * (alpha > 0.95).to(image.dtype) + self.foreground(x) * (alpha <= 0.95).to(image.dtype)


class SlowMotion(nn.Module):
    """Super_SloMo: optical flow by a U-Net, and frames warped along it by grid_sample."""

    def __init__(self):
        super().__init__()
        self.flow = UNet(6, 4)

    def forward(self, first, second):
        flow = torch.tanh(self.flow(torch.cat([first, second], 1)))
        there, back = flow[:, :2], flow[:, 2:]
        middle = 0.5 * self._warp(first, -0.25 * there + 0.25 * back) + 0.5 * self._warp(
            second, 0.25 * there - 0.25 * back
        )
        return middle, there, back

    def _warp(self, image, flow):
        rows, columns = image.shape[2:]
        y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        x = 2 * ((x.to(flow.dtype) + flow[:, 0] * 4) / columns - 0.5)
        y = 2 * ((y.to(flow.dtype) + flow[:, 1] * 4) / rows - 0.5)
        return functional.grid_sample(image, torch.stack([x, y], 3), align_corners=False)


class Demucs(nn.Module):
    """Sound separation: strided convolutions with gates, an LSTM at the bottom, transposed ones back."""

    def __init__(self, sources=2):
        super().__init__()
        self.sources = sources
        widths = (2, 8, 16)
        self.encoder = nn.ModuleList(
            nn.Sequential(nn.Conv1d(a, b, 8, 4), nn.ReLU(), nn.Conv1d(b, 2 * b, 1), nn.GLU(dim=1))
            for a, b in zip(widths, widths[1:])
        )
        self.decoder = nn.ModuleList(
            nn.Sequential(nn.Conv1d(b, 2 * b, 3, padding=1), nn.GLU(dim=1), nn.ConvTranspose1d(b, a, 8, 4))
            for a, b in ((8, 16), (2 * sources, 8))
        )
        self.lstm = nn.LSTM(16, 16, num_layers=2, bidirectional=True)
        self.linear = nn.Linear(32, 16)

    def forward(self, mix):
        x, skips = mix, []
        for encode in self.encoder:
            x = encode(x)
            skips.append(x)
        x = self.linear(self.lstm(x.permute(2, 0, 1))[0]).permute(1, 2, 0)
        for decode in self.decoder:
            skip = skips.pop()
            x = decode(x + skip[..., : x.shape[-1]])
        return x.view(x.shape[0], self.sources, 2, x.shape[-1])


class _TimeBlock(nn.Module):
    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(4, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1))
        self.time = nn.Linear(time, outputs)
        self.second = nn.Sequential(nn.GroupNorm(4, outputs), nn.SiLU(), nn.Conv2d(outputs, outputs, 3, padding=1))
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        return self.skip(x) + self.second(self.first(x) + self.time(functional.silu(time))[:, :, None, None])


class _CrossAttention(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.norm = nn.GroupNorm(4, width)
        self.attention = nn.MultiheadAttention(width, 2, kdim=context, vdim=context, batch_first=True)

    def forward(self, x, context):
        batch, width, rows, columns = x.shape
        tokens = self.norm(x).flatten(2).transpose(1, 2)
        tokens = self.attention(tokens, context, context, need_weights=False)[0]
        return x + tokens.transpose(1, 2).reshape(batch, width, rows, columns)


class DiffusionUNet(nn.Module):
    """stable_diffusion_unet: embeddings of the time step, residual blocks, attention to a text."""

    def __init__(self, width=16, context=12):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first = nn.Conv2d(4, width, 3, padding=1)
        self.down = _TimeBlock(width, width, 32)
        self.smaller = nn.Conv2d(width, width, 3, 2, 1)
        self.middle, self.attention = _TimeBlock(width, 2 * width, 32), _CrossAttention(2 * width, context)
        self.larger = nn.Conv2d(2 * width, width, 3, padding=1)
        self.up = _TimeBlock(2 * width, width, 32)
        self.out = nn.Sequential(nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, 4, 3, padding=1))

    def forward(self, latents, step, text):
        half = self.width // 2
        rates = torch.exp(-math.log(1000.0) * torch.arange(half, dtype=latents.dtype) / half)
        angles = step.to(latents.dtype)[:, None] * rates
        time = self.time(torch.cat([torch.cos(angles), torch.sin(angles)], 1))
        skip = self.down(self.first(latents), time)
        x = self.attention(self.middle(self.smaller(skip), time), text)
        x = self.larger(functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.out(self.up(torch.cat([x, skip], 1), time))
