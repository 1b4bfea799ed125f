#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model for its own batch and half of it into one library, and into one for each.

    sizes.py ACCC ALTERNATE MODEL.onnx

The library for both must give what PyTorch gave, and train batches of the two sizes in turn to the
bit as the libraries for one do (alternate.cpp).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc

model = pathlib.Path(sys.argv[3])
meta = json.loads((model.parent / "meta.json").read_text())
batch = meta["dims"]["batch"]
options = ["--loss", meta["loss"], "--optimizer", meta["optimizer"]]
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for library, sizes in (("both", f"{batch // 2},{batch}"), ("large", batch), ("small", batch // 2)):
        accc("compile", model, "-o", folder / f"{library}.so", *options, "-D", f"batch={sizes}")
    print(accc("diff", folder / "both.so", model.parent, "--failed"), end="")
    libraries = [folder / f"{library}.so" for library in ("both", "large", "small")]
    alternate = [sys.argv[2], *libraries, model.parent / "inputs.safetensors", folder]
    sys.exit(subprocess.run(alternate, timeout=SECONDS).returncode)
