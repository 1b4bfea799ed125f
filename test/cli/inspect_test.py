# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import unittest

from command_line import DATA, MLP, USAGE, CommandLineTest


class Inspect(CommandLineTest):
    def test_what_cannot_be_read(self):
        (self.folder / "bad.onnx").write_bytes(b"no model")
        out, error = self.accc("inspect", "bad.onnx", "--json", code=DATA)
        found = json.loads(out)
        self.assertFalse(found["ok"])
        self.assertIn(found["problems"][0]["message"], error)
        _, error = self.accc("inspect", MLP / "model.onnx", "--kernels", code=USAGE)
        self.assertIn("is no library: --kernels", error)

    def test_a_model(self):
        out, _ = self.accc("inspect", MLP / "model.onnx", "-D", "batch=64", "--json")
        found = json.loads(out)
        self.assertEqual([value["name"] for value in found["inputs"]], ["images"])
        self.assertEqual([value["name"] for value in found["outputs"]], ["logits"])
        # 64 -> 16 -> 16 -> 10 with biases
        self.assertEqual(found["parameters"], 64 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10)
        self.assertGreater(found["flops"], 2 * 64 * (64 * 16 + 16 * 16 + 16 * 10))
        self.assertIn("images", self.accc("inspect", MLP / "model.onnx", "-D", "batch=64")[0])

    def test_open_dimensions_are_taken_as_one(self):
        out, messages = self.accc("inspect", MLP / "model.onnx")
        self.assertIn("f32[1, 1, 8, 8]", out)
        self.assertIn("the open dimensions of the input 'images' are taken as 1; others with -D batch=N", messages)

    def test_a_model_with_the_options_of_its_training(self):
        """They say nothing of the model."""
        command = ["inspect", MLP / "model.onnx", "-D", "batch=64"]
        training = ["--loss", "cross_entropy", "--optimizer", "adam", "--train", "weight", "--param-group", "weight", "lr=0.1"]
        training += ["--average-weights", "ema", "--freeze", "1.weight", "--loss-only", "--accumulate-gradients", "--loss-scale", "dynamic"]
        training += ["--data-parallel", "--running-variance", "biased", "--accept-damaged-export", "--assume-dropout-training"]
        self.assertEqual(self.accc(*command, *training), self.accc(*command))

    def test_a_library(self):
        library = self.library()
        found = json.loads(self.accc("inspect", library, "--json")[0])
        self.assertEqual(
            [entry["name"] for entry in found["entries"]],
            ["train_step", "grad_step", "apply_step", "eval_step"],
        )
        names = {variable["name"]: variable["role"] for variable in found["variables"]}
        self.assertEqual(names["1.weight"], "parameter")
        self.assertEqual(names["optimizer.exp_avg.1.weight"], "optimizer_state")
        self.assertEqual(found["manifest"]["learning_rate"], 1e-3)
        self.assertNotIn(str(self.folder), json.dumps(found["manifest"]))
        self.assertIn("train_step", self.accc("inspect", library)[0])


if __name__ == "__main__":
    unittest.main()
