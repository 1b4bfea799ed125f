# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole training step of a model as one jitted function, with the optimizers of accc's command line."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_models import MODELS


def split(tensors):
    """(parameters, running statistics) of float arrays by PyTorch's names; convolution weights as HWIO."""
    parameters, statistics = {}, {}
    for name, value in tensors.items():
        if value.dtype != np.float32:
            continue
        if value.ndim == 4:
            value = value.transpose(2, 3, 1, 0)
        moving = name.endswith(("running_mean", "running_var"))
        (statistics if moving else parameters)[name] = jnp.array(value)
    return parameters, statistics


def arrange(tensors):
    """(inputs, target) of a batch: images as NHWC, classes as i32."""
    tensors = dict(tensors)
    target = tensors.pop("target").astype(np.int32)
    inputs = {k: np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else x for k, x in tensors.items()}
    return inputs, target


def parse_optimizer(spec):
    kind, *options = spec.split(",")
    pairs = (option.partition("=") for option in options)
    return kind, {key: float(value) if value else True for key, _, value in pairs}


def make_update(spec):
    """The optimizer of a spec: (its initial state, (parameters, gradients, state, lr) -> both)."""
    kind, options = parse_optimizer(spec)
    decay = options.get("weight_decay", 0.01 if kind == "adamw" else 0.0)
    momentum = options.get("momentum", 0.0)
    beta1, beta2 = options.get("beta1", 0.9), options.get("beta2", 0.999)
    zeros = lambda parameters: jax.tree.map(jnp.zeros_like, parameters)  # noqa: E731

    def sgd(parameters, gradients, state, lr):
        gradients = jax.tree.map(lambda g, p: g + decay * p, gradients, parameters)
        if momentum:
            state = jax.tree.map(lambda m, g: momentum * m + g, state, gradients)
            if options.get("nesterov"):
                gradients = jax.tree.map(lambda g, m: g + momentum * m, gradients, state)
            else:
                gradients = state
        return jax.tree.map(lambda p, g: p - lr * g, parameters, gradients), state

    def adam(parameters, gradients, state, lr):
        m, v, time = state
        time = time + 1
        if kind == "adam":
            gradients = jax.tree.map(lambda g, p: g + decay * p, gradients, parameters)
        m = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, m, gradients)
        v = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, v, gradients)
        c1, c2 = 1 - beta1**time, 1 - beta2**time
        shrink = 1 - lr * decay if kind == "adamw" else 1.0

        def move(p, m, v):
            return p * shrink - lr * (m / c1) / (jnp.sqrt(v / c2) + 1e-8)

        return jax.tree.map(move, parameters, m, v), (m, v, time)

    if kind == "sgd":
        return (lambda p: zeros(p) if momentum else ()), sgd
    return (lambda p: (zeros(p), zeros(p), jnp.float32(0))), adam


def make_step(name, config, optimizer, tensors, wait=True):
    """A function (inputs, target) -> loss that trains from `tensors` with learning rate 0: to the end, or
    without waiting, and then the loss is an array that is there later.

    It donates parameters and optimizer state, as a training loop does.
    """
    parameters, statistics = split(tensors)
    initial_state, update = make_update(optimizer)
    values = [parameters, statistics, initial_state(parameters)]
    del parameters, statistics

    def loss_of(parameters, statistics, inputs, target):
        new = dict(statistics)
        logits = MODELS[name](parameters | statistics, new, config, **inputs)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), target[:, None], 1)
        return -picked.mean(), new

    def train_step(parameters, statistics, state, inputs, target, lr):
        (loss, statistics), gradients = jax.value_and_grad(loss_of, has_aux=True)(
            parameters, statistics, inputs, target
        )
        parameters, state = update(parameters, gradients, state, lr)
        return parameters, statistics, state, loss

    train_step = jax.jit(train_step, donate_argnums=(0, 1, 2))
    lr = jnp.float32(0)

    def step(inputs, target):
        *values[:], loss = train_step(*values, inputs, target, lr)
        if not wait:
            return loss
        jax.block_until_ready(values)
        return float(loss)

    return step
