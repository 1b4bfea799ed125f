#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds train_step of a small net against its grad_step and apply_step (apart.cpp).

    nets.py ACCC APART MODEL BATCH.safetensors LOSS OPTIMIZER

The nets are ones for which a schedule once updated parameters before their last reader, or which once
rounded differently in the two, or that write into their parameters themselves.
"""

import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc

model = pathlib.Path(sys.argv[3])
with tempfile.TemporaryDirectory(prefix="accc-nets-") as folder:
    library = pathlib.Path(folder) / "model.so"
    accc("compile", model, "-o", library, "--loss", sys.argv[5], "--optimizer", sys.argv[6])
    apart = [sys.argv[2], library, sys.argv[4], "0.05"]
    sys.exit(subprocess.run(apart, timeout=SECONDS).returncode)
