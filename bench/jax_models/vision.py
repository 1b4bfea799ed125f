# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The digits models, ResNet-18 and EfficientNet-B0, as torchvision has them."""

import jax
import jax.numpy as jnp

from jax_models.layers import batch_norm, conv, count, linear, max_pool


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


def resnet18(p, new, config, images):
    x = jax.nn.relu(batch_norm(p, new, "bn1", conv(p, "conv1", images, 2, 3)))
    x = max_pool(x, 3, 2, 1)
    for stage in range(1, 5):
        for block in range(count(p, f"layer{stage}.{{}}.")):
            stride = 2 if stage > 1 and block == 0 else 1
            x = _basic_block(p, new, f"layer{stage}.{block}", x, stride)
    return linear(p, "fc", x.mean((1, 2)))


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
