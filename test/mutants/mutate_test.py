# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lists of mutants fit the sources, and scripts/mutate refuses those that do not."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

LIST = """
suites: unit.ir
file: lib/ir/prim/Unary.cpp
mutant: tanh
from: dy * (1.0 - y * y)
to: dy * (1.0 - y)
"""


class Lists(unittest.TestCase):
    def check(self, text=None):
        """(exit code, what it says) of `scripts/mutate --check`, of the lists there are or of one list."""
        command = [sys.executable, ROOT / "scripts" / "mutate", "--check"]
        with tempfile.TemporaryDirectory() as folder:
            if text is not None:
                (pathlib.Path(folder) / "area.list").write_text(text)
                command += ["--lists", folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def test_the_lists_fit_the_sources(self):
        code, said = self.check()
        self.assertEqual(code, 0, said)
        self.assertGreaterEqual(int(said.split()[0]), 150)

    def test_a_list(self):
        self.assertEqual(self.check(LIST), (0, "1 mutants fit the sources\n"))

    def test_what_does_not_fit_is_named(self):
        for old, new, message in (
            ("1.0 - y * y", "2.0 - y * y", "area/tanh: occurs nowhere in lib/ir/prim/Unary.cpp"),
            ("dy * (1.0 - y * y)", "Tensor dy", "times in lib/ir/prim/Unary.cpp, expected once"),
            ("from: dy * (1.0 - y * y)", "from: [](Tensor dy, Tensor, Tensor y) { return dy * (1.0 - y * y); });", "is the end of a statement"),
            ("from: dy * (1.0 - y * y)", "from: {dy * (1.0 - y * y)}", "neither an expression nor statements"),
            ("file: lib/ir/prim/Unary.cpp", "file: lib/ir/prim/None.cpp", "occurs nowhere in lib/ir/prim/None.cpp"),
            ("to: dy * (1.0 - y)\n", "", "lacks to"),
            ("to: dy * (1.0 - y)", "to: dy, y", "neither an expression nor statements"),
            ("dy * (1.0 - y * y)", "numerator = dy * (1.0 - y * y)", "neither an expression nor statements"),
            ("suites:", "suite:", "unknown key 'suite'"),
        ):
            code, said = self.check(LIST.replace(old, new))
            self.assertEqual(code, 2, said)
            self.assertIn(message, said)

    def test_names_are_given_once(self):
        mutant = LIST[LIST.index("mutant:") :]
        self.assertIn("2 mutants are called area/tanh", self.check(LIST + mutant)[1])

    def test_overlapping_mutants_are_refused(self):
        others = "mutant: a\nfrom: -0.5 * y * y\nto: y\nmutant: b\nfrom: y * y * y\nto: y\n"
        self.assertIn("mutants overlap: area/a, area/b", self.check(LIST + others)[1])


class Settings(unittest.TestCase):
    def test_lit_passes_them_on(self):
        """Otherwise no IR test would ever notice a mutant."""
        with tempfile.TemporaryDirectory() as folder:
            config = f"lit_config.load_config(config, {str(ROOT / 'test' / 'lit.cfg.py')!r})\n"
            (pathlib.Path(folder) / "lit.cfg.py").write_text(
                f"{config}config.test_source_root = config.test_exec_root = {folder!r}\n"
            )
            test = "// RUN: printenv ACCC_MUTANT | FileCheck %s\n// CHECK: a/b\n"
            (pathlib.Path(folder) / "setting.mlir").write_text(test)
            command = [sys.executable, os.environ["ACCC_LIT"], "-sv", folder]
            environment = {**os.environ, "ACCC_MUTANT": "a/b"}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
