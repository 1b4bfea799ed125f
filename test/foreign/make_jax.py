# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes jax_attention.onnx and its golden (see make_tensorflow.py): a module of flax, as jax2onnx writes it.

    python make_jax.py     (needs jax, flax, jax2onnx, onnx and safetensors)
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from flax import nnx
from jax2onnx import to_onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

FILE = pathlib.Path(__file__).parent / "jax_attention.onnx"
STEPS, RATE = 3, 0.05


class Net(nnx.Module):
    """With a mean of the input that is none of its parameters, and a temperature that is."""

    def __init__(self, rngs):
        self.embed = nnx.Linear(4, 8, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 8, rngs=rngs, decode=False)
        self.norm = nnx.LayerNorm(8, rngs=rngs)
        self.head = nnx.Linear(8, 1, rngs=rngs)
        self.temperature = nnx.Param(jnp.float32(0))

    def __call__(self, x):
        y = self.embed(x - jnp.array([0.25, 0.5, 0.75, 1.25]))
        y = self.norm(y + self.attention(y))
        return self.head(y * self.temperature[...])


if __name__ == "__main__":
    random = np.random.default_rng(0)
    graph, parameters, rest = nnx.split(Net(nnx.Rngs(0)), nnx.Param, ...)
    parameters = jax.tree.map(lambda p: jnp.asarray(random.normal(size=p.shape).astype("f4") * 0.5), parameters)
    x = random.normal(size=(2, 5, 4)).astype("f4")
    target = random.normal(size=(2, 5, 1)).astype("f4")

    @jax.jit
    @jax.value_and_grad
    def step(parameters):
        return jnp.mean((nnx.merge(graph, parameters, rest)(x) - target) ** 2)

    model = to_onnx(nnx.merge(graph, parameters, rest), [jax.ShapeDtypeStruct(x.shape, x.dtype)])
    before, losses = parameters, []
    for _ in range(STEPS):
        loss, gradients = step(parameters)
        losses.append(float(loss))
        parameters = jax.tree.map(lambda p, g: p - RATE * g, parameters, gradients)
    known = {}
    for old, new in zip(jax.tree.leaves(before), jax.tree.leaves(parameters)):
        known.update(zip(np.array(old).ravel().tolist(), np.array(new).ravel().tolist()))
    golden = {"x": x, "target": target, "losses": np.array(losses, "f4")}
    for tensor in model.graph.initializer:  # known by their values
        value = numpy_helper.to_array(tensor)
        if value.dtype == np.float32 and all(each in known for each in value.ravel().tolist()):
            after = [known[each] for each in value.ravel().tolist()]
            golden["after." + tensor.name] = np.array(after, "f4").reshape(value.shape)
    onnx.save(model, FILE)
    save_file(golden, FILE.with_suffix(".safetensors"))
