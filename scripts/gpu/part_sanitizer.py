# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compute-sanitizer's tools over steps of the golden models, without a graph, kernel by kernel."""

import re
import shutil

from machine import OutOfTime, Skip, folders
from precisions import packed_in

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SMALLEST_FIRST = ("digits_mlp", "digits_cnn", "lstm", "gpt2", "bert", "llama15m", "swin_t")
FOUND = 99  # the exit code where a tool found something


def run(machine, report, options):
    places = "/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer"
    program = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=places)
    if not program:
        raise Skip("compute-sanitizer is not installed")
    order = {name: i for i, name in enumerate(SMALLEST_FIRST)}
    models = folders(options.directory, "goldens", options.models)
    models.sort(key=lambda folder: order.get(folder.name, len(order)))
    rows, wrong = [], 0
    try:
        for folder in models:
            row = [folder.name] + ["-"] * len(TOOLS)
            rows.append(row)
            for i, tool in enumerate(TOOLS):
                row[i + 1] = verdict(machine, program, tool, folder)
                wrong += row[i + 1] != "clean"
    except OutOfTime:
        report.say("cut short by the time limit: - was not run")
    finally:
        report.table(("model", *TOOLS), rows)
    return wrong


def verdict(machine, program, tool, folder):
    command = [program, "--tool", tool, "--error-exitcode", FOUND, "--print-limit", 5]
    library = next(iter(packed_in(folder).values()))
    command += [machine.directory / "bin" / "gpu_runner", "run", library, "--steps", 2]
    command += ["--inputs", folder / "inputs.safetensors"]
    code, output, errors = machine.run(command, check=False, ACCC_CUDA_GRAPH="0")
    if code == 0:
        return "clean"
    # What NVIDIA's own kernels do bears their names: the first line says where.
    lines = [line.strip("= ") for line in (output + errors).splitlines() if line.startswith("=====")]
    summary = next((line for line in lines if "SUMMARY" in line), f"exit {code}")
    first = [line for line in lines if re.search(r"Invalid|Race|Barrier|Uninitialized|at ", line)][:2]
    return "; ".join([summary, *first])[:300]
