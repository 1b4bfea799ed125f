#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a generator and a discriminator into one library, and trains them in turn (rounds.cpp).

    rounds.py ACCC ROUNDS GOLDENS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from train import SECONDS, accc

goldens = pathlib.Path(sys.argv[3])
meta = json.loads((goldens / "meta.json").read_text())
options = [part for name in ("loss", "optimizer", "train") for text in meta[name] for part in (f"--{name}", text)]
with tempfile.TemporaryDirectory() as name:
    library = pathlib.Path(name) / "gan.so"
    accc("compile", goldens / "export.pt2", "-o", library, *options, "--average-weights", "g=ema,decay=0.9")
    sys.exit(subprocess.run([sys.argv[2], library, goldens], timeout=SECONDS).returncode)
