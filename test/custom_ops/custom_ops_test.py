# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of the user's own: compiled, checked, run, compared with PyTorch, and every way of being refused."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import unittest
import zipfile

from command_line import ACCC, DATA, MACHINE, SECONDS, USAGE, CommandLineTest, floats, read_safetensors, write_safetensors

LIBRARIES = pathlib.Path(os.environ["ACCC_LIBRARIES"])
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "custom-op"
SCRIPTED = EXAMPLE.parents[1] / "test" / "training" / "scripted" / "refused" / "loop.pt"
GOOD = LIBRARIES / "good" / "libops.so"
ACME = LIBRARIES / "example" / "libacme_ops.so"
TRAINING = ["--loss", "cross_entropy=logits", "--optimizer", "sgd,momentum=0.9"]

# loss = sum(12 x w^2) + sum over rows of (sum x w)^2; the third result of split is read in eval_step alone.
SPLIT = """
func.func @forward(%w: tensor<2x3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %x: tensor<2x3xf32> {accc.name = "x", accc.role = #prim.role<input>},
                   %k: tensor<i64> {accc.name = "k", accc.role = #prim.role<input>})
    -> (tensor<f32> {accc.name = "loss", accc.role = #prim.role<output>},
        tensor<i64> {accc.name = "rows", accc.role = #prim.role<output>}) {
  %xw = prim.mul %x, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s:3 = prim.custom_call "test::split" of "libops.so"
    {label = "ab", powers = array<i64: 1, 3>, scale = 2.0 : f64} (%xw, %k)
    : (tensor<2x3xf32>, tensor<i64>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<i64>)
  %p = prim.custom_call "test::product" of "libops.so" {} (%s#0, %w)
    : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = prim.reduce sum %p {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  %q = prim.mul %s#1, %s#1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = prim.reduce sum %q {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %loss = prim.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %s#2 : tensor<f32>, tensor<i64>
}
"""

# The call of `callee` on a parameter and an input, whose gradient nobody wants.
PRODUCT = """
func.func @forward(%w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %x: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f32> {accc.name = "loss", accc.role = #prim.role<output>}) {
  %p = prim.custom_call "CALLEE" of "libops.so" {} (%x, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = prim.reduce sum %p {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
"""


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


class CustomOps(CommandLineTest):
    def accc(self, *arguments, code=0, **environment):
        command = [ACCC, *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        )
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def example(self, file="model.onnx"):
        """The example, compiled, with its library beside it."""
        library = self.folder / "quantized.so"
        self.accc("compile", EXAMPLE / "golden" / file, "-o", library, "--custom-ops", ACME, *TRAINING)
        shutil.copy(ACME, self.folder)
        return library

    def split(self):
        """(library, inputs, weights), the library of operators beside them."""
        self.write("split.mlir", SPLIT)
        options = ["--custom-ops", GOOD, "--loss", "output:loss", "--optimizer", "sgd"]
        self.accc("compile", "split.mlir", "-o", "split.so", *options)
        shutil.copy(GOOD, self.folder)
        write_safetensors(
            self.folder / "in.safetensors",
            {"x": ("F32", [2, 3], f32(1, 2, 3, 4, 5, 6)), "k": ("I64", [], struct.pack("<q", 1))},
        )
        write_safetensors(self.folder / "w.safetensors", {"w": ("F32", [2, 3], f32(1, -1, 0.5, 2, 0, -3))})
        return "split.so", "in.safetensors", "w.safetensors"

    # ---- what works ----

    def test_inside_of_vmap(self):
        """A call for each element: products of one shape in a program of torch.vmap become those of the library."""
        golden = EXAMPLE.parents[1] / "test" / "training" / "exported" / "mapped"
        with zipfile.ZipFile(golden / "export.pt2") as old, zipfile.ZipFile(self.folder / "mapped.pt2", "w") as new:
            for item in old.infolist():
                data = old.read(item)
                if item.filename.endswith("models/model.json"):
                    model = json.loads(data)
                    graph = model["graph_module"]["graph"]
                    shapes = {name: json.dumps(value["sizes"]) for name, value in graph["tensor_values"].items()}
                    changed = 0
                    for node in graph["nodes"]:
                        names = [each["arg"].get("as_tensor", {}).get("name") for each in node["inputs"]]
                        if node["target"] == "torch.ops.aten.mul.Tensor" and None not in names and len({shapes[n] for n in names}) == 1:
                            node["target"] = "torch.ops.test.product.default"
                            changed += 1
                    self.assertGreater(changed, 1)
                    data = json.dumps(model).encode()
                new.writestr(item, data)
        self.accc("diff", "mapped.pt2", golden, "--custom-ops", GOOD)

    def test_trains_as_pytorch_did(self):
        for file in ("model.onnx", "torch.export.pt2"):
            with self.subTest(file):
                library = self.example(file)
                self.accc("diff", library, EXAMPLE / "golden")

    def test_diff_of_a_model(self):
        model = EXAMPLE / "golden" / "model.onnx"
        self.accc("diff", model, EXAMPLE / "golden", "--custom-ops", ACME)
        # The interpreter and each phase's IR call the functions, and so does every step by itself.
        out, _ = self.accc("diff", model, EXAMPLE / "golden", "--bisect", "--custom-ops", ACME)
        self.assertIn("kernels and library calls give what they should", out)

    def scripted(self, call):
        """A TorchScript module that returns the call."""
        code = f"""class Loop(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.modules.Loop,
      x: Tensor,
      w: Tensor) -> Tensor:
    return {call}
"""
        path = self.folder / "scripted.pt"
        with zipfile.ZipFile(SCRIPTED) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                if not name.endswith(".debug_pkl"):
                    target.writestr(name, code if name.endswith("modules.py") else source.read(name))
        return path

    def test_torchscript(self):
        options = ["--input", "x=float32[3]", "--input", "w=float32[]", "--custom-ops", ACME]
        text, _ = self.accc(
            "compile", self.scripted("ops.acme.quantize(x, w, bits=4)"), *options, "--stop-after", "import"
        )
        self.assertRegex(text, r'prim.custom_call "acme::quantize" of "libacme_ops.so" *\{bits = 4 : i64\}')
        _, messages = self.accc("check", self.scripted("ops.acme.quantize(x, w, 4)"), *options, code=DATA)
        self.assertIn("(ops.acme.quantize): ", messages)
        self.assertIn("does not name the operator's argument 3, which is an integer", messages)
        _, messages = self.accc("check", self.scripted("ops.acme.quantize(x, w, bits=x)"), *options, code=DATA)
        self.assertIn("acme::quantize", messages)
        _, messages = self.accc("check", self.scripted("ops.acme.quantise(x, w)"), *options, code=DATA)
        self.assertIn("--custom-ops", messages)

    def test_check_inspect_bench_report(self):
        model = EXAMPLE / "golden" / "model.onnx"
        self.accc("check", model, "--custom-ops", ACME, *TRAINING)
        self.accc("inspect", model, "--custom-ops", ACME)
        library = self.example()
        self.assertIn("custom operators\n    acme::quantize of libacme_ops.so", self.accc("inspect", library)[0])
        found = json.loads(self.accc("inspect", library, "--json")[0])
        calls = {entry["name"]: entry["custom_calls"] for entry in found["entries"]}
        forward = {"name": "acme::quantize", "library": "libacme_ops.so", "backward": False}
        self.assertEqual(calls["eval_step"], [forward] * 3)
        self.assertEqual(len(calls["train_step"]), 6)
        self.assertEqual(found["manifest"]["custom_ops"], ["libacme_ops.so"])
        self.assertNotIn(str(LIBRARIES), json.dumps(found))
        bench = json.loads(self.accc("bench", library, "--steps", 2, "--profile", "--json")[0])
        self.assertEqual(bench["custom_calls"], 6)
        self.assertTrue(any(step["label"].startswith("acme::quantize backward") for step in bench["profile"]))
        self.accc("compile", model, "-o", library, "--custom-ops", ACME, "--report", "report.json", *TRAINING)
        report = json.loads((self.folder / "report.json").read_text())
        counts = {entry["name"]: entry["custom_calls"] for entry in report["summary"]["entries"]}
        self.assertEqual(counts["train_step"], 6)

    def test_several_results_attributes_workspace(self):
        library, inputs, weights = self.split()
        run = ["run", library, "--inputs", inputs, "--params", weights, "--outputs", "out.safetensors"]
        self.accc(*run, "--entry", "grad_step")
        out = read_safetensors(self.folder / "out.safetensors")
        x, w = [1, 2, 3, 4, 5, 6], [1, -1, 0.5, 2, 0, -3]
        sums = [sum(a * b for a, b in zip(x[i : i + 3], w[i : i + 3])) for i in (0, 3)]
        loss = sum(12 * a * b * b for a, b in zip(x, w)) + sum(s * s for s in sums)
        self.assertEqual(floats(out["loss"]), (loss,))
        expected = tuple(24 * a * b + 2 * sums[i // 3] * a for i, (a, b) in enumerate(zip(x, w)))
        self.assertEqual(floats(out["grad.w"]), expected)
        self.accc(*run, "--entry", "eval_step")
        out = read_safetensors(self.folder / "out.safetensors")
        self.assertEqual(out["rows"][2], struct.pack("<q", 2))
        self.accc(*run, "--entry", "train_step", ACCC_POISON=1)

    def test_a_gradient_that_nobody_wants(self):
        self.write("product.mlir", PRODUCT.replace("CALLEE", "test::product"))
        self.accc("compile", "product.mlir", "-o", "product.so", "--custom-ops", GOOD, "--loss", "output:loss")
        write_safetensors(self.folder / "x.safetensors", {"x": ("F32", [3], f32(1, 2, 3))})
        write_safetensors(self.folder / "w.safetensors", {"w": ("F32", [3], f32(4, 5, 6))})
        run = ["run", "product.so", "--entry", "grad_step", "--inputs", "x.safetensors", "--params", "w.safetensors"]
        self.accc(*run, "--outputs", "out.safetensors", ACCC_CUSTOM_OPS=LIBRARIES / "good")
        self.assertEqual(floats(read_safetensors(self.folder / "out.safetensors")["grad.w"]), (1, 2, 3))

    def test_the_same_bytes(self):
        self.example()
        before = (self.folder / "quantized.so").read_bytes()
        self.example()
        self.assertEqual((self.folder / "quantized.so").read_bytes(), before)

    # ---- what is refused when a model is compiled ----

    def test_no_library_is_named(self):
        for file, name in (("model.onnx", "acme.quantize"), ("torch.export.pt2", "acme.quantize.default")):
            _, error = self.accc("check", EXAMPLE / "golden" / file, *TRAINING, code=DATA)
            self.assertIn(f"({name}): the operator is not supported; if it is one of your own", error)
            self.assertIn("with --custom-ops (and at 2 other nodes)", error)
        self.write("split.mlir", SPLIT)
        _, error = self.accc("compile", "split.mlir", "-o", "split.so", code=DATA)
        self.assertIn("the custom operator is not given by a library of --custom-ops; it is in libops.so", error)
        self.assertEqual(self.files(), ["split.mlir"])

    def test_text_that_contradicts_the_library(self):
        for old, new, what in (
            ("scale = 2.0 : f64", "scale = 2.0 : f32", "has an attribute that is none of i64, f64, string"),
            ("powers = array<i64: 1, 3>", "powers", "has an attribute that is none of i64, f64, string"),
            ("tensor<i64>)\n  %p", "tensor<i32>)\n  %p", "has results of other types here"),
        ):
            text = SPLIT.replace(old, new)
            self.assertNotEqual(text, SPLIT)
            if "i32" in new:
                text = text.replace("%s#2 : tensor<f32>, tensor<i64>", "%s#2 : tensor<f32>, tensor<i32>")
                text = text.replace('tensor<i64> {accc.name = "rows"', 'tensor<i32> {accc.name = "rows"')
            self.write("split.mlir", text)
            _, error = self.accc("compile", "split.mlir", "-o", "split.so", "--custom-ops", GOOD, code=DATA)
            self.assertIn("(test::split): the custom operator " + what, error)

    def test_libraries_that_are_none(self):
        model = EXAMPLE / "golden" / "model.onnx"

        def error_of(*libraries):
            options = [option for library in libraries for option in ("--custom-ops", library)]
            return self.accc("compile", model, "-o", "model.so", *options, code=USAGE)[1]

        self.assertIn("--custom-ops absent.so: ", error_of("absent.so"))
        self.assertIn("No such file", error_of("absent.so"))
        self.write("text.so", "no library")
        self.assertIn("cannot be loaded", error_of("text.so"))
        self.assertIn("it does not export accc_custom_ops", error_of(LIBRARIES / "no_symbol" / "libops.so"))
        self.assertIn(
            "was built for version 2 of accc/custom_op.h, this accc has version 1",
            error_of(LIBRARIES / "wrong_version" / "libops.so"),
        )
        self.assertIn(
            "describes the operator test::wrong wrongly: a bit is set",
            error_of(LIBRARIES / "wrong_bits" / "libops.so"),
        )
        self.assertIn("gives test::split, too", error_of(GOOD, LIBRARIES / "reads_less" / "libops.so"))
        self.assertEqual(self.files(), ["text.so"])

    def test_the_library_refuses(self):
        model = (EXAMPLE / "golden" / "model.onnx").read_bytes()
        bits = b"bits\x18\x04"
        self.assertEqual(model.count(bits), 3)
        (self.folder / "one.onnx").write_bytes(model.replace(bits, b"bits\x18\x01"))
        _, error = self.accc("check", "one.onnx", "--custom-ops", ACME, *TRAINING, code=DATA)
        message = "(acme.quantize): libacme_ops.so refuses it: quantize needs an attribute bits from 2 to 16"
        self.assertIn(message + " (and at 2 other nodes)", error)

        with zipfile.ZipFile(EXAMPLE / "golden" / "torch.export.pt2") as old:
            with zipfile.ZipFile(self.folder / "one.pt2", "w") as new:
                for item in old.infolist():
                    data = old.read(item).replace(b'"as_int": 4', b'"as_int": 1')
                    new.writestr(item, data)
        _, error = self.accc("check", "one.pt2", "--custom-ops", ACME, *TRAINING, code=DATA)
        self.assertIn("refuses it: quantize needs an attribute bits from 2 to 16", error)

    def test_no_derivative(self):
        self.write("constant.mlir", PRODUCT.replace("CALLEE", "test::constant"))
        options = ["constant.mlir", "-o", "constant.so", "--custom-ops", GOOD]
        _, error = self.accc("compile", *options, "--loss", "output:loss", code=DATA)
        self.assertIn("'test::constant' has no derivative", error)
        self.accc("compile", *options)  # nothing is trained

    def test_no_function_for_a_gpu(self):
        self.write("product.mlir", PRODUCT.replace("CALLEE", "test::product"))
        options = ["--custom-ops", GOOD, "--target", "cuda", "--arch", "compute_80"]
        _, error = self.accc("compile", "product.mlir", "-o", "product.so", *options, code=DATA)
        self.assertIn("(test::product): the custom operator has no forward function for cuda", error)

    # ---- what is refused when a model is loaded, or run ----

    def run_split(self, code, **environment):
        run = ["run", "split.so", "--entry", "grad_step", "--inputs", "in.safetensors", "--params", "w.safetensors"]
        return self.accc(*run, code=code, **environment)[1]

    def test_where_the_library_is_found(self):
        self.split()
        (self.folder / "libops.so").unlink()
        error = self.run_split(MACHINE)
        self.assertIn("split.so calls custom operators of libops.so, which was looked for where ACCC_CUSTOM_OPS", error)
        self.run_split(0, ACCC_CUSTOM_OPS=GOOD)
        self.run_split(0, ACCC_CUSTOM_OPS=f"/nowhere:{GOOD.parent}")
        self.run_split(0, LD_LIBRARY_PATH=GOOD.parent)
        self.run_split(MACHINE, ACCC_CUSTOM_OPS=ACME)

    def test_another_library(self):
        self.split()
        for folder, why in (
            ("fewer", "test::product: there is no such operator"),
            ("other_results", "test::split: its output 2 is i32[], the model was compiled for i64[]"),
        ):
            error = self.run_split(DATA, ACCC_CUSTOM_OPS=LIBRARIES / folder)
            self.assertIn("was compiled with another libops.so than", error)
            self.assertIn(why, error)
        self.assertIn("does not export accc_custom_ops", self.run_split(DATA, ACCC_CUSTOM_OPS=LIBRARIES / "no_symbol"))

    def test_a_backward_function_that_reads_more(self):
        self.write("product.mlir", PRODUCT.replace("CALLEE", "test::product"))
        options = ["--custom-ops", LIBRARIES / "reads_less" / "libops.so", "--loss", "output:loss"]
        self.accc("compile", "product.mlir", "-o", "product.so", *options)
        write_safetensors(self.folder / "x.safetensors", {"x": ("F32", [3], f32(1, 2, 3))})
        run = ["run", "product.so", "--entry", "grad_step", "--inputs", "x.safetensors"]
        _, error = self.accc(*run, code=DATA, ACCC_CUSTOM_OPS=GOOD)
        self.assertIn("test::product: its backward function reads input 0, which it did not", error)

    def test_a_function_that_fails(self):
        library, _, weights = self.split()
        write_safetensors(
            self.folder / "bad.safetensors",
            {"x": ("F32", [2, 3], f32(*range(6))), "k": ("I64", [], struct.pack("<q", -1))},
        )
        run = ["run", library, "--entry", "grad_step", "--inputs", "bad.safetensors", "--params", weights]
        _, error = self.accc(*run, code=MACHINE)
        self.assertIn(
            "grad_step: the forward function of test::split in libops.so failed: the second input is negative", error
        )


if __name__ == "__main__":
    unittest.main()
