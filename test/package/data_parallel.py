#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two processes with half of each batch train as one with the whole.

    data_parallel.py ACCC PROGRAM MPIRUN GOLDENS SCRATCH

PROGRAM is examples/data-parallel, GOLDENS a folder with a model without dropout for its data.
"""

import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from command_line import MPI_HERE, read_safetensors  # noqa: E402

ACCC, PROGRAM, MPIRUN, GOLDENS, SCRATCH = map(pathlib.Path, sys.argv[1:])
ROUNDING = 1e-5  # ten times what the order of 64 summands makes of the weights in three epochs


def train(processes, *arguments, code=0):
    """What it prints, errors included."""
    command = [MPIRUN, "-n", str(processes), PROGRAM, *arguments]
    done = subprocess.run(command, env=os.environ | MPI_HERE, cwd=SCRATCH, capture_output=True, text=True, timeout=300)
    output = done.stdout + done.stderr
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))} ends with {done.returncode}, not {code}:\n{output}")
    return output


def weights(path):
    return {name: struct.unpack(f"<{len(data) // 4}f", data) for name, (_, _, data) in read_safetensors(path).items()}


def distance(a, b):
    return math.dist(a, b) / math.hypot(*b)


losses = re.findall(r"loss (\S+)", train(2))
if len(losses) != 20 or not float(losses[-1]) < 0.1:
    sys.exit(f"two processes do not learn the digits: {losses}")

meta = json.loads((GOLDENS / "meta.json").read_text())
library = SCRATCH / "mlp.so"
subprocess.run([ACCC, "compile", GOLDENS / "model.onnx", "-o", library, "--loss", meta["loss"], "--optimizer", "adamw",
                "-D", "batch=16,32,64", "--data-parallel"], check=True, timeout=300)  # fmt: skip
for processes in (1, 2, 4):
    train(processes, library, "3", f"{processes}.safetensors")
whole = weights(SCRATCH / "1.safetensors")
for processes in (2, 4):
    for name, values in weights(SCRATCH / f"{processes}.safetensors").items():
        if not distance(values, whole[name]) < ROUNDING:
            sys.exit(f"{processes} processes: {name} is {distance(values, whole[name]):.2e} from that of one process")
message = train(3, library, code=2)
if "no equal shares for 3 processes" not in message:
    sys.exit(f"three processes: {message}")
