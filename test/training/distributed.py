#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes train as those of PyTorch's DistributedDataParallel did (distributed/make.py).

    distributed.py ACCC DISTRIBUTED FOLDER [OPTION of accc compile...]

FOLDER has the batches and what PyTorch has computed, and the model is beside it.
"""

import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from command_line import floats, read_safetensors  # noqa: E402
from train import SECONDS, accc  # noqa: E402

ROUNDING = 5e-6  # ||a - b|| / ||b||, ten times what other orders of sums make of 5 steps in f32
STEPS, RATE = "5", "0.1"
folder = pathlib.Path(sys.argv[3])

with tempfile.TemporaryDirectory() as name:
    library, found = (pathlib.Path(name) / file for file in ("model.so", "found.safetensors"))
    batches = sorted(folder.glob("rank*.safetensors"))
    rows = {str(read_safetensors(batch)["target"][1][0]) for batch in batches}
    accc("compile", folder.parent / "model.pt2", "-o", library, "--loss", "cross_entropy", "-D", "images.0=" + ",".join(rows),
         "--optimizer", "sgd,momentum=0.9,clip_grad_norm=0.5", "--data-parallel", *sys.argv[4:])  # fmt: skip
    subprocess.run([sys.argv[2], library, STEPS, RATE, found, *batches], check=True, timeout=SECONDS)
    found, golden = read_safetensors(found), read_safetensors(folder / "golden.safetensors")
    if set(found) != set(golden):
        sys.exit(f"other tensors: {sorted(set(found) ^ set(golden))}")
    for tensor in golden:
        if golden[tensor][0] == "I64":  # the batches that batch norms have seen
            if found[tensor] != golden[tensor]:
                sys.exit(f"{tensor} is not that of DistributedDataParallel")
            continue
        values, expected = floats(found[tensor]), floats(golden[tensor])
        off = math.dist(values, expected) / math.hypot(*expected)
        print(f"{tensor:30} {off:.1e}")
        if not off < ROUNDING:
            sys.exit(f"{tensor} is not that of DistributedDataParallel")
