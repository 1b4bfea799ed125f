# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several sizes (-D) and several CPUs (--arch) in one library."""

import json
import os
import unittest

from command_line import DATA, MACHINE, MLP, TRAINING, USAGE, CommandLineTest, read_safetensors, write_safetensors

OPTIONS = ["--loss", "cross_entropy", "--optimizer", "adam"]


class Sizes(CommandLineTest):
    def compile(self, name, *options, code=0):
        return self.accc("compile", MLP / "model.onnx", "-o", name, *OPTIONS, *options, code=code)

    def batch(self, rows):
        """The first rows of the goldens' batch."""
        whole = read_safetensors(MLP / "inputs.safetensors")
        part = {
            name: (dtype, [rows, *shape[1:]], data[: len(data) * rows // shape[0]])
            for name, (dtype, shape, data) in whole.items()
        }
        write_safetensors(self.folder / f"{rows}.safetensors", part)
        return f"{rows}.safetensors"

    def test_the_shapes_of_the_inputs_choose(self):
        self.compile("m.so", "-D", "batch=64,16")
        self.compile("m16.so", "-D", "batch=16")
        self.assertIn("15 of 15 tensors pass", self.accc("diff", "m.so", MLP)[0])
        for entry in ("train_step", "grad_step", "eval_step"):
            for library in ("m.so", "m16.so"):
                self.accc(
                    *("run", library, "--entry", entry, "--inputs", self.batch(16)),
                    *("--outputs", f"{library}.safetensors"),
                )
            self.assertEqual(
                read_safetensors(self.folder / "m.so.safetensors"),
                read_safetensors(self.folder / "m16.so.safetensors"),
            )
        _, error = self.accc("run", "m.so", "--inputs", self.batch(20), code=USAGE)
        self.assertIn(
            "images: expected f32[64, 1, 8, 8] (batch=64) or f32[16, 1, 8, 8] (batch=16), "
            "got f32[20, 1, 8, 8]",
            error,
        )

    def test_it_is_seen_everywhere(self):
        self.compile("m.so", "-D", "batch=64,16", "--header", "m.h", "--report", "m.json")
        found = json.loads(self.accc("inspect", "m.so", "--json")[0])
        self.assertEqual(found["sizes"], ["batch=64", "batch=16"])
        entries = [(entry["name"], entry["sizes"]) for entry in found["entries"]]
        self.assertIn(("train_step", "batch=16"), entries)
        self.assertEqual(entries.count(("apply_step", "")), 1)
        self.assertEqual(len(entries), 7)
        self.assertEqual(found["manifest"]["dimensions"], {"batch": [64, 16]})
        self.assertIn("train_step batch=16: ", self.accc("inspect", "m.so")[0])

        report = json.loads((self.folder / "m.json").read_text())
        self.assertEqual([(e["name"], e["sizes"]) for e in report["entries"]], entries)
        self.assertEqual({note["sizes"] for note in report["fusion"]}, {"batch=64", "batch=16"})

        header = (self.folder / "m.h").read_text()
        self.assertIn("enum class Sizes {\n  batch_64,\n  batch_16,\n};", header)
        self.assertIn("images = accc::Tensor(accc::DType::f32, accc::Shape{16, 1, 8, 8});", header)

        bench = ["bench", "m.so", "--steps", 2, "--warmup", 1, "--json"]
        for options, sizes in (
            ([], "batch=64"),
            (["-D", "batch=16"], "batch=16"),
            (["--inputs", self.batch(16)], "batch=16"),
            (["-D", "batch=16", "--entry", "apply_step"], ""),
        ):
            self.assertEqual(json.loads(self.accc(*bench, *options)[0])["sizes"], sizes)
        _, error = self.accc(*bench, "-D", "batch=8", code=USAGE)
        self.assertIn("it has: batch=64, batch=16", error)

    def test_two_libraries_are_compared_by_what_they_take(self):
        self.compile("m.so", "-D", "batch=64,16")
        self.compile("m16.so", "-D", "batch=16")
        self.assertIn("tensors pass", self.accc("diff", "m.so", "m.so")[0])
        out, _ = self.accc("diff", "m16.so", "m.so", code=DATA)
        self.assertIn("* entry train_step batch=64 is missing in m16.so", out)
        self.assertNotIn("is missing in m.so", out)
        self.assertNotIn("FAILED", out)

    def test_same_input_gives_same_bytes_and_weights_are_there_once(self):
        options = ["-D", "batch=16,32,64", "--arch", "x86-64-v4,x86-64-v3"]
        self.compile("a.so", *options)
        self.compile("b.so", *options)
        data = (self.folder / "a.so").read_bytes()
        self.assertEqual(data, (self.folder / "b.so").read_bytes())
        self.compile("w.so", "-D", "batch=64", "--weights", "beside")
        for _, _, weight in read_safetensors(self.folder / "w.so.safetensors").values():
            self.assertEqual(data.count(weight), 1)

    def test_phases_are_shown_for_each(self):
        self.compile("m.so", "-D", "batch=64,16", "--dump-dir", "dump")
        self.assertEqual(
            sorted(path.name for path in (self.folder / "dump").iterdir() if path.is_dir()),
            ["batch=16", "batch=64"],
        )
        self.assertTrue((self.folder / "dump" / "batch=16" / "7-schedule.mlir").exists())
        text = (self.folder / "dump" / "9-generate.mlir").read_text()
        self.assertIn("train_step[batch=16]", text)
        out, _ = self.accc(
            *("compile", MLP / "model.onnx", "-D", "batch=64,16", "--stop-after", "import")
        )
        self.assertIn("// ----- batch=64\n", out)
        self.assertIn("// ----- batch=16\n", out)
        out, _ = self.accc("inspect", MLP / "model.onnx", "-D", "batch=64,16")
        self.assertIn("model.onnx batch=16: ", out)

    def test_what_is_wrong_is_said_once_and_at_which_sizes(self):
        for options, message in (
            (["-D", "batch=64,64"], "-D batch names 64 twice"),
            (["-D", "batch=" + ",".join(map(str, range(1, 34)))], "more than the 32"),
            (["-D", "batch=64", "--arch", "x86-64-v3,x86-64-v3"], "--arch names x86-64-v3 twice"),
            (["-D", "batch=64", "--arch", "x86-64-v3,z80"], "z80"),
        ):
            _, error = self.compile("m.so", *options, code=USAGE)
            self.assertIn(message, error)
            self.assertEqual(error.count("error"), 1)
        _, error = self.compile("m.so", "-D", "batch=64,x", code=USAGE)
        self.assertIn("'x'", error)
        # Not there at any of the sizes: one error, not one for each.
        _, error = self.compile("m.so", "-D", "rows=64,16", code=USAGE)
        self.assertEqual(error.count("open dimensions"), 1)
        self.assertIn("with -D rows=64: ", error)
        self.assertIn("-D rows: no input leaves a dimension of this name open (open: 'batch')", error)
        # Sizes of what has none.
        (self.folder / "m.mlir").write_text(self.small().read_text())
        _, error = self.accc("compile", "m.mlir", "-o", "m.so", "-D", "n=1,2", code=USAGE)
        self.assertIn("-D n: the shapes of IR text are fixed", error)
        self.accc("check", MLP / "model.onnx", *OPTIONS, "-D", "batch=64,16")


class Archs(CommandLineTest):
    def test_the_best_is_taken(self):
        compile = ["compile", MLP / "model.onnx", *TRAINING, "-o"]
        self.accc(*compile, "m.so", "--arch", "x86-64-v3,x86-64-v4,skylake")
        found = json.loads(self.accc("inspect", "m.so", "--json")[0])
        archs = [arch.split(":")[0] for arch in found["archs"]]
        self.assertEqual(archs[0], "x86-64-v4")
        self.assertEqual(set(archs[1:]), {"x86-64-v3", "skylake"})
        self.assertIn(found["arch"], found["archs"])
        self.assertIn(" of x86-64-v4 ", self.accc("inspect", "m.so")[0])
        self.accc(*compile, "v3.so", "--arch", "x86-64-v3")
        os.environ["ACCC_ARCH"] = "x86-64-v3"
        try:
            self.assertEqual(json.loads(self.accc("inspect", "m.so", "--json")[0])["arch"], "x86-64-v3")
            bench = self.accc("bench", "m.so", "--steps", 2, "--json")[0]
            self.assertEqual(json.loads(bench)["arch"], "x86-64-v3")
            self.assertNotIn("FAILED", self.accc("diff", "m.so", "v3.so")[0])
        finally:
            del os.environ["ACCC_ARCH"]

    def test_none_that_this_machine_has(self):
        self.small()
        # AMD's of 2015 and Intel's of 2024: nothing has the features of both.
        _, error = self.accc("compile", "small.mlir", "-o", "m.so", "--arch", "bdver4,clearwaterforest")
        os.environ["ACCC_ARCH"] = "bdver4"
        try:
            _, error = self.accc("inspect", "m.so", code=MACHINE)
        finally:
            del os.environ["ACCC_ARCH"]
        self.assertIn("bdver4 needs ", error)
        self.assertIn("fma4", error)


if __name__ == "__main__":
    unittest.main()
