# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in 16-bit floats: what a node gives is rounded once, variables keep their type, and losses are of f32."""

import math
import pathlib
import struct
import sys
import unittest

from command_line import GOLDENS, USAGE, CommandLineTest, floats, read_safetensors, write_safetensors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import synthetic

TO = {"f16": 10, "bf16": 16, "f64": 11, "f32": 1}  # TensorProto.DataType of ONNX


def casts(element):
    """y = tanh(x + w), rounded to `element` on the way."""
    m = synthetic.Model()
    total = m.node("Add", m.input("x", 2, 3), m.parameter("w", 3))
    rounded = m.node("Cast", total, to=TO[element])
    m.output(m.node("Tanh", m.node("Cast", rounded, to=TO["f32"])), 2, 3)
    return m


def product(x="f32", w="f32", y="f32"):
    """y = x w of converted arguments, as IR text."""
    lines, names = [], {}
    for name, element in (("x", x), ("w", w)):
        names[name] = f"%{name}"
        if element != "f32":
            names[name] = f"%{name}32"
            lines.append(f"{names[name]} = prim.convert %{name} : (tensor<4x{element}>) -> tensor<4xf32>")
    lines.append(f"%y = prim.mul {names['x']}, {names['w']} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>")
    result = "%y"
    if y != "f32":
        result = "%out"
        lines.append(f'%out = prim.convert %y : (tensor<4xf32>) -> tensor<4x{y}> loc("last")')
    body = "\n  ".join([*lines, f"return {result} : tensor<4x{y}>"])
    return (
        f'func.func @forward(%w: tensor<4x{w}> {{accc.name = "w", accc.role = #prim.role<parameter>}},\n'
        f'    %x: tensor<4x{x}> {{accc.name = "x", accc.role = #prim.role<input>}})\n'
        f'    -> (tensor<4x{y}> {{accc.name = "y", accc.role = #prim.role<output>}}) {{\n  {body}\n}}\n'
    )


def f32(values):
    return ("F32", [len(values)], struct.pack(f"<{len(values)}f", *values))


def as_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def rounded(value, element):
    """To the nearest number of the type, of two the even one."""
    if element == "f16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def halves(values, element):
    """A tensor of safetensors."""
    if element == "f16":
        return ("F16", [len(values)], struct.pack(f"<{len(values)}e", *values))
    parts = [struct.pack("<f", rounded(value, element))[2:] for value in values]
    return ("BF16", [len(values)], b"".join(parts))


def numbers(entry):
    """The elements of a tensor of safetensors."""
    dtype, _, data = entry
    if dtype == "F16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]
    return list(floats(entry))


HALF = GOLDENS.parent / "half" / "lstm"
X, W = [0.1, -1.3, 2.0, 1e-3], [0.7, 1.1, -0.3, 3.0]


class SixteenBitFloats(CommandLineTest):
    def model(self, **elements):
        path = self.folder / "model.mlir"
        path.write_text(product(**elements))
        return path

    def results(self, model, entry, inputs, *options):
        self.accc("compile", model, "-o", "m.so", *options)
        write_safetensors(self.folder / "in.safetensors", inputs)
        files = ("--outputs", "out.safetensors", "--save-params", "params.safetensors")
        self.accc("run", "m.so", "--entry", entry, "--inputs", "in.safetensors", "--params", "w.safetensors", *files)
        read = lambda name: read_safetensors(self.folder / f"{name}.safetensors")
        return read("out"), read("params")

    def test_a_cast_rounds(self):
        for element in ("f16", "bf16"):
            casts(element).write(self.folder / "m.onnx")
            write_safetensors(self.folder / "w.safetensors", {"w": f32(W[:3])})
            x = ("F32", [2, 3], struct.pack("<6f", *X[:3], *X[1:]))
            out, _ = self.results("m.onnx", "eval_step", {"x": x})
            sums = [as_f32(as_f32(a) + as_f32(b)) for a, b in zip([*X[:3], *X[1:]], [*W[:3], *W[:3]])]
            (y,) = out.values()
            for found, total in zip(numbers(y), sums):
                self.assertAlmostEqual(found, math.tanh(rounded(total, element)), delta=2e-7)

    def test_inputs_parameters_and_outputs(self):
        for element in ("f16", "bf16"):
            write_safetensors(self.folder / "w.safetensors", {"w": halves(W, element)})
            model = self.model(x=element, w=element, y=element)
            inputs = {"x": halves(X, element), "target": f32([0.0] * 4)}
            out, params = self.results(model, "train_step", inputs, "--loss", "mse", "--optimizer", "sgd,lr=0.5")
            x, w = ([rounded(v, element) for v in each] for each in (X, W))
            y = [rounded(a * b, element) for a, b in zip(x, w)]
            self.assertEqual(numbers(out["y"]), y)
            self.assertAlmostEqual(numbers(out["loss"])[0], sum(v * v for v in y) / 4, delta=1e-6)
            # d loss / d y = y / 2, rounded as y is; that of w is rounded, too.
            gradient = [rounded(rounded(v / 2, element) * a, element) for v, a in zip(y, x)]
            self.assertEqual(params["w"][0], element.upper())
            self.assertEqual(numbers(params["w"]), [rounded(b - 0.5 * g, element) for b, g in zip(w, gradient)])

    def test_momenta_have_the_type_of_their_parameter(self):
        write_safetensors(self.folder / "w.safetensors", {"w": halves(W, "bf16")})
        inputs = {"x": f32(X), "target": f32([0.0] * 4)}
        options = ("--loss", "mse", "--optimizer", "adamw,lr=0.125,weight_decay=0")
        _, params = self.results(self.model(w="bf16"), "train_step", inputs, *options)
        variables, _ = self.accc("inspect", "m.so")
        for name in ("optimizer.exp_avg.w", "optimizer.exp_avg_sq.w"):
            self.assertRegex(variables, rf"{name} .*bf16\[4\]")
        # Adam's first step has the length of the learning rate. In bf16 beta2 = 0.999 would be 1, and the mean of squares 0.
        for before, after in zip(W, numbers(params["w"])):
            self.assertAlmostEqual(abs(before - after), 0.125, delta=0.02)

    def test_no_bisection(self):
        _, error = self.accc("diff", HALF / "model.pt2", HALF, "--bisect", code=USAGE)
        self.assertIn("--bisect holds a model to the interpreter, which rounds nothing", error)

    def test_they_can_be_inspected(self):
        out, _ = self.accc("inspect", self.model(x="bf16"))
        self.assertIn("bf16[4]", out)

    def test_other_floats_compile(self):
        casts("f64").write(self.folder / "m.onnx")
        self.accc("check", "m.onnx", "--loss", "mse")
        self.accc("check", self.model(x="f64", y="f64"))


if __name__ == "__main__":
    unittest.main()
