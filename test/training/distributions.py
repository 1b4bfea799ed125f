#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program draws has the moments of its distributions: PyTorch's own numbers cannot be had.

    distributions.py ACCC FOLDER [OPTION...]

FOLDER holds distributions.pt2 and distributions.pt (distributions/make.py); options are those of `accc compile`.
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


def check(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def check_moments(numbers, mean, variance, what):
    """Within five standard deviations of what so many draws have; of the variance, for a kurtosis of at most 9."""
    count = len(numbers)
    found = sum(numbers) / count
    check(abs(found - mean) < 5 * math.sqrt(variance / count), f"{what}: the mean is {found}, not {mean}")
    spread = sum((x - mean) ** 2 for x in numbers) / count
    check(abs(spread - variance) < 5 * variance * math.sqrt(8 / count), f"{what}: the variance is {spread}, not {variance}")


def check_share(share, count, chance, what):
    check(abs(share / count - chance) < 5 * math.sqrt(chance * (1 - chance) / count) + 1e-9, f"{what}: {share} of {count}, not {chance}")


def check_weights(indices, what):
    """Of the weights 1, 0, 3 and 4."""
    for index, chance in enumerate((1 / 8, 0, 3 / 8, 4 / 8)):
        check_share(indices.count(index), len(indices), chance, f"{what}: index {index}")


def integers(tensor):
    return list(struct.unpack(f"<{len(tensor[2]) // 8}q", tensor[2]))


def check_draws(found):
    exponential, geometric = floats(found["exponential"]), floats(found["geometric"])
    check(min(exponential) > 0, "exponential numbers are positive")
    check_moments(exponential, 1 / 2, 1 / 4, "exponential")
    check(min(geometric) == 1 and all(x == int(x) for x in geometric), "geometric numbers count from 1")
    check_moments(geometric, 1 / 0.3, 0.7 / 0.09, "geometric")
    check_moments([math.log(x) for x in floats(found["log_normal"])], 0.2, 0.25, "log_normal")
    cauchy = floats(found["cauchy"])
    check_share(sum(x < 1 for x in cauchy), len(cauchy), 1 / 2, "cauchy: below the median")
    check_share(sum(0.5 < x < 1.5 for x in cauchy), len(cauchy), 1 / 2, "cauchy: within sigma")
    check_moments(floats(found["normal"]), 3, 1 / 4, "normal")
    check_weights(integers(found["replaced"]), "multinomial with replacement")
    chosen = integers(found["chosen"])
    check_weights(chosen[::2], "multinomial without replacement")
    check(all(a != b and b != 1 for a, b in zip(chosen[::2], chosen[1::2])), "multinomial without replacement: the second choice")
    permutation = integers(found["permutation"])
    check(sorted(permutation) == list(range(64)) and permutation != sorted(permutation), "a permutation")
    check_moments(floats(found["alpha_dropout"]), 0, 1, "alpha_dropout")
    slopes = floats(found["rrelu"])
    check(all(-1 / 3 <= x <= -1 / 8 for x in slopes), "rrelu: the slopes are outside of their bounds")
    check_moments(slopes, -11 / 48, (5 / 24) ** 2 / 12, "rrelu")
    check_weights(integers(found["gumbel"]), "gumbel_softmax")


def check_evaluation(found):
    """Nothing is dropped, and slopes are the mean of their bounds."""
    kept = floats(found["alpha_dropout"])
    check(len(set(kept)) > 0.99 * len(kept), "alpha_dropout drops in evaluation")
    check(all(abs(x + 11 / 48) < 1e-7 for x in floats(found["rrelu"])), "rrelu draws in evaluation")


with tempfile.TemporaryDirectory() as name:
    os.chdir(name)
    write_safetensors("inputs.safetensors", {"x": ("F32", [1], array.array("f", [0]).tobytes())})
    for model in ("distributions.pt2", "distributions.pt"):
        accc("compile", models / model, "-o", "model.so", "--loss", "output:loss", "--optimizer", "sgd", *options)
        for seed in ("1", "2"):
            accc("run", "model.so", "--entry", "grad_step", "--inputs", "inputs.safetensors", "--outputs", "outputs.safetensors", "--seed", seed)
            check_draws(read_safetensors("outputs.safetensors"))
        accc("run", "model.so", "--entry", "eval_step", "--inputs", "inputs.safetensors", "--outputs", "outputs.safetensors")
        check_evaluation(read_safetensors("outputs.safetensors"))
print("the moments are those of the distributions")
