# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JAX contender in its own process: worker_jax.py MODEL CONFIG MODEL.onnx IN.safetensors META.json

The whole step is one jitted function that donates parameters and optimizer state. The initial
values are those of the ONNX file, which accc compiles, too.
"""

import json
import sys

import jax
import jax.numpy as jnp
import onnx
from safetensors.numpy import load_file

import worker
from jax_models import training


def main():
    name, config, model_file, inputs_file, meta_file = sys.argv[1:]
    meta = json.load(open(meta_file))
    (jnp.ones((256, 256)) @ jnp.ones((256, 256))).block_until_ready()
    base = worker.memory("VmRSS")

    initializers = onnx.load(model_file).graph.initializer
    tensors = {x.name: onnx.numpy_helper.to_array(x) for x in initializers}
    train = training.make_step(name, config, meta["optimizer"], tensors)
    del initializers, tensors
    inputs, target = training.arrange(load_file(inputs_file))
    inputs, target = {key: jnp.array(x) for key, x in inputs.items()}, jnp.array(target)
    worker.serve(lambda: train(inputs, target), base, {"version": jax.__version__})


main()
