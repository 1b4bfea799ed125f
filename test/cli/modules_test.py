# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles and reports name the modules of the model that each step computes a part of."""

import json
import unittest

from command_line import GOLDENS, CommandLineTest

EXPORTS = GOLDENS.parents[1] / "exports"


class Modules(CommandLineTest):
    def modules(self, model, *options):
        """The modules of the steps of train_step, by report and by profile, which agree."""
        training = ["--loss", "cross_entropy", "--optimizer", "adam", *options]
        self.accc("compile", model, "-o", "m.so", *training, "--report", "m.json")
        report = json.loads((self.folder / "m.json").read_text())
        self.assertEqual(next(iter(report)), "summary")
        reported = [step.get("module", "") for step in report["entries"][0]["steps"]]
        bench = ["bench", "m.so", "--steps", 1, "--warmup", 1, "--profile"]
        profile = json.loads(self.accc(*bench, "--json")[0])["profile"]
        self.assertEqual([step["module"] for step in profile], reported)
        self.assertIn("  in optimizer\n", self.accc(*bench)[0])
        return report, set(reported)

    def test_nodes_named_by_paths(self):
        report, modules = self.modules(GOLDENS / "digits_cnn" / "model.onnx", "-D", "batch=64")
        for module in ("conv1", "conv2", "conv2 (backward)", "fc1 (backward)", "optimizer"):
            self.assertIn(module, modules)
        self.assertTrue(any("loss" in module for module in modules), modules)
        summary = report["summary"]
        self.assertEqual(summary["model"], "model.onnx")
        self.assertEqual(summary["parameters"]["bytes"], 4 * summary["parameters"]["elements"])
        self.assertEqual([entry["name"] for entry in summary["entries"]], [e["name"] for e in report["entries"]])
        self.assertEqual(set(summary["phase_seconds"]), {phase["name"] for phase in report["compile"]["phases"]})

    def test_scopes_of_torch_export(self):
        _, modules = self.modules(EXPORTS / "transformer" / "dynamo_train.onnx")
        parts = [module for module in modules if "." in module]
        self.assertTrue(parts, modules)
        self.assertTrue(any(module.endswith(" (backward)") for module in parts), modules)


if __name__ == "__main__":
    unittest.main()
