# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import unittest

from command_line import DATA, MLP, SMALL, TRAINING, CommandLineTest


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

    def test_nothing_is_written(self):
        self.accc("check", MLP / "model.onnx", *TRAINING)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
