# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import unittest

from command_line import DATA, DONE, GOLDENS, MLP, USAGE, CommandLineTest

ALIKE = ["--loss", "cross_entropy", "--optimizer", "adamw", "-D", "batch=8,16,32", "--data-parallel"]


class Ranks(CommandLineTest):
    """Several processes train one model: --data-parallel, and diff --simulate-ranks."""

    def compile(self, model, *options, code=DONE):
        return self.accc("compile", model, "-o", "m.so", *options, code=code)[1]

    def test_parts_of_a_batch_train_as_the_whole(self):
        self.compile(MLP / "model.onnx", *ALIKE)
        report = json.loads(self.accc("diff", "m.so", "--simulate-ranks", "2", "--json")[0])
        (section,) = report["sections"]
        self.assertEqual(section["verdict"], "pass")
        self.assertEqual(section["notes"], ["2 ranks at batch=8 against one at batch=16", "2 ranks at batch=16 against one at batch=32"])
        names = {tensor["name"] for tensor in section["tensors"]}
        for name in ("batch=8 losses", "batch=8 apply_step 1.weight", "batch=16 optimizer.exp_avg.1.weight"):
            self.assertIn(name, names)
        out, _ = self.accc("diff", "m.so", "--simulate-ranks", "4", "--steps", "1")
        self.assertIn("4 ranks at batch=8 against one at batch=32", out)

    def test_what_depends_on_other_rows_differs(self):
        # Each process drops elements of its own.
        self.compile(GOLDENS / "digits_cnn_dropout" / "model.onnx", *ALIKE)
        self.assertIn("FAILED", self.accc("diff", "m.so", "--simulate-ranks", "2", code=DATA)[0])

    def test_batch_norms_of_all_rows(self):
        model = GOLDENS / "digits_cnn" / "model.onnx"
        alike = ["--loss", "cross_entropy", "--optimizer", "sgd", "-D", "batch=8,16", "--data-parallel"]
        self.compile(model, *alike)
        self.assertIn("FAILED", self.accc("diff", "m.so", "--simulate-ranks", "2", code=DATA)[0])
        self.compile(model, *alike, "--sync-batch-norm")
        self.assertIn("pass", self.accc("diff", "m.so", "--simulate-ranks", "2")[0])
        self.assertIs(json.loads(self.accc("inspect", "m.so", "--json")[0])["manifest"]["sync_batch_norm"], True)

    def test_a_bias_that_rounding_decides_passes(self):
        # That of the convolution before a batch norm, of which Adam makes a whole step.
        options = ["--loss", "cross_entropy", "--optimizer", "adamw", "-D", "batch=8,16", "--data-parallel", "--sync-batch-norm"]
        self.compile(GOLDENS / "digits_cnn" / "model.onnx", *options)
        report = json.loads(self.accc("diff", "m.so", "--simulate-ranks", "2", "--json")[0])
        verdicts = {tensor["name"]: tensor["verdict"] for tensor in report["sections"][0]["tensors"]}
        self.assertEqual(verdicts["batch=8 apply_step conv1.bias"], "rounding")

    def test_a_library_says_that_it_exchanges(self):
        self.compile(MLP / "model.onnx", *ALIKE)
        out, _ = self.accc("inspect", "m.so")
        self.assertIn("train_step batch=8: ", out)
        entries = {entry["name"]: entry for entry in json.loads(self.accc("inspect", "m.so", "--json")[0])["entries"]}
        self.assertEqual([entries[name]["collectives"] for name in ("train_step", "grad_step", "apply_step", "eval_step")], [1, 1, 1, 0])
        self.assertTrue(json.loads(self.accc("inspect", "m.so", "--json")[0])["manifest"]["data_parallel"])

    def test_with_and_without_is_a_change_of_the_training(self):
        for name, more in (("a.so", []), ("b.so", ["--data-parallel"])):
            self.accc("compile", MLP / "model.onnx", "-o", name, *ALIKE[:-3], "-D", "batch=8", *more)
        out, _ = self.accc("diff", "a.so", "b.so", code=DATA)
        self.assertIn("data_parallel", out)
        self.assertIn("numbers    pass", out)

    def test_refusals(self):
        self.compile(MLP / "model.onnx", *ALIKE)
        wrong = (
            (["m.so", "--simulate-ranks", "3"], "needs a library for two sizes, of which one has 3 times the rows"),
            (["m.so", "--simulate-ranks", "1"], "--simulate-ranks"),
            (["m.so", "m.so", "--simulate-ranks", "2"], "--simulate-ranks"),
            ([MLP / "model.onnx", "--simulate-ranks", "2"], "is no library, which --simulate-ranks runs"),
        )
        for arguments, message in wrong:
            self.assertIn(message, self.accc("diff", *arguments, code=USAGE)[1])
        self.compile(MLP / "model.onnx", *ALIKE[:-1])
        error = self.accc("diff", "m.so", "--simulate-ranks", "2", code=USAGE)[1]
        self.assertIn("with which the library exchanges nothing: compile it with --data-parallel", error)
        error = self.compile(MLP / "model.onnx", "--data-parallel", "-D", "batch=8", code=USAGE)
        self.assertIn("--data-parallel needs a --loss", error)
        error = self.compile(MLP / "model.onnx", "--loss", "cross_entropy", "--data-parallel", "-D", "batch=8", code=USAGE)
        self.assertIn("--data-parallel: the processes average the gradients for an --optimizer, and there is none", error)
        error = self.compile(MLP / "model.onnx", *ALIKE, "--sync-batch-norm", code=USAGE)
        self.assertIn("--sync-batch-norm: the model has no batch norm that takes statistics of a batch", error)
        joint = GOLDENS.parent / "exported" / "activations" / "joint.pt2"
        error = self.compile(joint, "--optimizer", "sgd", "--data-parallel", "--sync-batch-norm", code=USAGE)
        self.assertIn("--sync-batch-norm: the model holds the gradients of its loss", error)
        error = self.compile(GOLDENS / "digits_cnn" / "model.onnx", *ALIKE[:-1], "--sync-batch-norm", code=USAGE)
        self.assertIn("--sync-batch-norm needs --data-parallel", error)


if __name__ == "__main__":
    unittest.main()
