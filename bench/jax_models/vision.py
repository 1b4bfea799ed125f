# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The digits models; ResNet-18 and -50, EfficientNet-B0 and ViT-B/16 as torchvision has them."""

import jax
import jax.numpy as jnp

from jax_models.layers import (
    attention, batch_norm, conv, count, join_heads, layer_norm, linear, max_pool, split_heads,
)  # fmt: skip


def digits_mlp(p, new, config, images):
    x = images.reshape(images.shape[0], -1)
    x = jax.nn.relu(linear(p, "1", x))
    x = jax.nn.relu(linear(p, "4", x))
    return linear(p, "6", x)


def digits_cnn(p, new, config, images):
    x = images
    for i in ("1", "2"):
        x = jax.nn.relu(batch_norm(p, new, "bn" + i, conv(p, "conv" + i, x, padding=1)))
        x = max_pool(x, 2, 2)
    x = x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1)  # PyTorch flattens channels first
    return linear(p, "fc2", jax.nn.relu(linear(p, "fc1", x)))


def _basic_block(p, new, name, x, stride):
    y = conv(p, name + ".conv1", x, stride, 1)
    y = jax.nn.relu(batch_norm(p, new, name + ".bn1", y))
    y = batch_norm(p, new, name + ".bn2", conv(p, name + ".conv2", y, 1, 1))
    if name + ".downsample.0.weight" in p:
        x = conv(p, name + ".downsample.0", x, stride)
        x = batch_norm(p, new, name + ".downsample.1", x)
    return jax.nn.relu(x + y)


def _bottleneck(p, new, name, x, stride):
    y = jax.nn.relu(batch_norm(p, new, name + ".bn1", conv(p, name + ".conv1", x)))
    y = jax.nn.relu(batch_norm(p, new, name + ".bn2", conv(p, name + ".conv2", y, stride, 1)))
    y = batch_norm(p, new, name + ".bn3", conv(p, name + ".conv3", y))
    if name + ".downsample.0.weight" in p:
        x = conv(p, name + ".downsample.0", x, stride)
        x = batch_norm(p, new, name + ".downsample.1", x)
    return jax.nn.relu(x + y)


def _resnet(p, new, images, block_of):
    x = jax.nn.relu(batch_norm(p, new, "bn1", conv(p, "conv1", images, 2, 3)))
    x = max_pool(x, 3, 2, 1)
    for stage in range(1, 5):
        for block in range(count(p, f"layer{stage}.{{}}.")):
            stride = 2 if stage > 1 and block == 0 else 1
            x = block_of(p, new, f"layer{stage}.{block}", x, stride)
    return linear(p, "fc", x.mean((1, 2)))


def resnet18(p, new, config, images):
    return _resnet(p, new, images, _basic_block)


def resnet50(p, new, config, images):
    return _resnet(p, new, images, _bottleneck)


def _conv_norm(p, new, name, x, stride=1, depthwise=False):
    size = p[name + ".0.weight"].shape[0]
    groups = x.shape[-1] if depthwise else 1
    return batch_norm(p, new, name + ".1", conv(p, name + ".0", x, stride, size // 2, groups))


def _inverted_residual(p, new, name, x, stride):
    """Expansion where there is one, depthwise, squeeze and excite, projection."""
    y, part = x, 0
    if name + ".3.0.weight" in p:
        y = jax.nn.silu(_conv_norm(p, new, f"{name}.0", y))
        part = 1
    y = jax.nn.silu(_conv_norm(p, new, f"{name}.{part}", y, stride, depthwise=True))
    squeezed = y.mean((1, 2), keepdims=True)
    squeezed = jax.nn.silu(conv(p, f"{name}.{part + 1}.fc1", squeezed))
    y = y * jax.nn.sigmoid(conv(p, f"{name}.{part + 1}.fc2", squeezed))
    y = _conv_norm(p, new, f"{name}.{part + 2}", y)
    return x + y if x.shape == y.shape else y


def efficientnet_b0(p, new, config, images):
    strides = (1, 2, 2, 2, 1, 2, 1) if config == "full" else (1, 2, 2)
    x = jax.nn.silu(_conv_norm(p, new, "features.0", images, 2))
    for stage, stride in enumerate(strides, 1):
        for block in range(count(p, f"features.{stage}.{{}}.")):
            name = f"features.{stage}.{block}.block"
            x = _inverted_residual(p, new, name, x, stride if block == 0 else 1)
    x = jax.nn.silu(_conv_norm(p, new, f"features.{len(strides) + 1}", x))
    return linear(p, "classifier.1", jnp.mean(x, (1, 2)))


def vit_b16(p, new, config, images):
    heads, eps = 12, 1e-6
    x = conv(p, "conv_proj", images, 16)
    x = x.reshape(x.shape[0], -1, x.shape[-1])
    token = jnp.broadcast_to(p["class_token"], (x.shape[0], 1, x.shape[-1]))
    x = jnp.concatenate([token, x], 1) + p["encoder.pos_embedding"]
    for i in range(count(p, "encoder.layers.encoder_layer_{}.")):
        name = f"encoder.layers.encoder_layer_{i}"
        y = layer_norm(p, name + ".ln_1", x, eps)
        y = y @ p[name + ".self_attention.in_proj_weight"].T + p[name + ".self_attention.in_proj_bias"]
        q, k, v = (split_heads(part, heads) for part in jnp.split(y, 3, -1))
        x = x + linear(p, name + ".self_attention.out_proj", join_heads(attention(q, k, v)))
        y = linear(p, name + ".mlp.0", layer_norm(p, name + ".ln_2", x, eps))
        x = x + linear(p, name + ".mlp.3", jax.nn.gelu(y, approximate=False))
    x = layer_norm(p, "encoder.ln", x, eps)
    return linear(p, "heads.head", x[:, 0])
