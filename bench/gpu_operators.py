#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds kernels that would leave most of a GPU idle, without a GPU.

    bench/gpu_operators.py                       # all of operator_cases.py and derivative_cases.py, some 10 minutes
    bench/gpu_operators.py 'sort|topk' --most 40
    bench/gpu_operators.py scan --accc OLD       # with another build of accc

Each case of operators.py is compiled for a GPU, and the PTX interpreter counts what its kernels execute and
move (accc inspect --kernels). A kernel's time is estimated as the longest of four: what it moves at the
memory's bandwidth; the same at the bandwidth of the multiprocessors that have a block; its instructions at the
rate of these; the instructions of an average warp one after the other. The table has the kernels whose estimates
exceed most what their least bytes take, the worst first. It is there to find cliffs, as times are of operators.py,
and says nothing about a factor of two: caches are unknown to it, and warps that have more to do than others.

Needs Python with torch and safetensors.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
import warnings

from operators import ROOT, export, is_joint, run_accc

# An H100: bytes a second of its memory and of one multiprocessor, multiprocessors, warp instructions a
# second of one, clock, cycles from one instruction of a warp to the next that needs it, start of a kernel.
MEMORY, ONE_MEMORY = 3.0e12, 60e9
MULTIPROCESSORS, ISSUES, CLOCK, LATENCY, LAUNCH = 132, 4 * 1.6e9, 1.6e9, 6, 2e-6


def estimate(kernel):
    """Seconds that a launch takes, and that it would take if it did nothing but move its least bytes."""
    busy = min(MULTIPROCESSORS, kernel["blocks"])
    warps = max(1, kernel["blocks"] * kernel["threads"] / 32)
    longest = max(
        kernel["moved_bytes"] / MEMORY,
        kernel["moved_bytes"] / (busy * ONE_MEMORY),
        kernel["instructions"] / (busy * ISSUES),
        kernel["instructions"] / warps * LATENCY / CLOCK,
    )
    return LAUNCH + longest, LAUNCH + kernel["least_bytes"] / MEMORY


def kernels_of(case, folder, program):
    """The kernels of a case's training step, as accc inspect describes them."""
    import torch

    torch.manual_seed(0)
    export(*case(), folder, is_joint(case))
    library = folder / "model.so"
    command = ["compile", folder / "model.pt2", "-o", library, "-q", "--target", "cuda"]
    command += ["--arch", "compute_80", "--weights", "none", "--optimizer", "sgd"]
    command += [] if is_joint(case) else ["--loss", "output:output_0"]
    run_accc(program, *command)
    return json.loads(run_accc(program, "inspect", library, "--kernels", "--json"))["kernels"]["train_step"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="regular expression of cases' names")
    parser.add_argument("--most", type=int, default=30, help="rows of the table")
    parser.add_argument("--accc", default=str(ROOT / "build" / "bin" / "accc"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import derivative_cases
    import operator_cases

    cases = operator_cases.CASES | derivative_cases.CASES
    rows, failures = [], 0
    for name in filter(re.compile(options.pattern).search, cases):
        with tempfile.TemporaryDirectory() as folder:
            try:
                kernels = kernels_of(cases[name], pathlib.Path(folder), options.accc)
            except Exception as error:
                failures += 1
                print(f"{name}: {error}", file=sys.stderr)
                continue
        for kernel in kernels:
            time, least = (each * kernel["launches"] * 1e6 for each in estimate(kernel))
            rows.append((time - least, name, kernel, time, least))
    rows.sort(key=lambda row: -row[0])
    print("| case | kernel | launches | blocks x threads | moved | estimate, us | least, us |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for _, name, kernel, time, least in rows[: options.most]:
        moved = kernel["moved_bytes"] / max(1, kernel["least_bytes"])
        shape = f"{kernel['blocks']} x {kernel['threads']}"
        print(f"| {name} | {kernel['label']} | {kernel['launches']} | {shape} | {moved:.2f}x | {time:.0f} | {least:.0f} |")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
