# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models of any size, written without the onnx package: what a compiler's time and memory grow with.

Weights are zeros: their values decide nothing, and a compile reads them once.
"""

import math
import struct

FLOAT, INT64 = 1, 7


# ---- the wire format of protobuf ----


def _varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _float(field, value):
    return _varint(field << 3 | 5) + struct.pack("<f", value)


# ---- models ----


class Model:
    """A graph that is being written; nodes give the names of their outputs."""

    def __init__(self):
        self.parts, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.shapes = {}
        self.count = 0

    def input(self, name, *shape):
        self.inputs.append(self._value(name, shape))
        return name

    def parameter(self, name, *shape):
        data = bytes(4 * math.prod(shape))
        return self._initializer(name, FLOAT, shape, data)

    def integers(self, values):
        name = f"integers_{len(self.initializers)}"
        return self._initializer(name, INT64, [len(values)], struct.pack(f"<{len(values)}q", *values))

    def node(self, op, *inputs, outputs=1, **attributes):
        """One name, or as many as there are outputs."""
        name = f"{op.lower()}_{self.count}"
        self.count += 1
        names = [name] + [f"{name}_{i}" for i in range(1, outputs)]
        body = b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in names)
        body += _bytes(3, name) + _bytes(4, op)
        body += b"".join(_bytes(5, self._attribute(key, value)) for key, value in attributes.items())
        self.parts.append(_bytes(1, body))
        return name if outputs == 1 else names

    def output(self, name, *shape):
        self.outputs.append(self._value(name, shape))

    def write(self, path):
        graph = b"".join(self.parts) + _bytes(2, "main") + b"".join(_bytes(5, t) for t in self.initializers)
        graph += b"".join(_bytes(11, v) for v in self.inputs) + b"".join(_bytes(12, v) for v in self.outputs)
        opset = _bytes(8, _bytes(1, "") + _number(2, 17))
        with open(path, "wb") as file:
            file.write(_number(1, 8) + _bytes(2, "synthetic") + _bytes(7, graph) + opset)

    def _initializer(self, name, kind, shape, data):
        dims = b"".join(_number(1, extent) for extent in shape)
        self.initializers.append(dims + _number(2, kind) + _bytes(8, name) + _bytes(9, data))
        return name

    @staticmethod
    def _value(name, shape):
        # An extent that is a name is open.
        extents = (_bytes(2, extent) if isinstance(extent, str) else _number(1, extent) for extent in shape)
        dims = b"".join(_bytes(1, extent) for extent in extents)
        return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, FLOAT) + _bytes(2, dims)))

    @staticmethod
    def _attribute(name, value):
        if isinstance(value, int):
            return _bytes(1, name) + _number(3, value) + _number(20, 2)
        if isinstance(value, float):
            return _bytes(1, name) + _float(2, value) + _number(20, 1)
        if isinstance(value, str):
            return _bytes(1, name) + _bytes(4, value) + _number(20, 3)
        return _bytes(1, name) + b"".join(_number(8, v) for v in value) + _number(20, 7)


def blocks(count):
    """Residual blocks of layer norm, product, tanh, product, add: four parameters each."""
    m, size = Model(), 64
    x = m.input("x", 64, size)
    for i in range(count):
        scale, bias = m.parameter(f"scale{i}", size), m.parameter(f"bias{i}", size)
        h = m.node("LayerNormalization", x, scale, bias, axis=-1)
        h = m.node("Tanh", m.node("MatMul", h, m.parameter(f"v{i}", size, size)))
        x = m.node("Add", x, m.node("MatMul", h, m.parameter(f"w{i}", size, size)))
    m.output(x, 64, size)
    return m


def chain(count):
    """Pointwise ops, one behind the other."""
    m = Model()
    x = m.node("Mul", m.input("x", 64, 64), m.parameter("w", 64))
    for i in range(count):
        x = m.node(("Tanh", "Sin", "Neg", "Sigmoid")[i % 4], x)
    m.output(x, 64, 64)
    return m


def concat(count):
    """One concatenation of many tensors."""
    m = Model()
    x = m.input("x", 16, 32)
    parts = [m.node("Mul", x, m.parameter(f"w{i}", 32)) for i in range(count)]
    m.output(m.node("Concat", *parts, axis=1), 16, 32 * count)
    return m


def parameters(count):
    """One sum of many parameters."""
    m = Model()
    total = m.node("Sum", *[m.parameter(f"w{i}", 64) for i in range(count)])
    m.output(m.node("Mul", m.input("x", 16, 64), total), 16, 64)
    return m


def lstm(count):
    """A recurrent cell over many steps."""
    m, size = Model(), 32
    x = m.input("x", count, 4, size)
    w, r = m.parameter("w", 1, 4 * size, size), m.parameter("r", 1, 4 * size, size)
    y, last, _ = m.node("LSTM", x, w, r, m.parameter("b", 1, 8 * size), outputs=3, hidden_size=size)
    m.output(last, 1, 4, size)
    return m


class Images(Model):
    """Layers of convolutional networks; a tensor is its name, channels and size."""

    def __init__(self, batch):
        super().__init__()
        self.batch = batch

    def start(self, channels, size):
        return self.input("x", self.batch, channels, size, size), channels, size

    def convolution(self, x, channels, kernel, stride=1):
        name, own, size = x
        weight = self.parameter(f"conv{self.count}.weight", channels, own, kernel, kernel)
        pad = kernel // 2
        y = self.node("Conv", name, weight, kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[stride] * 2)
        return y, channels, (size + 2 * pad - kernel) // stride + 1

    def norm(self, x):
        name, channels, size = x
        prefix = f"norm{self.count}."
        own = [self.parameter(prefix + part, channels) for part in ("weight", "bias", "running_mean", "running_var")]
        return self.node("BatchNormalization", name, *own, outputs=3, training_mode=1)[0], channels, size

    def relu(self, x):
        return self.node("Relu", x[0]), x[1], x[2]

    def pool(self, x, op, kernel, stride, pad):
        y = self.node(op, x[0], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
        return y, x[1], (x[2] + 2 * pad - kernel) // stride + 1

    def add(self, a, b):
        return self.node("Add", a[0], b[0]), a[1], a[2]

    def concat(self, parts):
        y = self.node("Concat", *[part[0] for part in parts], axis=1)
        return y, sum(part[1] for part in parts), parts[0][2]

    def enlarge(self, x, factor):
        scales = self._initializer(f"scales{self.count}", FLOAT, [4], struct.pack("<4f", 1, 1, factor, factor))
        y = self.node("Resize", x[0], "", scales, mode="nearest", coordinate_transformation_mode="asymmetric",
                      nearest_mode="floor")
        return y, x[1], x[2] * factor

    def classify(self, x, classes=1000):
        flat = self.node("Flatten", self.node("GlobalAveragePool", x[0]))
        w, b = self.parameter("fc.weight", x[1], classes), self.parameter("fc.bias", classes)
        self.output(self.node("Gemm", flat, w, b), self.batch, classes)
        return self


def densenet(size, growth=48, first=96, depths=(6, 12, 36, 24)):
    """DenseNet-161 (Huang et al., 2017): every layer reads all those before it in its block."""
    m = Images(batch=2)
    x = m.relu(m.norm(m.convolution(m.start(3, size), first, 7, 2)))
    x = m.pool(x, "MaxPool", 3, 2, 1)
    for i, depth in enumerate(depths):
        features = [x]
        for _ in range(depth):
            h = m.convolution(m.relu(m.norm(m.concat(features))), 4 * growth, 1)
            features.append(m.convolution(m.relu(m.norm(h)), growth, 3))
        x = m.relu(m.norm(m.concat(features)))
        if i + 1 < len(depths):
            x = m.pool(m.convolution(x, x[1] // 2, 1), "AveragePool", 2, 2, 0)
    return m.classify(x)


def hrnet(size, width=18, modules=(1, 4, 3)):
    """HRNet-W18 (Sun et al., 2019) without its last classification stage: branches of several resolutions that are
    exchanged again and again."""
    m = Images(batch=2)

    def step(x, channels, kernel=3, stride=1, active=True):
        y = m.norm(m.convolution(x, channels, kernel, stride))
        return m.relu(y) if active else y

    def bottleneck(x):
        y = step(step(step(x, 64, 1), 64), 256, 1, active=False)
        return m.relu(m.add(y, x if x[1] == 256 else step(x, 256, 1, active=False)))

    def basic(x):
        return m.relu(m.add(step(step(x, x[1]), x[1], active=False), x))

    def fused(branches, to):
        total = None
        for at, x in enumerate(branches):
            if at > to:
                x = m.enlarge(step(x, width << to, 1, active=False), 1 << (at - to))
            for k in range(at, to):
                last = k + 1 == to
                x = step(x, width << to if last else x[1], 3, 2, active=not last)
            total = x if total is None else m.add(total, x)
        return m.relu(total)

    x = step(step(m.start(3, size), 64, 3, 2), 64, 3, 2)
    for _ in range(4):
        x = bottleneck(x)
    branches = [step(x, width), step(x, 2 * width, 3, 2)]
    for stage, count in enumerate(modules):
        if stage:
            branches.append(step(branches[-1], width << (stage + 1), 3, 2))
        for _ in range(count):
            for i, branch in enumerate(branches):
                for _ in range(4):
                    branch = basic(branch)
                branches[i] = branch
            branches = [fused(branches, to) for to in range(len(branches))]
    total = branches[0]
    for i, branch in enumerate(branches[1:]):
        total = m.concat([total, m.enlarge(branch, 2 << i)])
    return m.classify(total)
