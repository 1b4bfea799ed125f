# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers as functions of `p`, all tensors of the model by their PyTorch names.

Images are NHWC and convolution weights HWIO, which XLA's CPU backend likes best; linear weights are
[out, in], as PyTorch has them. Layers with moving statistics write the new ones into `new`.
"""

import jax
import jax.numpy as jnp
from jax import lax


def linear(p, name, x):
    """x @ W^T + b; the bias is optional."""
    y = x @ p[name + ".weight"].T
    return y + p[name + ".bias"] if name + ".bias" in p else y


def conv(p, name, x, stride=1, padding=0, groups=1):
    y = lax.conv_general_dilated(
        x,
        p[name + ".weight"],
        (stride, stride),
        [(padding, padding)] * 2,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )
    return y + p[name + ".bias"] if name + ".bias" in p else y


def batch_norm(p, new, name, x, momentum=0.1, eps=1e-5):
    """Training mode: normalises by the batch, moves the statistics (the variance unbiased)."""
    count = x.size // x.shape[-1]
    mean = x.mean((0, 1, 2))
    var = jnp.square(x - mean).mean((0, 1, 2))
    for key, value in (("running_mean", mean), ("running_var", var * (count / (count - 1)))):
        old = p[f"{name}.{key}"]
        new[f"{name}.{key}"] = old + momentum * (value - old)
    scale = p[name + ".weight"] * lax.rsqrt(var + eps)
    return (x - mean) * scale + p[name + ".bias"]


def layer_norm(p, name, x, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + eps) * p[name + ".weight"] + p[name + ".bias"]


def max_pool(x, window, stride, padding=0):
    pad = ((0, 0), (padding, padding), (padding, padding), (0, 0))
    return lax.reduce_window(
        x, -jnp.inf, lax.max, (1, window, window, 1), (1, stride, stride, 1), pad
    )


def attention(q, k, v, bias=None, causal=False):
    """Of [batch, heads, time, width]; `bias` is added to the scores."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * (q.shape[-1] ** -0.5)
    if bias is not None:
        scores = scores + bias
    if causal:
        time = q.shape[2]
        scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)


def split_heads(x, heads):
    """[batch, time, heads * width] to [batch, heads, time, width]."""
    batch, time, width = x.shape
    return x.reshape(batch, time, heads, width // heads).transpose(0, 2, 1, 3)


def join_heads(x):
    batch, heads, time, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, time, heads * width)


def count(p, pattern):
    """How many of pattern.format(0), pattern.format(1), ... name some tensors."""
    number = 0
    while any(name.startswith(pattern.format(number)) for name in p):
        number += 1
    return number
