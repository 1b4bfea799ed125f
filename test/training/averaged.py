#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model with averages of its weights and without, and trains both (averaged.cpp).

    averaged.py ACCC AVERAGED MODEL [OPTION of accc compile...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc, compile_options

DECAY = "0.75"

model = pathlib.Path(sys.argv[3])
meta = json.loads((model.parent / "meta.json").read_text())
options = [*compile_options(meta, model.name), *sys.argv[4:]]
with tempfile.TemporaryDirectory() as name:
    averaged, plain = pathlib.Path(name) / "averaged.so", pathlib.Path(name) / "plain.so"
    accc("compile", model, *options, "--average-weights", f"ema,decay={DECAY}", "-o", averaged)
    accc("compile", model, *options, "-o", plain)
    bound = "1e-5" if meta.get("precision", "fp32") == "fp32" else "2e-3"  # f16 is rounded by 5e-4
    program = [sys.argv[2], averaged, plain, model.parent / "inputs.safetensors", str(meta["lr"]), DECAY, bound]
    sys.exit(subprocess.run(program, timeout=SECONDS).returncode)
