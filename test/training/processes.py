#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a golden model with --data-parallel, and trains it in the processes of MPI jobs (processes.cpp).

    processes.py ACCC PROCESSES MPIRUN MODEL.onnx STANDIN [OPTION of accc compile...]

STANDIN is the folder of the libraries that stand in for NVIDIA's, empty where there are none: processes that train on
GPUs end with the weights of those that train on CPUs.
"""

import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from command_line import MPI_HERE, read_safetensors  # noqa: E402
from train import SECONDS, accc, compile_options  # noqa: E402

ROUNDING = 1e-4  # of f32 in some steps, on machines that sum in another order
model = pathlib.Path(sys.argv[4])
meta = json.loads((model.parent / "meta.json").read_text())
command = ["compile", model, *compile_options(meta, model.name), "--data-parallel", *sys.argv[6:]]


def weights(path):
    return {name: struct.unpack(f"<{len(data) // 4}f", data) for name, (kind, _, data) in read_safetensors(path).items()
            if kind == "F32"}  # fmt: skip


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    def train(library, processes, out, **environment):
        program = [sys.argv[3], "-n", str(processes), sys.argv[2], library, model.parent / "inputs.safetensors",
                   str(meta["lr"]), out]  # fmt: skip
        done = subprocess.run(program, timeout=SECONDS, env=os.environ | MPI_HERE | environment,
                              capture_output=True, text=True)  # fmt: skip
        if done.returncode:
            sys.exit(f"{processes} processes with {library.name} {environment}:\n{done.stdout}{done.stderr}")
        return weights(out)

    accc(*command, "-o", folder / "cpu.so")
    expected = train(folder / "cpu.so", 2, folder / "cpu.safetensors")
    train(folder / "cpu.so", 3, folder / "three.safetensors")
    if sys.argv[5]:
        accc(*command, "-o", folder / "gpu.so", "--target", "cuda", "--arch", "compute_80")
        for graphs in ("", "late"):  # in the order of the steps, and collectives as late as can be
            found = train(folder / "gpu.so", 2, folder / "gpu.safetensors", LD_LIBRARY_PATH=sys.argv[5],
                          STANDIN_GRAPHS=graphs)  # fmt: skip
            for tensor, values in expected.items():
                off = math.dist(found[tensor], values) / max(math.hypot(*values), 1e-30)
                if not off < ROUNDING:
                    sys.exit(f"{tensor} is {off:.2e} from that of processes on CPUs (STANDIN_GRAPHS={graphs})")
