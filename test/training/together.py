#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model with --data-parallel, and trains it in groups of threads (together.cpp).

    together.py ACCC TOGETHER MODEL.onnx [OPTION of accc compile with --data-parallel...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc, compile_options

model = pathlib.Path(sys.argv[3])
meta = json.loads((model.parent / "meta.json").read_text())
options = compile_options(meta, model.name)
more = ["--accumulate-gradients"]
parallel = ["--data-parallel", *sys.argv[4:]]
command = ["compile", model, *options, *more]
others = [*options]
others[others.index("--optimizer") + 1] = "adagrad"
others += ["--arch", "x86-64-v3,haswell"]
if model.parent.name == "gpt2":  # of which libraries make updates
    others += ["--param-group", r"c_fc\.weight$", "muon"]
with tempfile.TemporaryDirectory() as name:
    library, plain, other = (pathlib.Path(name) / file for file in ("library.so", "plain.so", "other.so"))
    accc(*command, "-o", library, *parallel)
    accc(*command, "-o", plain)
    accc("compile", model, *others, *more, "-o", other, *parallel)
    inputs = model.parent / "inputs.safetensors"
    program = [sys.argv[2], library, plain, other, inputs, str(meta["lr"])]
    sys.exit(subprocess.run(program, timeout=SECONDS).returncode)
