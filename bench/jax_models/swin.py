# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Swin Transformer as timm has it."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_models.layers import attention, conv, count, layer_norm, linear


def _partition(x, window):
    """[batch, height, width, c] to [batch * windows, window * window, c]."""
    batch, height, width, channels = x.shape
    x = x.reshape(batch, height // window, window, width // window, window, channels)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, window * window, channels)


def _join(x, window, size):
    channels = x.shape[-1]
    x = x.reshape(-1, size // window, size // window, window, window, channels)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, size, size, channels)


def _relative_index(window):
    """Which row of the bias table belongs to two places of a window."""
    places = np.stack(np.meshgrid(np.arange(window), np.arange(window), indexing="ij"))
    places = places.reshape(2, -1)
    offset = places[:, :, None] - places[:, None, :] + window - 1
    return offset[0] * (2 * window - 1) + offset[1]


def _shift_mask(size, window, shift):
    """-100 between places that only the cyclic shift brought into one window."""
    edges = np.digitize(np.arange(size), [size - window, size - shift])
    regions = (3 * edges[:, None] + edges[None, :])[None, :, :, None]
    regions = np.asarray(_partition(regions, window))[..., 0]
    return np.where(regions[:, None, :] != regions[:, :, None], -100.0, 0.0).astype(np.float32)


def _attention(p, name, x, heads, window, mask):
    rows, places, channels = x.shape
    qkv = linear(p, name + ".qkv", x).reshape(rows, places, 3, heads, channels // heads)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    table = p[name + ".relative_position_bias_table"]
    bias = table[_relative_index(window).reshape(-1)].reshape(places, places, heads)
    bias = bias.transpose(2, 0, 1)[None]
    if mask is not None:
        bias = jnp.tile(bias + mask[:, None], (rows // mask.shape[0], 1, 1, 1))
    y = attention(q, k, v, bias)
    return linear(p, name + ".proj", y.transpose(0, 2, 1, 3).reshape(rows, places, channels))


def _block(p, name, x, heads, window, shift):
    size = x.shape[1]
    y = layer_norm(p, name + ".norm1", x)
    if shift:
        y = jnp.roll(y, (-shift, -shift), (1, 2))
    mask = _shift_mask(size, window, shift) if shift else None
    y = _attention(p, name + ".attn", _partition(y, window), heads, window, mask)
    y = _join(y, window, size)
    if shift:
        y = jnp.roll(y, (shift, shift), (1, 2))
    x = x + y
    y = linear(p, name + ".mlp.fc1", layer_norm(p, name + ".norm2", x))
    return x + linear(p, name + ".mlp.fc2", jax.nn.gelu(y, approximate=False))


def _merge(p, name, x):
    """Joins every four neighbours, the two of a column first, and halves their channels."""
    batch, size, _, channels = x.shape
    x = x.reshape(batch, size // 2, 2, size // 2, 2, channels).transpose(0, 1, 3, 4, 2, 5)
    x = x.reshape(batch, size // 2, size // 2, 4 * channels)
    return linear(p, name + ".reduction", layer_norm(p, name + ".norm", x))


def swin_t(p, new, config, images):
    window, stage_heads = (7, (3, 6, 12, 24)) if config == "full" else (4, (2, 4))
    x = layer_norm(p, "patch_embed.norm", conv(p, "patch_embed.proj", images, 4))
    for stage, heads in enumerate(stage_heads):
        if stage:
            x = _merge(p, f"layers.{stage}.downsample", x)
        for block in range(count(p, f"layers.{stage}.blocks.{{}}.")):
            shift = window // 2 if block % 2 and x.shape[1] > window else 0
            x = _block(p, f"layers.{stage}.blocks.{block}", x, heads, window, shift)
    return linear(p, "head.fc", layer_norm(p, "norm", x).mean((1, 2)))
