#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/gpu-check --pack of two small models, and its parts on the stand-in for a device."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ["ACCC_BINARY_DIR"]
TESTS = "indices*"  # small kernels, some of which end with a data error
NAMES = (
    "indices of lanes that count for nothing are not checked",
    "indices just out of range are errors in the data",
)


def run(command, **environment):
    return subprocess.run(
        list(map(str, command)), env=os.environ | environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip


class GpuCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="accc-gpu-check-test-"))
        cls.packed = cls.pack()

    @classmethod
    def pack(cls):
        command = [sys.executable, ROOT / "scripts" / "gpu-check", "--pack", cls.folder]
        return run([*command, "--build", BUILD, "--models", "digits_mlp,lstm_mixed", "--samples", TESTS])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.assertEqual(self.packed.returncode, 0, self.packed.stdout)

    def check(self, *arguments, device=True):
        """The script of the pack, as on another machine."""
        command = [sys.executable, self.folder / "gpu-check", self.folder, *arguments]
        standin = {"LD_LIBRARY_PATH": os.environ["ACCC_STANDIN"]}
        return run(command, **(standin if device else {"CUDA_VISIBLE_DEVICES": ""}))

    def test_parts_that_need_only_a_device(self):
        done = self.check("--part", "kernels", "goldens", "profile", "--arch", "compute_80")
        self.assertEqual(done.returncode, 0, done.stdout)
        results = (self.folder / "results.md").read_text()
        self.assertRegex(results, r"\| digits_mlp +\| 15 of 15 +\| same bits +\| same bits ")
        self.assertRegex(results, r"\| lstm_mixed +\| 25 of 25 +\| same bits +\| same bits ")
        for name in NAMES:  # samples, kernels, same bits; none that are close or wrong
            self.assertRegex(results, rf"\| {name} +\| [1-9]\d* +\| \d+ +\| [1-9]\d* +\| 0 +\| 0 +\|")
        self.assertIn("profile: skipped: the pack has no models", done.stdout)

    def test_what_is_there_is_not_made_again(self):
        for folder in ("goldens/unfinished", "models/unfinished"):
            (self.folder / folder).mkdir()
        done = self.pack()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("goldens/digits_mlp: is there", done.stdout)
        self.assertIn("samples: is there", done.stdout)
        self.assertFalse(list(self.folder.glob("*/unfinished")))
        known = self.folder / "packed.json"
        known.write_text(known.read_text().replace('goldens/digits_mlp": "', 'goldens/digits_mlp": "0'))
        done = self.pack()
        self.assertNotIn("goldens/digits_mlp: is there", done.stdout)
        self.assertTrue((self.folder / "goldens" / "digits_mlp" / "model.so").exists())

    def test_other_bits_are_found(self):
        stored = sorted(self.folder.glob("samples/*/*.out.safetensors"))
        file = next(path for path in stored if not metadata(path).get("error"))
        good = file.read_bytes()
        try:
            file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
            done = self.check("--part", "kernels", "--arch", "compute_80")
        finally:
            file.write_bytes(good)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("kernels: 1 wrong", done.stdout)

    def test_without_a_device_everything_is_skipped(self):
        done = self.check("--part", "kernels", "goldens", device=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("This machine has no device that accc can use, so every part is skipped: ", done.stdout)
        self.assertRegex(done.stdout, r"NVIDIA's driver \(libcuda|an NVIDIA GPU, of which the driver sees none")
        self.assertIn("goldens: skipped: there is no device", done.stdout)


def metadata(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length]).get("__metadata__", {})


if __name__ == "__main__":
    unittest.main()
