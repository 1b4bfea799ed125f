# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms in evaluation: those without running statistics take the batch's, instance norms with some take these.

Derivatives that forward takes of batch norms and dropouts are those of evaluation, too.
"""

import re
import unittest

from command_line import GOLDENS, CommandLineTest, floats, read_safetensors

FREQUENTED = GOLDENS.parent / "exported" / "frequented"
EVALUATED = GOLDENS.parent / "evaluated"


class Evaluation(CommandLineTest):
    def test_norms(self):
        for model in ("export.pt2", "traced.pt"):
            with self.subTest(model):
                training = ["--loss", "output:loss", "--optimizer", "sgd"]
                out, _ = self.accc("compile", FREQUENTED / model, *training, "--stop-after", "trainable")
                parts = re.split(r"func\.func @(\w+)", out)
                functions = dict(zip(parts[1::2], parts[2::2]))
                self.assertIn("nn.by_mode", functions["train_step"])
                evaluated = functions["eval_step"]
                self.assertEqual(evaluated.count("nn.batch_norm_inference"), 1)  # the instance norm
                for absent in ("nn.by_mode", "nn.batch_norm_training", "nn.instance_norm"):
                    self.assertNotIn(absent, evaluated)

    def test_derivatives(self):
        library, outputs = self.folder / "model.so", self.folder / "outputs.safetensors"
        self.accc("compile", EVALUATED / "model.pt2", "-o", library, "--optimizer", "sgd", "--weights", "embed")
        self.accc("run", library, "--inputs", EVALUATED / "inputs.safetensors", "--entry", "eval_step", "--outputs", outputs)
        found, expected = read_safetensors(outputs), read_safetensors(EVALUATED / "outputs.safetensors")
        for name in ("loss", "slope"):
            numbers, wanted = floats(found[name]), floats(expected[name])
            self.assertTrue(all(abs(a - b) < 1e-6 for a, b in zip(numbers, wanted, strict=True)), (name, numbers, wanted))


if __name__ == "__main__":
    unittest.main()
