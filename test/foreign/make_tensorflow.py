# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the files tf_*.onnx of this folder: small models of Keras, as tf2onnx writes them.

    python make_tensorflow.py [MODEL...]     (needs tensorflow, keras, tf2onnx, onnx and safetensors)

Beside each model stands a golden of the same name: its input, its target, the losses of three steps of SGD, and
what TensorFlow's variables are after them (`after.`), by the names and in the layout of the initializers.
test/cli/foreign_test.py says what accc makes of each file.
"""

import pathlib
import sys

import keras
import numpy as np
import onnx
import tensorflow as tf
import tf2onnx
from keras import layers
from onnx import numpy_helper
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
STEPS, RATE, BATCH = 3, 0.05, 4


class Scale(keras.layers.Layer):
    """A trained number, and one that is not."""

    def build(self, shape):
        self.factor = self.add_weight(shape=(), name="factor")

    def call(self, x):
        return x * self.factor + 0.125


class Table(keras.layers.Layer):
    """Positions: trained ones and sines, which are added up before the export."""

    def build(self, shape):
        self.positions = self.add_weight(shape=shape[1:], name="positions")

    def call(self, x):
        return x + self.positions + np.sin(np.arange(x.shape[1] * x.shape[2], dtype="f4")).reshape(x.shape[1:])


def sequential(shape, *parts):
    x = y = keras.Input(shape, batch_size=BATCH, name="x")
    for part in parts:
        y = part(y)
    return keras.Model(x, y)


def attention():
    x = keras.Input((5, 8), batch_size=BATCH, name="x")
    y = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True))
    return keras.Model(x, layers.Dense(3)(y))


def convolutions():
    return sequential(
        (8, 8, 3),
        layers.Conv2D(4, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(6.0),
        layers.MaxPooling2D(),
        layers.SeparableConv2D(4, 3, depth_multiplier=2),
        layers.Flatten(),
        layers.Dense(2),
    )


def dropout():
    return sequential((6,), layers.Dense(8), layers.Dropout(0.5), layers.Dense(2))


def normalization():
    norm = layers.Normalization(mean=np.arange(6.0), variance=np.arange(1.0, 7.0))
    return sequential((6,), norm, layers.Dense(4, "hard_sigmoid"), layers.Dense(1))


def fresh():
    """As Keras initializes it: biases are zeros, scales are ones, and layers of one shape share them."""
    parts = [layers.Dense(4), layers.LayerNormalization(), layers.Dense(4), layers.LayerNormalization()]
    parts += [layers.LSTM(4, return_sequences=True), layers.LSTM(4, return_sequences=True), layers.GRU(4)]
    return sequential((5, 4), *parts, layers.Dense(2))


MODELS = {
    "tf_mlp": (lambda: sequential((6,), layers.Dense(8, "elu"), Scale(), layers.Dense(1)), False),
    "tf_attention": (attention, False),
    "tf_batch_norm": (convolutions, True),
    "tf_batch_norm_folded": (convolutions, False),
    "tf_dropout": (dropout, True),
    "tf_lstm": (lambda: sequential((5, 3), layers.Bidirectional(layers.LSTM(4)), layers.Dense(2)), False),
    "tf_loop": (lambda: sequential((5, 3), layers.GRU(4, reset_after=False), layers.Dense(2)), False),
    "tf_table": (lambda: sequential((3, 4), Table(), layers.Flatten(), layers.Dense(2)), False),
    "tf_normalization": (normalization, False),
    "tf_fresh": (fresh, False),
}
"""Name -> (what makes it, training mode?)."""


def randomize(model, random):
    for variable in model.variables:
        if variable.dtype.startswith("float"):
            value = random.normal(size=variable.shape).astype("f4") * 0.5
            variable.assign(np.abs(value) + 0.5 if "variance" in variable.path else value)


def train(model, x, target, training):
    losses = []
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=training) - target) ** 2)
        losses.append(float(loss))
        for variable, gradient in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
            variable.assign_sub(RATE * gradient)
    return np.array(losses, "f4")


def in_layout(file, before, after):
    """The variables after training, as the initializers hold them: each element is known by its value."""
    known = {}
    for old, new in zip(before, after):
        known.update(zip(old.ravel().tolist(), new.ravel().tolist()))
    tensors = {}
    for tensor in onnx.load(file).graph.initializer:
        name, value = tensor.name, numpy_helper.to_array(tensor)
        if name.startswith("B_") and not value[:, value.shape[1] // 2 :].any():
            name, value = name + "/bias", value[:, : value.shape[1] // 2]  # Keras has one, ONNX two
        if value.dtype == np.float32 and all(each in known for each in value.ravel().tolist()):
            tensors["after." + name] = np.array([known[each] for each in value.ravel().tolist()], "f4").reshape(value.shape)
    return tensors


def make(name, build, training):
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    model = build()
    if build is not fresh:
        randomize(model, random)
    x = random.normal(size=model.inputs[0].shape).astype("f4")
    target = random.normal(size=model.outputs[0].shape).astype("f4")
    file = str(HERE / f"{name}.onnx")
    spec = (tf.TensorSpec(x.shape, tf.float32, name="x"),)
    if training:
        call = tf.function(lambda x: model(x, training=True))
        tf2onnx.convert.from_function(call, input_signature=spec, opset=17, output_path=file)
    else:
        tf2onnx.convert.from_keras(model, input_signature=spec, opset=17, output_path=file)
    if build is fresh:
        return
    trained = model.trainable_variables
    before = [np.array(v) for v in trained]
    losses = train(model, x, target, training)
    golden = in_layout(file, before, [np.array(v) for v in trained])
    save_file({"x": x, "target": target, "losses": losses, **golden}, str(HERE / f"{name}.safetensors"))


if __name__ == "__main__":
    for name, (build, training) in MODELS.items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            make(name, build, training)
