#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuDNN has a plan for every convolution of the golden models, in every precision: it says so without a device.

    models_test.py ACCC GPU_RUNNER GOLDENS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

MODELS = {"digits_cnn": 4, "resnet18": 30, "efficientnet_b0": 30, "swin_t": 2}  # with at least so many convolutions
SECONDS = 300  # for one command
MACHINE = 3  # the exit code where cuDNN is not here


def main():
    accc, runner, goldens = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as name:
        library = pathlib.Path(name) / "model.so"
        for model, least in MODELS.items():
            meta = json.loads((goldens / model / "meta.json").read_text())
            for precision in ("fp32", "tf32", "bf16"):
                options = ["--loss", meta["loss"], "--optimizer", meta["optimizer"], "--precision", precision, "-q"]
                options += [x for dim, size in meta["dims"].items() for x in ("-D", f"{dim}={size}")]
                target = ["--target", "cuda", "--arch", "compute_80"]
                subprocess.run([accc, "compile", goldens / model / "model.onnx", "-o", library, *options, *target], check=True, timeout=SECONDS)
                for device in ("a100", "h100"):
                    done = subprocess.run([runner, "plans", library, "--device", device], capture_output=True, text=True, timeout=SECONDS)
                    if done.returncode == MACHINE:
                        sys.exit(f"no cuDNN: {done.stderr}")
                    lines = [json.loads(line) for line in done.stdout.splitlines()]
                    if done.returncode or len(lines) < least:
                        sys.exit(f"{model}, {precision}, {device}: {len(lines)} convolutions\n{done.stdout}{done.stderr}")
                    print(f"{model}, {precision}, {device}: plans for {len(lines)} convolutions")


if __name__ == "__main__":
    main()
