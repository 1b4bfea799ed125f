#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model with --accumulate-gradients, and trains it (accumulated.cpp).

    accumulated.py ACCC ACCUMULATED MODEL [OPTION of accc compile...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc, compile_options

model = pathlib.Path(sys.argv[3])
meta = json.loads((model.parent / "meta.json").read_text())
with tempfile.TemporaryDirectory() as name:
    library = pathlib.Path(name) / "model.so"
    accc("compile", model, *compile_options(meta, model.name), *sys.argv[4:], "--accumulate-gradients", "-o", library)
    program = [sys.argv[2], library, model.parent / "inputs.safetensors", str(meta["lr"])]
    sys.exit(subprocess.run(program, timeout=SECONDS).returncode)
