#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step that draws its noise itself trains, to the bit, as one that is given what it drew.

    drawn.py ACCC FOLDER [OPTION...]

FOLDER holds drawn.pt2 and given.pt2 (drawn/make.py); options are those of `accc compile`.
"""

import array
import math
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from command_line import floats, read_safetensors, write_safetensors  # noqa: E402
from train import accc  # noqa: E402

models, options = pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
STEPS = 16  # of the diffusion


def run(library, inputs, entry, *more):
    write_safetensors("inputs.safetensors", inputs)
    accc("run", library, "--entry", entry, "--inputs", "inputs.safetensors", "--outputs", "outputs.safetensors", *more)
    return read_safetensors("outputs.safetensors")


def check(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


with tempfile.TemporaryDirectory() as name:
    os.chdir(name)
    for model in ("drawn", "given"):
        accc("compile", models / f"{model}.pt2", "-o", f"{model}.so", "--loss", "output:loss", "--optimizer", "adam", *options)
    pixels = array.array("f", (math.sin(i) for i in range(8 * 2 * 4 * 4)))
    images = {"images": ("F32", [8, 2, 4, 4], pixels.tobytes())}
    noises, times = [], []
    for seed in range(8):
        for entry in ("grad_step", "train_step"):
            drawn = run("drawn.so", images, entry, "--seed", str(seed), "--save-params", "drawn.safetensors")
            batch = images | {name: drawn[name] for name in ("times", "noise")}
            given = run("given.so", batch, entry, "--save-params", "given.safetensors")
            for name in given:
                check(given[name] == drawn[name], f"{entry}: {name}")
            check(read_safetensors("given.safetensors") == read_safetensors("drawn.safetensors"), f"{entry}: parameters")
        noises += floats(drawn["noise"])
        times += struct.unpack("<8q", drawn["times"][2])
    again = run("drawn.so", images, "train_step", "--seed", "7")
    check(again == drawn, "the same seed draws the same")
    steps = run("drawn.so", images, "train_step", "--seed", "7", "--steps", "2")
    check(steps["noise"] != drawn["noise"], "another step draws other noise")
    # Of n draws the mean is within 5 / sqrt(n), the variance within 5 sqrt(2 / n).
    count = len(noises)
    check(abs(sum(noises) / count) < 5 / math.sqrt(count), "the mean of noise is 0")
    check(abs(sum(x * x for x in noises) / count - 1) < 5 * math.sqrt(2 / count), "its variance is 1")
    check(set(times) <= set(range(STEPS)) and len(set(times)) > STEPS // 2, "times are those of the diffusion")
print("drawn and given noise train the same")
