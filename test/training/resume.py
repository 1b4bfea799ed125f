#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model for GPU and CPU into one library, and trains it on either in turn.

    resume.py ACCC RESUME MODEL.onnx

With TF32 the GPU keeps filters channels last, the CPU does not: a checkpoint of one is that of the
other (resume.cpp), and the targets agree in all that they give (`accc diff --targets`).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, TF32_TOLERANCE, accc, compile_options

model = pathlib.Path(sys.argv[3])
meta = json.loads((model.parent / "meta.json").read_text())
with tempfile.TemporaryDirectory() as name:
    library = pathlib.Path(name) / "both.so"
    accc("compile", model, "-o", library, *compile_options(meta, model.name), "--target", "cuda,cpu",
         "--arch", "compute_80,x86-64-v3", "--precision", "tf32")  # fmt: skip
    inputs = model.parent / "inputs.safetensors"
    tolerance = ["--tolerance", TF32_TOLERANCE]
    print(accc("diff", library, "--targets", "--inputs", inputs, "--failed", *tolerance), end="")
    sys.exit(subprocess.run([sys.argv[2], library, inputs, name], timeout=SECONDS).returncode)
