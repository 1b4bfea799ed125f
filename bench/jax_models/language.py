# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT, GPT-2 and the Llama-style model of Hugging Face transformers, and the LSTM classifier."""

import jax
import jax.numpy as jnp
from jax import lax

from jax_models.layers import attention, count, join_heads, layer_norm, linear, split_heads


def bert(p, new, config, input_ids, attention_mask):
    heads, eps = 12 if config == "full" else 2, 1e-12
    name = "model.bert.embeddings."
    x = p[name + "word_embeddings.weight"][input_ids]
    x = x + p[name + "position_embeddings.weight"][: input_ids.shape[1]]
    x = x + p[name + "token_type_embeddings.weight"][0]
    x = layer_norm(p, name + "LayerNorm", x, eps)
    bias = jnp.where(attention_mask[:, None, None, :] != 0, 0.0, jnp.finfo(x.dtype).min)
    for i in range(count(p, "model.bert.encoder.layer.{}.")):
        layer = f"model.bert.encoder.layer.{i}"
        own = layer + ".attention"
        q, k, v = (
            split_heads(linear(p, f"{own}.self.{which}", x), heads)
            for which in ("query", "key", "value")
        )
        y = linear(p, own + ".output.dense", join_heads(attention(q, k, v, bias)))
        x = layer_norm(p, own + ".output.LayerNorm", x + y, eps)
        y = jax.nn.gelu(linear(p, layer + ".intermediate.dense", x), approximate=False)
        y = linear(p, layer + ".output.dense", y)
        x = layer_norm(p, layer + ".output.LayerNorm", x + y, eps)
    pooled = jnp.tanh(linear(p, "model.bert.pooler.dense", x[:, 0]))
    return linear(p, "model.classifier", pooled)


def _conv1d(p, name, x):
    """What Hugging Face calls Conv1D: a linear layer whose weight is [in, out]."""
    return x @ p[name + ".weight"] + p[name + ".bias"]


def gpt2(p, new, config, input_ids):
    heads = 12 if config == "full" else 2
    words = p["model.transformer.wte.weight"]
    x = words[input_ids] + p["model.transformer.wpe.weight"][: input_ids.shape[1]]
    for i in range(count(p, "model.transformer.h.{}.")):
        name = f"model.transformer.h.{i}"
        y = _conv1d(p, name + ".attn.c_attn", layer_norm(p, name + ".ln_1", x))
        q, k, v = (split_heads(part, heads) for part in jnp.split(y, 3, -1))
        x = x + _conv1d(p, name + ".attn.c_proj", join_heads(attention(q, k, v, causal=True)))
        y = _conv1d(p, name + ".mlp.c_fc", layer_norm(p, name + ".ln_2", x))
        x = x + _conv1d(p, name + ".mlp.c_proj", jax.nn.gelu(y, approximate=True))
    x = layer_norm(p, "model.transformer.ln_f", x)
    return x.reshape(-1, x.shape[-1]) @ words.T


def _rms_norm(p, name, x, eps=1e-6):
    return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + eps) * p[name + ".weight"]


def _rotate(x, theta=10000.0):
    """Rotary position embedding of [batch, heads, time, width], halves paired."""
    time, width = x.shape[-2:]
    frequencies = theta ** (-jnp.arange(0, width, 2, dtype=jnp.float32) / width)
    angles = jnp.arange(time, dtype=jnp.float32)[:, None] * frequencies
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    low, high = jnp.split(x, 2, -1)
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def llama15m(p, new, config, input_ids):
    heads = 6 if config == "full" else 2
    words = p["model.model.embed_tokens.weight"]
    x = words[input_ids]
    for i in range(count(p, "model.model.layers.{}.")):
        name = f"model.model.layers.{i}"
        y = _rms_norm(p, name + ".input_layernorm", x)
        q, k, v = (
            split_heads(linear(p, f"{name}.self_attn.{which}_proj", y), heads) for which in "qkv"
        )
        y = join_heads(attention(_rotate(q), _rotate(k), v, causal=True))
        x = x + linear(p, name + ".self_attn.o_proj", y)
        y = _rms_norm(p, name + ".post_attention_layernorm", x)
        gate = jax.nn.silu(linear(p, name + ".mlp.gate_proj", y))
        x = x + linear(p, name + ".mlp.down_proj", gate * linear(p, name + ".mlp.up_proj", y))
    x = _rms_norm(p, "model.model.norm", x)
    return x.reshape(-1, x.shape[-1]) @ words.T


def lstm(p, new, config, tokens):
    x = p["embedding.weight"][tokens].transpose(1, 0, 2)  # time first
    for i in range(2):
        recurrent = p[f"lstm.weight_hh_l{i}"].T
        bias = p[f"lstm.bias_ih_l{i}"] + p[f"lstm.bias_hh_l{i}"]
        gates = x @ p[f"lstm.weight_ih_l{i}"].T + bias

        def cell(state, gates_x, recurrent=recurrent):
            h, c = state
            i, f, g, o = jnp.split(gates_x + h @ recurrent, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], recurrent.shape[0]), x.dtype)
        _, x = lax.scan(cell, (zero, zero), gates)
    return linear(p, "classify", x[-1])
