# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model with 16-bit floats anywhere is refused before anything is compiled, and the message says where they are."""

import json
import pathlib
import sys
import unittest

from command_line import DATA, CommandLineTest

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


class SixteenBitFloats(CommandLineTest):
    def model(self, **elements):
        path = self.folder / "model.mlir"
        path.write_text(product(**elements))
        return path

    def refused(self, model, what, element, *options, others=""):
        """Both commands refuse the model, with one error; nothing is written."""
        before = self.files()
        said = f"{what} has the type {element}{others}, and 16-bit floats are not supported for training yet: export"
        for command in (["check"], ["compile", "-o", "m.so"], ["compile", "--stop-after", "import"]):
            _, error = self.accc(*command, model, *options, code=DATA)
            self.assertIn(said, error)
            self.assertEqual(error.count("error: "), 1, error)
        self.assertEqual(self.files(), before)

    def test_a_cast_of_an_exporter(self):
        for element in ("f16", "bf16"):
            casts(element).write(self.folder / "m.onnx")
            self.refused("m.onnx", "node 'cast_1': the result of prim.convert", element, "--loss", "mse")
            self.refused("m.onnx", "node 'cast_1': the result of prim.convert", element)

    def test_how_many_there_are(self):
        m = synthetic.Model()
        x = m.input("x", 2, 3)
        for _ in range(3):
            x = m.node("Tanh", m.node("Cast", x, to=TO["f16"]))
        m.output(m.node("Cast", x, to=TO["f32"]), 2, 3)
        m.write(self.folder / "m.onnx")
        # Three casts and what each is taken through; the second and third cast change nothing.
        self.refused("m.onnx", "the result of prim.convert", "f16", others=", as have 3 more results")

    def test_inputs_and_parameters(self):
        for element in ("f16", "bf16"):
            self.refused(self.model(x=element), "input 'x'", element)
            self.refused(self.model(w=element), "parameter 'w'", element, "--loss", "mse")
            others = ", as have 1 input and 1 result"
            self.refused(self.model(w=element, x=element, y=element), "parameter 'w'", element, others=others)

    def test_an_output(self):
        self.refused(self.model(y="bf16"), "node 'last': the result of prim.convert", "bf16")

    def test_as_json(self):
        out, _ = self.accc("check", self.model(x="f16"), "--json", code=DATA)
        (problem,) = json.loads(out)["problems"]
        self.assertIn("input 'x' has the type f16", problem["message"])

    def test_they_can_be_inspected(self):
        out, _ = self.accc("inspect", self.model(x="bf16"))
        self.assertIn("bf16[4]", out)

    def test_other_floats_compile(self):
        casts("f64").write(self.folder / "m.onnx")
        self.accc("check", "m.onnx", "--loss", "mse")
        self.accc("check", self.model(x="f64", y="f64"))


if __name__ == "__main__":
    unittest.main()
