# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc diff and goldens with gradients and updates far below its tolerance: these are held to their own size."""

import json
import shutil
import struct
import unittest

from command_line import DATA, DONE, GOLDENS, CommandLineTest, floats, read_safetensors, write_safetensors

CNN = GOLDENS / "digits_cnn"  # PyTorch's; conv1.bias stands before a batch normalisation


def shifted(entry, error, elements=None):
    kind, shape, _ = entry
    values = floats(entry)
    moved = [value + error if elements is None or i < elements else value for i, value in enumerate(values)]
    return kind, shape, struct.pack(f"<{len(moved)}f", *moved)


class SmallValues(CommandLineTest):
    def numbers(self, *arguments, code=DONE):
        report = json.loads(self.accc("diff", *arguments, "--only", "numbers", "--json", code=code)[0])
        (section,) = report["sections"]
        return {t["name"] for t in section["tensors"] if not t["passed"]}, section["notes"]

    def plant(self, folder, name, change):
        """An error of accc is one against both of PyTorch's runs."""
        for file in ("golden.safetensors", "golden64.safetensors"):
            if (self.folder / folder / file).exists():
                tensors = read_safetensors(self.folder / folder / file)
                tensors[name] = change(tensors[name])
                write_safetensors(self.folder / folder / file, tensors)

    def edit(self, folder, change):
        path = self.folder / folder / "meta.json"
        meta = json.loads(path.read_text())
        change(meta)
        path.write_text(json.dumps(meta))

    def test_a_golden_of_pytorch(self):
        shutil.copytree(CNN, self.folder / "g")
        self.accc("compile", CNN / "model.onnx", "-o", "m.so", "--loss", "cross_entropy", "--optimizer", "sgd,momentum=0.9",
                  "-D", "batch=64")  # fmt: skip
        self.assertEqual(self.numbers("m.so", "g"), (set(), []))
        for elements in (None, 1):
            self.plant("g", "grad.conv1.bias", lambda entry, n=elements: shifted(entry, 1e-5, n))
            self.assertEqual(self.numbers("m.so", "g", code=DATA)[0], {"grad.conv1.bias"})
            shutil.copytree(CNN, self.folder / "g", dirs_exist_ok=True)
        # One that an older version wrote is read, too, and says what it cannot tell.
        self.plant("g", "grad.conv1.bias", lambda entry: shifted(entry, 1e-5))
        self.edit("g", lambda meta: [meta.pop(name) for name in ("noise", "updates")])
        failed, (note,) = self.numbers("m.so", "g")
        self.assertIn("gradients and updates below the tolerance are not held to their own size", note)

    def test_a_bisection(self):
        shutil.copytree(CNN, self.folder / "g")
        self.plant("g", "grad.conv1.bias", lambda entry: shifted(entry, 2e-6))
        report = json.loads(self.accc("diff", CNN / "model.onnx", "g", "--bisect", "--json", code=DATA)[0])
        self.assertIn("grad.conv1.bias", json.dumps(report["sections"]))

    def test_an_update_that_is_missing(self):
        """Of a learning rate at which no parameter leaves the tolerance."""
        library = self.library()
        self.accc("golden", library, "-o", "g", "--lr", "1e-6")
        self.assertEqual(self.numbers(library, "g"), (set(), []))
        before = read_safetensors(self.folder / "g" / "initial.safetensors")
        self.plant("g", "param.1.weight", lambda entry: before["1.weight"])
        self.assertEqual(self.numbers(library, "g", code=DATA)[0], {"param.1.weight"})
        self.edit("g", lambda meta: meta.pop("updates"))
        failed, (note,) = self.numbers(library, "g")
        self.assertTrue(note.startswith("updates are not held to their own size"), note)

    def test_an_update_of_another_library(self):
        for name, rate in (("a.so", "1e-5"), ("b.so", "1.05e-5")):
            self.accc("compile", GOLDENS / "digits_mlp" / "model.onnx", "-o", name, "--loss", "cross_entropy",
                      "--optimizer", f"adam,lr={rate}", "-D", "batch=64")  # fmt: skip
        failed, _ = self.numbers("a.so", "b.so", code=DATA)
        self.assertIn("1.weight", failed)
        self.assertIn("apply_step 1.weight", failed)


if __name__ == "__main__":
    unittest.main()
