#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains one export of a golden model as a user would, and holds it against what PyTorch gave.

    train.py ACCC MODEL.onnx APART [OPTION...]

compiles MODEL with the options of the meta.json beside it and those given, runs a grad_step and the train_steps
from the goldens' inputs, and compares the outputs, the loss, every gradient, and the parameters and
buffers after the last step (`accc diff`, PyTorch's own rule). A model with dropout has no goldens:
its losses over seeds must have the mean that PyTorch's have, the same seed must give the same bits,
another seed others. At last APART (apart.cpp) holds train_step against grad_step and apply_step, with
steps between whose data is at fault.
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

SEEDS = 16
SECONDS = 300  # a command that takes longer hangs
TF32_TOLERANCE = 0.03  # its factors have 11 bits, and ten steps add up what they lack


def accc(*arguments):
    """Runs the tool; its standard output. Ends the test if it fails."""
    command = [sys.argv[1]] + [str(argument) for argument in arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    if done.returncode:
        print(done.stdout, end="")
        sys.exit(f"failed with {done.returncode}: {' '.join(command)}")
    return done.stdout


def compile_options(meta, file):
    """The command line's options for what meta.json says of a model file."""
    options = ["--optimizer", meta["optimizer"]]
    (entry,) = (entry for entry in meta["files"] if entry["file"] == file)
    if loss := entry.get("loss", meta["loss"]):  # unless the file holds its own
        options += ["--loss", loss]
    if meta.get("precision", "fp32") != "fp32":
        options += ["--precision", meta["precision"]]
    if scale := meta.get("loss_scale"):
        options += ["--loss-scale", scale]
    for names, group in meta.get("param_groups", []):
        options += ["--param-group", names, group]
    if average := meta.get("average_weights"):
        options += ["--average-weights", average]
    for name, size in meta["dims"].items():
        options += ["-D", f"{name}={size}"]
    for name in entry.get("freeze", []):
        options += ["--freeze", f"^{re.escape(name)}$"]
    return options


def check_goldens(library, folder, meta, scratch):
    run = ["run", library, "--inputs", folder / "inputs.safetensors"]
    results, parameters = scratch / "out.safetensors", scratch / "params.safetensors"
    accc(*run, "--entry", "grad_step", "--outputs", results)
    accc(*run, "--entry", "train_step", "--lr", meta["lr"], "--steps", meta["steps"], "--save-params", parameters)
    tolerance = ["--tolerance", TF32_TOLERANCE] if "tf32" in sys.argv else []
    print(accc("diff", results, folder, "--params", parameters, "--failed", *tolerance), end="")


def check_dropout(library, folder, meta, scratch):
    losses, files = [], []

    def grad_step(seed):
        files.append(scratch / f"out{len(files)}.safetensors")
        inputs = folder / "inputs.safetensors"
        text = accc("run", library, "--entry", "grad_step", "--inputs", inputs, "--seed", seed, "--outputs", files[-1])
        losses.append(float(text.split("loss")[1]))
        return files[-1].read_bytes()

    first = grad_step(0)
    assert grad_step(0) == first, "the same seed gives other bits"
    losses.pop()
    for seed in range(1, SEEDS):
        assert grad_step(seed) != first, f"seeds 0 and {seed} give the same bits"
    print(accc("diff", files[0], folder, "--failed"), end="")

    mean, spread = sum(losses) / len(losses), meta["loss_std"]
    assert abs(mean - meta["loss_mean"]) <= 4 * spread / math.sqrt(len(losses)), f"mean loss {mean}"
    assert all(abs(loss - meta["loss_mean"]) <= 6 * spread for loss in losses), losses
    text = accc("run", library, "--inputs", folder / "inputs.safetensors", "--lr", meta["lr"],
                "--entry", "train_step", "--steps", meta["steps"])  # fmt: skip
    assert len(re.findall(r"^step \d+ loss ", text, re.MULTILINE)) == meta["steps"], text


def main():
    model = pathlib.Path(sys.argv[2])
    meta = json.loads((model.parent / "meta.json").read_text())
    with tempfile.TemporaryDirectory(prefix="accc-train-") as folder:
        scratch = pathlib.Path(folder)
        library = scratch / "model.so"
        accc("compile", model, "-o", library, *compile_options(meta, model.name), *sys.argv[4:])
        check = check_dropout if meta["dropout"] else check_goldens
        check(library, model.parent, meta, scratch)
        apart = [sys.argv[3], library, model.parent / "inputs.safetensors", str(meta["lr"])]
        sys.exit(subprocess.run(apart, timeout=SECONDS).returncode)


if __name__ == "__main__":
    main()
