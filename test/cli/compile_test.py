# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ast
import json
import os
import re
import subprocess
import unittest

from command_line import ACCC, BUG, DATA, GOLDENS, MACHINE, MLP, SECONDS, SMALL, TRAINING, USAGE, CommandLineTest, write_safetensors


class Compile(CommandLineTest):
    def test_as_json(self):
        model = self.small()
        self.assertEqual(json.loads(self.accc("compile", model, "-o", "m.so", "--json")[0]), {"ok": True, "problems": []})
        found = json.loads(self.accc("compile", model, "--stop-after", "import", "--json")[0])
        self.assertIn("func.func @forward", found["ir"])
        found = json.loads(self.accc("compile", model, "-o", "m.so", "--loss", "fly", "--json", code=USAGE)[0])
        self.assertFalse(found["ok"])
        self.assertIn("there is no loss 'fly'", found["problems"][0]["message"])

    def test_same_input_gives_same_bytes(self):
        first = self.library().read_bytes()
        (self.folder / "other").mkdir()
        second = self.folder / "other" / "name.so"
        self.accc("compile", MLP / "model.onnx", "-o", second, *TRAINING)
        self.assertEqual(first, second.read_bytes())

    def test_gives_the_same_bytes_on_one_core(self):
        command = [
            *("compile", GOLDENS / "efficientnet_b0" / "model.onnx", "--arch", "x86-64-v3,x86-64-v4"),
            *("--loss", "cross_entropy", "--optimizer", "adamw"),
        ]
        self.accc(*command, "-o", "all.so", "--dump-dir", "dump")
        for arch in ("x86-64-v3", "x86-64-v4"):
            self.assertGreater(len(list((self.folder / "dump" / arch).glob("kernels-*.ll"))), 4)
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        self.accc(*command, "-o", "one.so")
        self.assertEqual((self.folder / "all.so").read_bytes(), (self.folder / "one.so").read_bytes())

    def test_is_quiet_in_a_pipe(self):
        self.small()
        self.assertEqual(self.accc("compile", "small.mlir", "-o", "a.so"), ("", ""))
        self.assertEqual(self.files(), ["a.so", "small.mlir"])

    def test_stops_after_each_phase(self):
        self.small()
        marks = {
            "import": "@forward",
            "trainable": "nn.mse_loss",
            "decompose": "prim.tanh",
            "simplify": "prim.tanh",
            "layout": "prim.tanh",
            "fuse": "prim.fusion",
            "schedule": "exec.launch",
            "merge": "exec.launch",
        }
        for phase, mark in marks.items():
            out, error = self.accc("compile", "small.mlir", "--loss", "mse", "--stop-after", phase)
            self.assertIn(mark, out)
            self.assertEqual(error, "")
        self.accc("compile", "small.mlir", "--stop-after", "fuse", "-o", "out.mlir")
        self.assertIn("prim.fusion", (self.folder / "out.mlir").read_text())

    def test_dumps_every_phase(self):
        self.small()
        self.accc("compile", "small.mlir", "-o", "a.so", "--dump-dir", "dump")
        names = [path.name for path in sorted((self.folder / "dump").glob("?-*.mlir"))]
        self.assertEqual(
            [name[2:-5] for name in names],
            "import trainable decompose simplify layout fuse schedule merge generate".split(),
        )
        for name in ("kernels.mlir", "kernels-0.ll", "entries.ll"):
            self.assertTrue((self.folder / "dump" / name).exists(), name)

    def test_writes_header_and_report(self):
        self.small()
        self.accc(
            *("compile", "small.mlir", "-o", "a.so", "--loss", "mse", "--optimizer", "sgd,lr=0.5"),
            *("--header", "tiny.h", "--report", "a.json"),
        )
        header = (self.folder / "tiny.h").read_text()
        self.assertIn("namespace tiny {", header)
        self.assertIn("accc::Tensor x{accc::DType::f32, accc::Shape{2, 4}};", header)
        report = json.loads((self.folder / "a.json").read_text())
        self.assertEqual(report["manifest"]["optimizer"], "sgd,lr=0.5")
        entries = {entry["name"]: entry for entry in report["entries"]}
        self.assertEqual(list(entries), ["train_step", "grad_step", "apply_step", "eval_step"])
        products = [s for s in entries["eval_step"]["steps"] if "library_call" in s]
        self.assertEqual([s["flops"] for s in products], [2 * 2 * 4 * 3])

    def test_the_header_knows_what_evaluation_alone_gives(self):
        both = ["  Outputs step(const Inputs &batch)", "  Outputs eval(const Inputs &batch)"]
        apart = [both[0], "  Evaluated eval(const Inputs &batch)"]
        for options, calls, outputs in (([], both, ["Outputs"]), (["--loss-only"], apart, ["Outputs", "Evaluated"])):
            self.accc("compile", MLP / "model.onnx", "-o", "m.so", *TRAINING, "--header", "m.h", *options)
            header = (self.folder / "m.h").read_text()
            for call in calls:
                self.assertIn(call, header)
            structs = header.split("\nstruct ")[2:]  # behind Inputs
            self.assertEqual([text.split(" ")[0] for text in structs], outputs)
            self.assertEqual(["&logits()" in text for text in structs], [False] * (len(outputs) - 1) + [True])

    @unittest.skipUnless(os.path.exists("/usr/lib/llvm-19/bin/ld.lld"), "there is no linker where Debian has it")
    def test_compiles_without_an_environment(self):
        command = [ACCC, "compile", self.small(), "-o", "m.so"]
        done = subprocess.run(command, cwd=self.folder, env={}, capture_output=True, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_header_takes_any_name(self):
        names = {"x": 'Z\u00e4hler "1"\n2\\', "y": "Outputs"}  # C++ takes an octal number as Python does
        text = SMALL.replace('"x"', r'"Z\C3\A4hler \221\22\0A2\5C"').replace('"y"', '"Outputs"').replace('"w"', '"Inputs"')
        (self.folder / "m.mlir").write_text(text)
        self.accc("compile", "m.mlir", "-o", "m.so", "--header", "accc.h")
        header = (self.folder / "accc.h").read_text()
        self.assertTrue(header.isascii())
        self.assertIn("namespace accc_ {", header)  # the runtime has the other
        literals = [ast.literal_eval(x).encode("latin-1").decode() for x in re.findall(r'(?:{|result\[)("[^"]*")', header)]
        self.assertEqual(literals, list(names.values()))
        self.assertIn("&Outputs_() const", header)

    def test_the_report_counts_every_launch(self):
        self.accc("compile", MLP / "model.onnx", "-o", "m.so", *TRAINING, "--report", "m.json")
        reported = json.loads((self.folder / "m.json").read_text())["entries"]
        inspected = json.loads(self.accc("inspect", "m.so", "--json")[0])["entries"]
        for key in ("name", "launches", "library_calls", "arena_bytes"):
            self.assertEqual([e[key] for e in reported], [e[key] for e in inspected])
        # Adam over all parameters at once: three states and a dozen operations an element.
        updates = [s for s in reported[0]["steps"] if "segments" in s]
        self.assertEqual(len(updates), 1)
        self.assertGreater(updates[0]["flops"], updates[0]["bytes"] / 4)

    def test_weights_inside_beside_or_left_out(self):
        for where, files in (("embed", 1), ("beside", 2), ("none", 1)):
            folder = self.folder / where
            folder.mkdir()
            self.accc(
                *("compile", MLP / "model.onnx", "-o", folder / "m.so", *TRAINING),
                *("--weights", where),
            )
            self.assertEqual(len(list(folder.iterdir())), files)
            self.accc(
                *("run", folder / "m.so", "--entry", "eval_step"),
                *("--inputs", MLP / "inputs.safetensors"),
                code=USAGE if where == "none" else 0,
            )

    def test_weights_of_a_model_without_values_are_given(self):
        """Beside the library was a file without them, which the library then found to be another's."""
        self.small()
        write_safetensors(self.folder / "w.safetensors", {"w": ("F32", [4, 3], bytes(48))})
        for where in ("embed", "beside", "none"):
            self.accc("compile", "small.mlir", "-o", f"{where}.so", "--weights", where)
            run = ["run", f"{where}.so", "--entry", "eval_step", "--inputs", "x.safetensors"]
            write_safetensors(self.folder / "x.safetensors", {"x": ("F32", [2, 4], bytes(32))})
            self.assertIn("a model that has none", self.accc(*run, code=USAGE)[1])
            self.accc(*run, "--params", "w.safetensors")

    def test_all_wrong_options_are_named_at_once(self):
        self.small()
        _, error = self.accc(
            *("compile", "small.mlir", "--loss", "hinge", "--optimizer", "sgd,momentum=x"),
            *("--precision", "fp8", "--freeze", "(", "--running-variance", "both"),
            code=USAGE,
        )
        for part in ("'hinge'", "'momentum' needs a number", "fp8", "--freeze (", "-o LIB.so", "variance both"):
            self.assertIn(part, error)
        self.assertIn("6 errors", error)

    def test_what_an_exporter_left_out_is_given(self):
        model = GOLDENS / "digits_cnn" / "model.onnx"
        command = ("compile", model, "-D", "batch=4", *TRAINING[:4], "--stop-after", "import")
        text, warnings = self.accc(*command)
        self.assertIn("unbiased = true", text)
        self.assertEqual(warnings, "")  # it is what everybody expects
        self.assertRegex(self.accc(*command, "-v")[1], "accc: note: .*--running-variance biased")
        text, warnings = self.accc(*command, "--running-variance", "biased")
        self.assertIn("unbiased = false", text)
        self.assertEqual(warnings, "")
        # The same model as dynamo would have written it: batch norm in inference mode.
        trained, _ = self.accc(*command)
        inference = model.read_bytes().replace(b"training_mode\x18\x01", b"training_mode\x18\x00")
        self.assertNotEqual(inference, model.read_bytes())
        (self.folder / "inference.onnx").write_bytes(inference)
        command = ("compile", "inference.onnx", *command[2:])
        _, error = self.accc(*command, code=DATA)
        self.assertIn("--assume-batchnorm-training", error)
        text, _ = self.accc(*command, "--accept-damaged-export")
        self.assertNotIn("nn.batch_norm_training", text)
        text, _ = self.accc(*command, "--assume-batchnorm-training")
        self.assertEqual(text, trained)
        self.accc(*command[:-2], "-o", "m.so", "--report", "m.json", "--assume-batchnorm-training")
        manifest = json.loads((self.folder / "m.json").read_text())["manifest"]
        self.assertTrue(manifest["assume_batchnorm_training"])
        self.assertNotIn("assume_dropout_training", manifest)

    def test_what_nothing_in_the_file_is_asked_of_is_refused(self):
        for option, missing in (
            (["--assume-dropout-training"], "the file has no dropout that leaves open"),
            (["--assume-batchnorm-training"], "the file has no batch normalisation in inference mode"),
            (["--running-variance", "biased"], "the file has no batch normalisation that trains"),
            (["--accept-damaged-export"], "no damage to this export was found"),
        ):
            for loss, message in ((TRAINING[:4], missing), ([], "it is about training, and there is no --loss")):
                command = [MLP / "model.onnx", *option, "-D", "batch=4", *loss]
                _, error = self.accc("compile", *command, "-o", "m.so", code=USAGE)
                self.assertEqual(error.count(f"error: {option[0]}: {message}"), 1, error)
                self.accc("check", *command, code=USAGE)
        own = GOLDENS.parent / "steps" / "normalized" / "model.onnx"
        _, error = self.accc("compile", own, "-o", "m.so", "--assume-dropout-training", code=USAGE)
        self.assertIn("--assume-dropout-training: the model holds its own training step", error)
        self.assertEqual(self.files(), [])

    def test_what_a_file_says_is_not_said_again(self):
        self.small()
        exported = GOLDENS.parent / "exported" / "cnn"
        for model in ("small.mlir", exported / "export.pt2", exported / "traced.pt"):
            options = ["--assume-dropout-training", "--assume-batchnorm-training", "--accept-damaged-export"]
            _, error = self.accc("compile", model, "-o", "m.so", *options, "--running-variance", "biased", code=USAGE)
            for option in (*options, "--running-variance"):
                self.assertIn(f"{option}: the file says ", error)
            self.assertEqual(error.count("the option is for ONNX"), 4)

    def test_of_a_damaged_file_the_damage_is_told(self):
        exported = GOLDENS.parent / "exported" / "cnn"
        for name, share, message in (
            ("traced.pt", 0.9, "no zip archive that can be read"),
            ("export.pt2", 0.5, "no zip archive that can be read"),
            ("traced.pt", 0, "not an ONNX model"),
        ):
            whole = (exported / name).read_bytes()
            (self.folder / name).write_bytes(whole[: int(len(whole) * share)])
            command = ["compile", name, "-o", "m.so", "--input", "x=float32[2,3,8,8]", "--accept-damaged-export"]
            _, error = self.accc(*command, code=DATA)
            self.assertIn(message, error)
            self.assertEqual(error.count("error:"), 1, error)

    def test_wrong_usage(self):
        self.small()
        for arguments in (
            [],
            ["compile"],
            ["frobnicate"],
            ["compile", "small.mlir", "-o", "a.so", "--frobnicate"],
            ["compile", "small.mlir", "-o", "a.so", "-D", "batch"],
            ["compile", "small.mlir", "-o", "a.so", "-D", "batch=0"],
            ["compile", "none.onnx", "-o", "a.so"],
            ["compile", "small.mlir", "-o", "a.so", "--stop-after", "lunch"],
            ["compile", "small.mlir", "-o", "a.so", "--target", "tpu"],
            ["compile", "small.mlir", "-o", "a.so", "--target", "cuda", "--arch", "sm_70"],
            ["compile", "small.mlir", "-o", "a.so", "--target", "cuda", "--arch", "native"],
            ["compile", "small.mlir", "-o", "a.so", "--optimizer", "adam"],
            ["compile", "small.mlir", "-o", "a.so", "--memory-budget", "much"],
            ["compile", "small.mlir", "-o", "a.so", "--memory-budget", "0"],
            ["compile", "small.mlir", "-o", "a.so", "--memory-budget", "1 parsec"],
        ):
            out, error = self.accc(*arguments, code=USAGE)
            self.assertEqual(out, "")
            self.assertTrue(error)
        self.assertEqual(self.files(), ["small.mlir"])

    def test_a_bad_model_leaves_no_file(self):
        for name, content in (
            ("cut.onnx", (MLP / "model.onnx").read_bytes()[:1000]),
            ("empty.onnx", b""),
            ("text.onnx", b"this is no model"),
            ("bad.mlir", SMALL.replace("tensor<4x3xf32>)", "tensor<5x3xf32>)").encode()),
            ("wrong.mlir", b"func.func @backward() { return }"),
            ("no_names.mlir", SMALL.replace("accc.name", "name").encode()),
            ("no_roles.mlir", SMALL.replace("accc.role", "role").encode()),
            ("number.mlir", b"func.func @forward(%x: i32) { return }"),
            ("blocks.mlir", b"func.func @forward() { return\n^a: return }"),
            ("fused.mlir", SMALL.replace("prim.tanh %0", 'prim.fusion loop "f"(%0)').encode()),
            ("deep.mlir", b"func.func @forward() attributes {a = " + b"[" * 20000),
        ):
            (self.folder / name).write_bytes(content)
            _, error = self.accc("compile", name, "-o", "a.so", "--loss", "mse", code=DATA)
            self.assertIn("accc: error: ", error)
            self.assertFalse((self.folder / "a.so").exists())

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_is_closed(self):
        self.small()
        closed = self.folder / "closed"
        closed.mkdir(mode=0o500)
        self.accc("compile", "small.mlir", "-o", closed / "a.so", code=MACHINE)

    def test_an_arch_that_is_none(self):
        self.small()
        _, error = self.accc("compile", "small.mlir", "-o", "a.so", "--arch", "z80", code=USAGE)
        self.assertIn("z80", error)
        self.assertEqual(self.files(), ["small.mlir"])

    def test_a_folder_that_is_not_there(self):
        self.small()
        _, error = self.accc("compile", "small.mlir", "-o", "no/a.so", code=MACHINE)
        self.assertIn("no/a.so", error)

    def test_open_dimensions_are_named(self):
        _, error = self.accc("compile", MLP / "model.onnx", "-o", "a.so", code=DATA)
        self.assertIn("batch", error)

    def test_help_says_what_there_is(self):
        out, _ = self.accc("--help")
        for command in ("compile", "check", "inspect", "run", "diff", "bench"):
            self.assertIn(command, out)
        self.assertIn("accc 0.1.0", self.accc("--version")[0])
        self.assertIn("4 a bug", out)
        self.assertEqual(BUG, 4)


if __name__ == "__main__":
    unittest.main()
