# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import unittest

from command_line import DATA, MLP, SMALL, TRAINING, USAGE, CommandLineTest


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
        self.assertEqual(error, "")
        self.assertFalse(found["ok"])
        (problem,) = found["problems"]
        self.assertEqual(set(problem), {"severity", "fault", "node", "op", "message"})
        self.assertEqual(problem["severity"], "error")
        self.assertIn("-D batch=", problem["message"])

    def test_a_loss_that_does_not_fit(self):
        _, error = self.accc("check", MLP / "model.onnx", "-D", "batch=64", "--loss", "mse=scores",
                             code=DATA)  # fmt: skip
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
        self.assertEqual(error, "")
        messages = "\n".join(problem["message"] for problem in json.loads(out)["problems"])
        for part in (
            "did you mean 'cross_entropy'?",
            "'momentum' needs a number",
            "--freeze (",
            "the operator is not supported",
            "fix them with -D batch=N",
            "did you mean 'batch'?",
        ):
            self.assertIn(part, messages)

    def test_an_import_that_fails_does_not_hide_a_wrong_output(self):
        (self.folder / "bad.onnx").write_bytes((MLP / "model.onnx").read_bytes().replace(b"Relu", b"Rela"))
        _, error = self.accc("check", "bad.onnx", "-D", "batch=4", "--loss", "mse=logit", code=DATA)
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
