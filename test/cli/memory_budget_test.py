# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import re
import unittest

from command_line import GOLDENS, USAGE, CommandLineTest


# One head over 2048 positions: its weights are 17 MB, and so is each tensor on the way to them and to their gradients.
ATTENTION = """
func.func @forward(%x: tensor<2048x32xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                   %wq: tensor<32x32xf32> {accc.role = #prim.role<parameter>, accc.name = "q"},
                   %wk: tensor<32x32xf32> {accc.role = #prim.role<parameter>, accc.name = "k"})
    -> (tensor<2048x32xf32> {accc.role = #prim.role<output>, accc.name = "y"}) {
  %q = nn.matmul %x, %wq : (tensor<2048x32xf32>, tensor<32x32xf32>) -> tensor<2048x32xf32>
  %k = nn.matmul %x, %wk : (tensor<2048x32xf32>, tensor<32x32xf32>) -> tensor<2048x32xf32>
  %t = prim.transpose %k {permutation = array<i64: 1, 0>} : (tensor<2048x32xf32>) -> tensor<32x2048xf32>
  %s = nn.matmul %q, %t : (tensor<2048x32xf32>, tensor<32x2048xf32>) -> tensor<2048x2048xf32>
  %p = nn.softmax %s {dimension = 1 : i64} : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %y = nn.matmul %p, %k : (tensor<2048x2048xf32>, tensor<2048x32xf32>) -> tensor<2048x32xf32>
  return %y : tensor<2048x32xf32>
}
"""


class MemoryBudget(CommandLineTest):
    def model(self, name, *more):
        """Compiles a golden model; its report, and what was said."""
        meta = json.loads((GOLDENS / name / "meta.json").read_text())
        command = ["compile", GOLDENS / name / "model.onnx", "--loss", meta["loss"], "--optimizer", meta["optimizer"]]
        for dimension, size in meta["dims"].items():
            command += ["-D", f"{dimension}={size}"]
        output = "whole.so" if not more else "fitted.so"
        said = self.accc(*command, "-o", output, "-v", "--report", "report.json", *more)[1]
        return json.loads((self.folder / "report.json").read_text()), said

    @staticmethod
    def taken(report):
        """State and scratch memory of the entry point that takes most."""
        return report["state_bytes"] + max(entry["arena_bytes"] for entry in report["entries"])

    def test_a_step_fits_and_gives_the_same_bits(self):
        for name, share in (("bert_dropout", 0.75), ("swin_t", 0.8), ("gpt2", 0.95)):
            with self.subTest(name):
                budget = int(share * self.taken(self.model(name)[0]))
                report, said = self.model(name, "--memory-budget", f"{budget}")
                self.assertLess(self.taken(report), budget)
                self.assertRegex(said, r"note: train_step: \d+ values are computed again instead of kept")
                self.accc("diff", "whole.so", "fitted.so", "--only", "numbers", "--tolerance", "0")
                self.assertEqual(report["manifest"]["memory_budget"], budget)

    def test_large_tensors_are_computed_in_chunks(self):
        (self.folder / "attention.mlir").write_text(ATTENTION)
        command = ["compile", "attention.mlir", "--loss", "mse", "--optimizer", "sgd", "-v", "-o"]
        self.assertNotIn("chunks", self.accc(*command, "whole.so")[1])
        said = self.accc(*command, "fitted.so", "--memory-budget", "20MB")[1]
        self.assertRegex(said, r"note: train_step: 4 tensors between matrix products, of up to 16.78 MB, are computed in \d+ chunks")
        self.accc("diff", "whole.so", "fitted.so", "--only", "numbers")
        error = self.accc(*command, "least.so", "--memory-budget", "1kB", code=USAGE)[1]
        most = max(float(size) for size in re.findall(r"_step takes (\S+) MB with all", error))
        self.assertLess(most, 20)
        self.accc(*command, "least.so", "--memory-budget", f"{most}MB")

    def test_too_little(self):
        self.small()
        before = self.files()
        error = self.accc("compile", "small.mlir", "-o", "a.so", "--loss", "mse", "--memory-budget", "0.1kB", code=USAGE)[1]
        self.assertRegex(error, r"--memory-budget: \w+ takes .* of scratch\), and 100 B are given: give more")
        self.assertEqual(self.files(), before)

    def test_what_the_error_says_is_enough(self):
        model = GOLDENS / "digits_cnn" / "model.onnx"
        command = ["compile", model, "-D", "batch=3,8", "--loss", "cross_entropy", "--optimizer", "adam", "-o", "a.so"]
        error = self.accc(*command, "--memory-budget", "1kB", code=USAGE)[1]
        said = re.findall(r"error: with -D batch=(\d): --memory-budget: (\w+) takes (\S+) (\w+) with all", error)
        entries = {(size, entry) for size in "38" for entry in ("train_step", "grad_step", "apply_step", "eval_step")}
        self.assertLessEqual({(size, entry) for size, entry, _, _ in said}, entries)
        self.assertLessEqual(entries - {("8", "apply_step")}, {(size, entry) for size, entry, _, _ in said})
        units = {"kB": 1e3, "MB": 1e6}
        most = max(said, key=lambda found: float(found[2]) * units[found[3]])
        self.accc(*command, "--memory-budget", most[2] + most[3])


if __name__ == "__main__":
    unittest.main()
