#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model and uses it until what the process holds would show a leak.

    lifetimes.py ACCC LIFETIMES GOLDEN_DIR SCALE [OPTION...]

SCALE 1 is 20,000 steps, 500 loads and 10,000 steps that throw (lifetimes.cpp); the options are those of accc compile.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SECONDS = 1500

accc, lifetimes, golden, scale, *options = sys.argv[1:]
golden = pathlib.Path(golden)
meta = json.loads((golden / "meta.json").read_text())
for name, size in meta["dims"].items():
    options += ["-D", f"{name}={size}"]
with tempfile.TemporaryDirectory() as name:
    library = pathlib.Path(name) / "model.so"
    command = [accc, "compile", golden / "model.onnx", "-o", library, "--loss", meta["loss"], "--optimizer", meta["optimizer"]]
    subprocess.run([*command, *options], check=True, timeout=SECONDS)
    command = [lifetimes, library, golden / "inputs.safetensors", name, scale]
    sys.exit(subprocess.run(command, timeout=SECONDS).returncode)
