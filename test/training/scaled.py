#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model with a loss scale and without, and trains both (scaled.cpp).

    scaled.py ACCC SCALED MODEL.onnx [OPTION of accc compile...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc, compile_options

model = pathlib.Path(sys.argv[3])
meta = json.loads((model.parent / "meta.json").read_text())
command = ["compile", model, *compile_options(meta, model.name), *sys.argv[4:]]
with tempfile.TemporaryDirectory() as name:
    scaled, plain = pathlib.Path(name) / "scaled.so", pathlib.Path(name) / "plain.so"
    accc(*command, "-o", scaled, "--loss-scale", "dynamic,init_scale=1024,growth_interval=2")
    accc(*command, "-o", plain)
    inputs = model.parent / "inputs.safetensors"
    sys.exit(subprocess.run([sys.argv[2], scaled, plain, inputs, str(meta["lr"])], timeout=SECONDS).returncode)
