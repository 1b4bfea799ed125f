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
    scaled, large, plain = (pathlib.Path(name) / file for file in ("scaled.so", "large.so", "plain.so"))
    accc(*command, "-o", scaled, "--loss-scale", "dynamic,init_scale=1024,growth_interval=2")
    accc(*command, "-o", large, "--loss-scale", "dynamic,init_scale=1e37,growth_factor=16,growth_interval=1")
    accc(*command, "-o", plain)
    inputs = model.parent / "inputs.safetensors"
    program = [sys.argv[2], scaled, large, plain, inputs, str(meta["lr"])]
    sys.exit(subprocess.run(program, timeout=SECONDS).returncode)
