# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exported models that all contenders share: one file, one batch, one description."""

import dataclasses
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Export:
    directory: pathlib.Path
    meta: dict

    @property
    def model(self):
        return self.directory / self.meta["files"][0]["file"]

    @property
    def inputs(self):
        return self.directory / "inputs.safetensors"

    def compile_options(self):
        """What `accc compile` needs to make the training step that PyTorch makes of this model."""
        result = ["--loss", self.meta["loss"], "--optimizer", self.meta["optimizer"]]
        for dimension, size in self.meta["dims"].items():
            result += ["-D", f"{dimension}={size}"]
        if names := self.meta["files"][0].get("freeze"):
            result += ["--freeze", "^(" + "|".join(map(re.escape, names)) + ")$"]
        return result


def find_or_make(name, config, dtype, directory):
    """The export in `directory/name`, or the repository's own small one, or a new one; of another type than float32 a
    program of torch.export, as ONNX before opset 22 has no convolution in bfloat16."""
    folder = directory / (name if dtype == "float32" else f"{name}-{dtype}")
    stored = ROOT / "test" / "training" / "goldens" / name
    if not (folder / "meta.json").exists() and config == "small" and dtype == "float32" and stored.exists():
        folder = stored
    elif not (folder / "meta.json").exists():
        command = [sys.executable, ROOT / "examples" / "export" / "export.py", name]
        command += ["--config", config, "--no-goldens", "--out", folder]
        if dtype != "float32":
            command += ["--dtype", dtype, "--exporter", "torch.export"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Export(folder, json.loads((folder / "meta.json").read_text()))
