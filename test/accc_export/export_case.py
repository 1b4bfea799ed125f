# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of accc_export share. Importing it lets a test import accc_export."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import accc_export  # noqa: E402

ACCC = ROOT / "build" / "bin" / "accc"


class ExportCase(unittest.TestCase):
    """Each test has an empty folder of its own, `self.folder`, and the same random numbers in every run."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        torch.manual_seed(0)

    def refusal(self, pattern):
        """A context in which accc_export must raise an error whose message matches."""
        return self.assertRaisesRegex(accc_export.ExportError, pattern)

    def compare(self, golden, model="model.*"):
        """What accc makes of a model in the folder of a golden is what PyTorch makes of it. Nothing where accc is not built."""
        if ACCC.exists():
            (path,) = golden.glob(model)
            self._diff(path, golden)

    def compare_library(self, golden, exporter):
        """The same of a library, whose loss is the output `loss` of the model, or that of a joint graph."""
        if ACCC.exists():
            (model,) = golden.glob("model.*")
            library = self.folder / "m.so"
            loss = [] if exporter == "joint" else ["--loss", "output:loss"]
            subprocess.run([ACCC, "compile", model, *loss, "--optimizer", "sgd", "-o", library, "-q"], check=True, timeout=300)
            self._diff(library, golden)

    def _diff(self, found, golden):
        done = subprocess.run([ACCC, "diff", found, golden], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
