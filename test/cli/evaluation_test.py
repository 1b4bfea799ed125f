# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms in evaluation: those without running statistics take the batch's, instance norms with some take these."""

import re
import unittest

from command_line import GOLDENS, CommandLineTest

FREQUENTED = GOLDENS.parent / "exported" / "frequented"


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


if __name__ == "__main__":
    unittest.main()
