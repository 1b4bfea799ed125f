# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import sys
import unittest

from command_line import DATA, MLP, SMALL, TRAINING, USAGE, CommandLineTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import synthetic


class Check(CommandLineTest):
    def test_a_good_model(self):
        out, error = self.accc("check", MLP / "model.onnx", *TRAINING)
        self.assertIn("no problems found", out)
        self.assertEqual(error, "")
        out, _ = self.accc("check", MLP / "model.onnx", *TRAINING, "--json")
        self.assertEqual(json.loads(out), {"ok": True, "problems": []})

    def test_problems_as_json(self):
        out, error = self.accc(
            *("check", MLP / "model.onnx", "--loss", "cross_entropy", "--json"), code=DATA
        )
        found = json.loads(out)
        self.assertFalse(found["ok"])
        problem, unchecked = found["problems"]
        self.assertEqual(set(problem), {"severity", "fault", "node", "op", "message"})
        self.assertEqual((problem["severity"], unchecked["severity"]), ("error", "warning"))
        self.assertIn("-D batch=", problem["message"])
        self.assertEqual(error, "".join(f"accc: {x['severity']}: {x['message']}\n" for x in found["problems"]))

    def test_a_loss_that_does_not_fit(self):
        _, error = self.accc("check", MLP / "model.onnx", "-D", "batch=64", "--loss", "mse=scores",
                             code=USAGE)  # fmt: skip
        self.assertIn("'scores'", error)
        self.assertIn("'logits'", error)

    def test_a_name_that_accc_gives_itself(self):
        path = self.folder / "names.mlir"
        path.write_text(SMALL.replace('"w"', '"optimizer.step"'))
        training = ["--loss", "mse", "--optimizer", "adam"]
        _, error = self.accc("check", path, *training, code=DATA)
        self.assertRegex(error, "parameter 'optimizer.step' has the name .* state of the optimizer: rename")
        self.accc("check", path, "--loss", "mse")  # no optimizer, no such state

    def test_one_problem_does_not_hide_another(self):
        # An unknown loss and a bad number, an unknown op, an open dimension and a parameter's name.
        model = (MLP / "model.onnx").read_bytes()
        (self.folder / "bad.onnx").write_bytes(model.replace(b"Relu", b"Rela"))
        arguments = ["--loss", "cross_entropi", "--optimizer", "sgd,momentum=x", "--freeze", "(", "-D", "batsch=3"]
        out, error = self.accc("check", "bad.onnx", *arguments, "--json", code=USAGE)
        messages = "\n".join(problem["message"] for problem in json.loads(out)["problems"])
        for part in (
            "did you mean 'cross_entropy'?",
            "'momentum' needs a number",
            "--freeze (",
            "the operator is not supported",
            "fix them with -D batch=N",
            "did you mean 'batch'?",
        ):
            self.assertIn(part, error)
            self.assertIn(part, messages)

    def test_open_dimensions_hide_nothing_else(self):
        # At any batch: a loss of an output that is not there, a frozen parameter of no name.
        options = ["--loss", "cross_entropy=logit", "--freeze", "nothing"]
        _, error = self.accc("check", MLP / "model.onnx", *options, code=USAGE)
        for part in (
            "fix them with -D batch=N",
            "did you mean 'logits'?",
            "--freeze nothing: no parameter has such a name",
            "what depends on the sizes of open dimensions was not checked: give -D batch=N (",
            "with batch=32 and with batch=48)",
        ):
            self.assertEqual(error.count(part), 1, error)
        # Found at a size that was only tried, and not at another: it may be right at the user's.
        m = synthetic.Model()
        x = m.input("x", "batch", 4)
        m.output(m.node("Cast", m.node("MatMul", x, m.parameter("w", 4, 3)), to=99), "batch", 3)
        m.output(m.node("Reshape", x, m.integers([32, 4])), 32, 4)
        m.write(self.folder / "m.onnx")
        _, error = self.accc("check", "m.onnx", "--loss", "mse", code=DATA)
        self.assertIn("'cast_1' (Cast)", error)  # there is no such type at any size
        self.assertNotIn("Reshape", error)
        self.assertIn("loss and derivatives were not checked", error)
        _, error = self.accc("check", "m.onnx", "--loss", "mse", "-D", "batch=48", code=DATA)
        self.assertIn("Reshape", error)

    def test_a_size_of_no_dimension_hides_nothing_else(self):
        options = ["--loss", "cross_entropy", "--freeze", "nothing", "-D", "batch=4", "-D", "batsch=3"]
        _, error = self.accc("check", MLP / "model.onnx", *options, code=USAGE)
        self.assertIn("did you mean 'batch'?", error)
        self.assertIn("--freeze nothing: no parameter has such a name", error)
        self.assertNotIn("was not checked", error)

    def test_an_import_that_fails_does_not_hide_a_wrong_output(self):
        (self.folder / "bad.onnx").write_bytes((MLP / "model.onnx").read_bytes().replace(b"Relu", b"Rela"))
        _, error = self.accc("check", "bad.onnx", "-D", "batch=4", "--loss", "mse=logit", code=USAGE)
        self.assertIn("the operator is not supported", error)
        self.assertIn("did you mean 'logits'?", error)

    def test_it_takes_the_options_of_compile(self):
        options = ["-o", "m.so", "--header", "m.h", "--report", "m.json", "--dump-dir", "d", "--weights", "beside"]
        self.accc("check", MLP / "model.onnx", *TRAINING, *options)
        self.assertEqual(self.files(), [])
        (self.folder / "m.onnx").write_bytes((MLP / "model.onnx").read_bytes())
        _, error = self.accc("check", "m.onnx", *TRAINING, "-o", "m.onnx", code=USAGE)
        self.assertIn("m.onnx", error)

    def test_nothing_is_written(self):
        self.accc("check", MLP / "model.onnx", *TRAINING)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
