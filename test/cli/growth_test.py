# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Four times the model is at most four and a half times the work, as the compile report counts it: seconds would
depend on the machine."""

import json
import pathlib
import sys
import unittest

from command_line import CommandLineTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import synthetic

TIMES, MOST = 4, 4.5


class Growth(CommandLineTest):
    def compile(self, model, optimizer="sgd"):
        model.write(self.folder / "m.onnx")
        self.accc(
            *("compile", "m.onnx", "-o", "m.so", "--loss", "mse", "--optimizer", optimizer),
            *("--report", "m.json"),
        )
        return json.loads((self.folder / "m.json").read_text())["compile"]

    def check(self, build, small, optimizer="sgd"):
        """The counters of a model of `small` parts, after comparing them with those of a larger one."""
        few, many = (self.compile(build(size), optimizer)["work"] for size in (small, TIMES * small))
        self.assertEqual(list(few), list(many))
        for name, count in few.items():
            with self.subTest(counter=name):
                # Equal kernels are generated once, so that some work does not grow at all.
                self.assertLessEqual(many[name], MOST * max(count, 100))
        return few

    def test_blocks(self):
        few = self.check(synthetic.blocks, 8, "adamw")
        for name, count in few.items():
            self.assertGreater(count, 0, name)

    def test_a_chain_of_ops(self):
        self.check(synthetic.chain, 150)

    def test_inputs_of_one_concatenation(self):
        self.check(synthetic.concat, 40)

    def test_parameters(self):
        self.check(synthetic.parameters, 200)

    def test_steps_of_a_recurrent_cell(self):
        self.check(synthetic.lstm, 12)

    def test_the_report_tells_phases_and_their_parts(self):
        report = self.compile(synthetic.blocks(1))
        names = [phase["name"] for phase in report["phases"]]
        self.assertEqual(names, "import trainable decompose simplify layout fuse schedule merge generate".split())
        parts = {part["name"]: part for part in report["phases"][-1]["parts"]}
        for part in ("emit-kernels", "lower-kernels", "add-entries", "emit-objects", "link", "verify"):
            self.assertGreaterEqual(parts[part]["seconds"], 0)
            self.assertGreaterEqual(parts[part]["cpu_seconds"], 0)
        peaks = [phase["peak_memory_bytes"] for phase in report["phases"]] + [report["peak_memory_bytes"]]
        self.assertGreater(peaks[0], 1 << 20)
        self.assertEqual(peaks, sorted(peaks))
        total = sum(phase["seconds"] for phase in report["phases"])
        self.assertAlmostEqual(report["seconds"], total, places=6)
        self.assertGreater(total, 0)


if __name__ == "__main__":
    unittest.main()
