# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest
import xml.etree.ElementTree

from command_line import ACCC, DATA, DONE, GOLDENS, MACHINE, MLP, SECONDS, SMALL, USAGE, CommandLineTest, floats, read_safetensors, write_safetensors


class Diff(CommandLineTest):
    def test_a_library_and_a_model_against_goldens(self):
        out, _ = self.accc("diff", self.library(), MLP)
        self.assertIn("15 of 15 tensors pass", out)
        self.assertIn("grad.1.weight", out)
        out, _ = self.accc("diff", MLP / "model.onnx", MLP, "--failed")
        self.assertNotIn("grad.1.weight", out)

    def test_what_differs_is_named(self):
        wrong = self.folder / "wrong"
        shutil.copytree(MLP, wrong)
        meta = json.loads((wrong / "meta.json").read_text())
        meta["lr"] *= 2
        (wrong / "meta.json").write_text(json.dumps(meta))
        out, _ = self.accc("diff", self.library(), wrong, code=DATA)
        self.assertIn("first bad tensor: ", out)
        self.assertIn("FAILED", out)
        # The forward and backward of the first step do not depend on the learning rate.
        for line in out.splitlines():
            if line.startswith("grad."):
                self.assertIn("close", line)

    def test_another_training_than_the_golden_s_is_named(self):
        self.accc("compile", MLP / "model.onnx", "-o", "m.so", "--loss", "cross_entropy", "--optimizer", "lion", "-D", "batch=64")
        out, _ = self.accc("diff", "m.so", MLP, code=DATA)
        optimizer = json.loads((MLP / "meta.json").read_text())["optimizer"]
        self.assertIn(f"--optimizer is {optimizer} in the goldens and lion in m.so", out)
        self.assertNotIn("--loss is", out)

    def test_goldens_as_json(self):
        report = json.loads(self.accc("diff", self.library(), MLP, "--json")[0])
        self.assertEqual((report["a"], report["verdict"]), (str(MLP), "pass"))
        self.assertEqual([section["name"] for section in report["sections"]], ["numbers"])
        self.assertEqual(len(report["sections"][0]["tensors"]), 15)

    def test_bisect(self):
        out, _ = self.accc("diff", MLP / "model.onnx", MLP, "--bisect")
        for phase in ("trainable", "decompose", "simplify", "layout", "fuse"):
            self.assertIn(f"{phase:10} keeps every value", out)
        self.assertIn("kernels and library calls give what they should", out)
        # Goldens of another loss: what is wrong was so before the first phase.
        wrong = self.folder / "wrong"
        shutil.copytree(MLP, wrong)
        meta = json.loads((wrong / "meta.json").read_text())
        meta["loss"] = "cross_entropy,label_smoothing=0.5"
        (wrong / "meta.json").write_text(json.dumps(meta))
        out, _ = self.accc("diff", MLP / "model.onnx", wrong, "--bisect", code=DATA)
        self.assertIn("the model as imported and differentiated is wrong: ", out)
        report = json.loads(self.accc("diff", MLP / "model.onnx", wrong, "--bisect", "--json", code=DATA)[0])
        self.assertEqual(report["failed"], ["bisection"])

    def test_bisect_an_input_with_the_name_of_a_result(self):
        (self.folder / "goldens").mkdir()
        path = self.folder / "model.mlir"
        path.write_text(SMALL.replace('"x"', '"grad.w"'))
        meta = {"loss": "mse", "optimizer": "sgd", "lr": 0.1, "steps": 1, "dims": {}, "dropout": False}
        (self.folder / "goldens" / "meta.json").write_text(json.dumps(meta))
        numbers = struct.pack("<8f", *range(8))
        tensors = {"grad.w": ("F32", [2, 4], numbers), "target": ("F32", [2, 3], numbers[:24])}
        write_safetensors(self.folder / "goldens" / "inputs.safetensors", tensors)
        out, _ = self.accc("diff", path, self.folder / "goldens", "--bisect")
        self.assertIn("kernels and library calls give what they should", out)

    def test_what_a_run_wrote(self):
        run = ["run", self.library(), "--inputs", MLP / "inputs.safetensors"]
        self.accc(*run, "--entry", "grad_step", "--outputs", "out.safetensors")
        self.accc(*run, "--steps", "10", "--save-params", "trained.safetensors")
        out, _ = self.accc("diff", "out.safetensors", MLP)
        self.assertIn("grad.1.weight", out)
        self.assertNotIn("param.", out)
        out, _ = self.accc("diff", "out.safetensors", MLP, "--params", "trained.safetensors")
        self.assertIn("param.1.weight", out)
        # Parameters of another number of steps are others.
        self.accc(*run, "--steps", "1", "--save-params", "early.safetensors")
        out, _ = self.accc("diff", "out.safetensors", MLP, "--params", "early.safetensors", code=DATA)
        self.assertIn("first bad tensor: param.", out)

    def test_a_loss_that_hangs_on_nothing_that_is_drawn(self):
        """It has no deviation, and is right but for rounding."""
        shutil.copytree(MLP, self.folder / "drawn")
        meta = json.loads((MLP / "meta.json").read_text()) | {"dropout": True, "loss_std": 0.0}
        (loss,) = floats(read_safetensors(MLP / "golden.safetensors")["loss"])
        for factor, code in ((1 + 1e-5, DONE), (1.01, DATA)):
            (self.folder / "drawn" / "meta.json").write_text(json.dumps(meta | {"loss_mean": factor * loss}))
            out, _ = self.accc("diff", MLP / "model.onnx", self.folder / "drawn", code=code)
            self.assertIn("1 of 1 tensors pass" if code == DONE else "first bad tensor: loss", out)

    def compile(self, name, *options):
        self.accc("compile", MLP / "model.onnx", "-o", name, *options)
        return name

    def trained(self, name, optimizer, *options):
        training = ("--loss", "cross_entropy", "--optimizer", optimizer, "-D", "batch=64")
        return self.compile(name, *training, *options)

    def diff(self, *arguments, code=DONE):
        """The sections by name, and the report as a whole."""
        report = json.loads(self.accc("diff", *arguments, "--json", code=code)[0])
        self.assertEqual(report["verdict"], "pass" if code == DONE else "fail")
        return {section["name"]: section for section in report["sections"]}, report

    def test_two_libraries(self):
        one = self.library()
        out, _ = self.accc("diff", one, one)
        for line in ("manifest   same", "interface  same", "kernels    same", "memory     same", "numbers    pass"):
            self.assertIn(line + "\n", out)
        # Parameters and optimizer state after training are compared, and after an apply_step.
        for name in ("grad.1.weight", "losses", "1.weight", "optimizer.exp_avg_sq.1.weight", "apply_step 1.weight"):
            self.assertRegex(out, rf"(?m)^{name} +f32.* close$")
        other = self.compile("forward.so", "--loss", "cross_entropy", "-D", "batch=64")
        out, _ = self.accc("diff", one, other, code=DATA)
        self.assertIn(f"* entry train_step is missing in {other}\n", out)
        self.assertTrue(out.endswith("failed: manifest, interface, numbers\n"), out)

    def test_a_loss_scale_is_part_of_the_training(self):
        """The numbers are the same to the bit."""
        self.trained("a.so", "sgd")
        self.trained("b.so", "sgd", "--loss-scale", "fixed=8")
        sections, report = self.diff("a.so", "b.so", code=DATA)
        (change,) = sections["manifest"]["changes"]
        self.assertEqual((change["what"], change["b"], change["fails"]), ("loss_scale", "fixed=8", True))
        self.assertEqual(report["failed"], ["manifest"])

    def test_hyperparameters_fail_and_are_shown(self):
        for optimizer, other, moved, changes in (
            ("sgd,momentum=0.9", "sgd,momentum=0.1", "6.weight", {"optimizer_options momentum": ("0.9", "0.1")}),
            (
                *("sgd,lr=5", "sgd,lr=0.01", "6.weight"),
                {"learning_rate": ("5", "0.01"), "optimizer_options lr": ("5", "0.01")},
            ),
            # Sums of squares of gradients, far below the absolute tolerance.
            (
                *("adam,beta2=0.9995", "adam", "optimizer.exp_avg_sq.4.weight"),
                {"optimizer_options beta2": ("0.9995", "0.999")},
            ),
            ("adam,beta2=0.99", "adam", "optimizer.exp_avg_sq.6.weight", {"optimizer_options beta2": ("0.99", "0.999")}),
        ):
            self.trained("a.so", optimizer)
            self.trained("b.so", other)
            sections, report = self.diff("a.so", "b.so", code=DATA)
            found = {c["what"]: (c["a"], c["b"]) for c in sections["manifest"]["changes"]}
            self.assertEqual(found, changes)
            self.assertTrue(all(c["fails"] for c in sections["manifest"]["changes"]))
            self.assertEqual(report["failed"], ["manifest", "numbers"])
            bad = {t["name"] for t in sections["numbers"]["tensors"] if not t["passed"]}
            self.assertIn(moved, bad)  # gradients are the same, what follows is not
            self.assertFalse({name for name in bad if "grad." in name or name.startswith("eval_step")})
        # Of the kernels the updates have other constants, and only these have other code.
        kernels = [c["what"] for c in sections["kernels"]["changes"]]
        self.assertTrue(kernels)
        for what in kernels:
            self.assertRegex(what, "^cpu x86-64-v3 (train|apply)_step .* code$")
        # The same, spelt out.
        self.trained("b.so", "adam,beta1=0.9,beta2=0.99")
        self.assertEqual(self.diff("a.so", "b.so")[0]["manifest"]["changes"], [])

    def test_frozen_parameters(self):
        self.trained("a.so", "adam")
        self.trained("b.so", "adam", "--freeze", "^1.weight$")
        sections, report = self.diff("a.so", "b.so", code=DATA)
        changes = {c["what"]: (c["a"], c["b"]) for c in sections["interface"]["changes"]}
        self.assertEqual(changes["variable 1.weight"], ("f32[16, 64] parameter", "f32[16, 64] parameter, frozen"))
        self.assertEqual(changes["entry grad_step output grad.1.weight"], ("f32[16, 64]", None))
        self.assertEqual(report["failed"], ["manifest", "interface", "numbers"])

    def test_what_a_ci_need_not_fail_for(self):
        """Another compiler or CPU is shown, as are other kernels; --fail-on and --only decide otherwise."""
        self.trained("a.so", "adam", "--arch", "x86-64-v3")
        self.trained("b.so", "adam", "--arch", "haswell")
        sections, _ = self.diff("a.so", "b.so")
        self.assertEqual(sections["manifest"]["verdict"], "different")
        self.assertEqual([c["what"] for c in sections["manifest"]["changes"]], ["arch"])
        self.assertEqual(sections["kernels"]["verdict"], "same")
        out, _ = self.accc("diff", "a.so", "b.so", "--fail-on", "manifest", code=DATA)
        self.assertIn("manifest   fail\n  * arch: x86-64-v3 -> haswell\n", out)
        self.assertTrue(out.endswith("failed: manifest\n"), out)
        self.accc("diff", "a.so", "b.so", "--only", "manifest", code=DATA)
        self.accc("diff", "a.so", "b.so", "--only", "manifest", "--fail-on", "none")
        self.trained("c.so", "sgd")
        sections, report = self.diff("a.so", "c.so", "--only", "numbers,kernels", code=DATA)
        self.assertEqual(list(sections), ["kernels", "numbers"])
        self.assertEqual(report["failed"], ["kernels", "numbers"])
        self.assertTrue(sections["kernels"]["changes"])
        for change in sections["kernels"]["changes"]:  # wherever the others now lie
            self.assertRegex(change["what"], "^cpu x86-64-v3 (train|apply)_step ")
        sections, _ = self.diff("a.so", "c.so", "--fail-on", "none")
        self.assertEqual({s["verdict"] for s in sections.values()}, {"different"})

    def test_data_and_steps_are_chosen(self):
        one = self.trained("a.so", "adam")
        sections, _ = self.diff(one, one, "--inputs", MLP / "inputs.safetensors", "--steps", 7, "--tolerance", 0)
        losses = [t for t in sections["numbers"]["tensors"] if t["name"] == "losses"]
        self.assertEqual([t["shape"] for t in losses], ["f32[7]"])

    def test_a_run_that_diverges_says_little(self):
        self.trained("a.so", "sgd,lr=1e30")
        sections, _ = self.diff("a.so", "a.so")
        self.assertRegex(sections["numbers"]["notes"][0], r"losses of a\.so: -?(nan|inf); choose --inputs")
        self.trained("b.so", "sgd")
        self.assertEqual(self.diff("b.so", "b.so")[0]["numbers"]["notes"], [])

    def test_junit(self):
        self.trained("a.so", "adam")
        self.trained("b.so", "adam,beta2=0.5")
        self.accc("diff", "a.so", "b.so", "--junit", "r.xml", code=DATA)
        suite = xml.etree.ElementTree.parse(self.folder / "r.xml").getroot()[0]
        cases = {case.get("name"): case.find("failure") for case in suite}
        self.assertEqual(
            [name for name in cases if not name.startswith("numbers ")],
            ["manifest", "interface", "kernels", "memory", "numbers"],
        )
        failed = {name for name, failure in cases.items() if failure is not None}
        self.assertLess({"manifest", "numbers", "numbers 1.weight"}, failed)
        self.assertNotIn("interface", failed)
        self.assertEqual(int(suite.get("failures")), len(failed))
        self.assertEqual(int(suite.get("tests")), len(cases))
        before = self.files()
        _, error = self.accc("diff", "a.so", "b.so", "--junit", "nowhere/r.xml", code=MACHINE)
        self.assertIn("cannot write nowhere/r.xml: ", error)
        _, error = self.accc("diff", "a.so", "b.so", "--junit", "a.so", code=USAGE)
        self.assertIn("which the command reads", error)
        self.assertEqual(self.files(), before)

    def test_nothing_is_left_behind_when_it_is_ended(self):
        """The folder of a compilation goes away, in the compiler's process and in the tool's."""
        scratch = self.folder / "tmp"
        scratch.mkdir()
        goldens = self.folder / "goldens"
        shutil.copytree(MLP, goldens)
        meta = json.loads((goldens / "meta.json").read_text())
        meta |= {"steps": 10**9, "dropout": True}  # runs until it is ended
        (goldens / "meta.json").write_text(json.dumps(meta))
        for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for begun in ("*", "*/model.so"):
                process = subprocess.Popen(
                    [ACCC, "diff", MLP / "model.onnx", goldens],
                    env={**os.environ, "TMPDIR": str(scratch)},
                    # Under nohup it would ignore SIGHUP, as it should.
                    preexec_fn=lambda: signal.signal(ending, signal.SIG_DFL),
                )
                self.addCleanup(process.kill)  # a failure holds up nothing
                deadline = time.monotonic() + SECONDS
                while not list(scratch.glob("accc-diff-" + begun)):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.001)
                process.send_signal(ending)
                self.assertIn(process.wait(timeout=SECONDS), (-ending, 128 + ending))
                self.assertEqual(list(scratch.iterdir()), [])

    def test_wrong_usage(self):
        self.accc("diff", MLP / "model.onnx", MLP / "model.onnx", code=USAGE)
        self.accc("diff", "none.so", MLP, code=USAGE)
        library = self.library()
        self.accc("diff", library, GOLDENS, code=USAGE)  # no meta.json
        compiled = "--target, --arch, --precision and --library-attention go with a model"
        for arguments, message in (
            ([library, MLP, "--only", "kernels"], "--only kernels: there is no such section"),
            ([library, library, "--only", "colour"], "--only"),
            ([library, MLP, "--steps", "2"], "--steps goes with two libraries, --targets or --simulate-ranks"),
            ([library, MLP, "--inputs", MLP / "inputs.safetensors"], "--inputs goes with"),
            ([library, library, "--bisect"], "--bisect needs a model and its goldens"),
            ([MLP / "model.onnx", MLP, "--bisect", "--only", "numbers"], "--bisect compares no sections"),
            ([MLP / "model.onnx", MLP, "--bisect", "--failed"], "--bisect lists no tensors"),
            ([library, MLP, "--arch", "native"], compiled),
            ([library, MLP, "--target", "cuda"], compiled),
            ([library, MLP, "--library-attention"], compiled),
            ([library, library, "--precision", "fp32"], compiled),
            ([MLP / "model.onnx", MLP, "--bisect", "--precision", "tf32"], "--precision does not go with it"),
        ):
            self.assertIn(message, self.accc("diff", *arguments, code=USAGE)[1])


if __name__ == "__main__":
    unittest.main()
