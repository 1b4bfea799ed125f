# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `drawn.pt2` and `given.pt2`: one step of a diffusion model that draws its noise, and one that is given it.

    python make.py     (needs torch)

Both have the same weights; the first returns what it drew.
"""

import pathlib
import sys
import zipfile

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "exported"))
from models import numbers, tidy  # noqa: E402

STEPS = 16
IMAGES = numbers(8, 2, 4, 4)


class Given(nn.Module):
    """A transformer of patches, modulated by the time (DiT), learns the noise that was mixed into an image (DDPM)."""

    def __init__(self):
        super().__init__()
        self.patches, self.times = nn.Conv2d(2, 16, 2, 2), nn.Embedding(STEPS, 16)
        self.norm, self.modulate = nn.LayerNorm(16, elementwise_affine=False), nn.Linear(16, 48)
        self.mix, self.back = nn.MultiheadAttention(16, 2, batch_first=True), nn.Linear(16, 8)
        self.register_buffer("kept", torch.linspace(0.99, 0.05, STEPS))

    def forward(self, images, times, noise):
        kept = self.kept[times].view(-1, 1, 1, 1)
        x = self.patches(kept.sqrt() * images + (1 - kept).sqrt() * noise).flatten(2).transpose(1, 2)
        shift, scale, gate = self.modulate(F.silu(self.times(times)))[:, None].chunk(3, -1)
        h = self.norm(x) * (1 + scale) + shift
        x = self.back(x + gate * self.mix(h, h, h, need_weights=False)[0])
        x = x.view(-1, 2, 2, 2, 2, 2).permute(0, 3, 1, 4, 2, 5).reshape(noise.shape)
        return {"loss": F.mse_loss(x, noise)}


class Drawn(Given):
    def forward(self, images):
        times = torch.randint(0, STEPS, (images.shape[0],))
        noise = torch.randn_like(images)
        return super().forward(images, times, noise) | {"times": times, "noise": noise}


def main():
    given = {"images": IMAGES, "times": torch.arange(8), "noise": torch.randn(IMAGES.shape)}
    for kind, inputs in ((Given, given), (Drawn, {"images": IMAGES})):
        torch.manual_seed(0)
        path = HERE / f"{kind.__name__.lower()}.pt2"
        torch.export.save(torch.export.export(kind().train(), (), kwargs=inputs), path)
        tidy(path, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
