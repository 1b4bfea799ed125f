#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How compile time and memory grow with a model.

    bench/compile_time.py [CASE[=SIZE,...]...] [--accc PATH] [--phases]

Compiles models of synthetic.py at several sizes and prints CPU time (user and system, all threads, the linker
included), the peak of memory, and how many times those of the size before they are; with --phases the time of each
phase, and with --json all that the reports say. CPU time changes less than wall clock where a machine is shared.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import synthetic

ROOT = pathlib.Path(__file__).resolve().parents[1]
REGRESSION = ["--loss", "mse", "--optimizer", "sgd"]
CLASSIFICATION = ["--loss", "cross_entropy", "--optimizer", "sgd,momentum=0.9"]

# Name: default sizes, options of the compiler.
CASES = {
    "blocks": ([32, 128, 512], ["--loss", "mse", "--optimizer", "adamw"]),
    "chain": ([1250, 5000, 20000], REGRESSION),
    "concat": ([62, 250, 1000], REGRESSION),
    "parameters": ([312, 1250, 5000], REGRESSION),
    "lstm": ([62, 250, 1000], REGRESSION),
    "densenet": ([224], CLASSIFICATION),
    "hrnet": ([224], CLASSIFICATION),
}


def compile_model(accc, model, options, folder):
    """(CPU seconds, peak bytes, the report's `compile`), or the first line of the error."""
    command = [accc, "compile", model, "-o", folder / "model.so", "--report", folder / "report.json", *options]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        return ((folder / "log").read_text().splitlines() or ["ended by a signal"])[0]
    report = json.loads((folder / "report.json").read_text())
    return usage.ru_utime + usage.ru_stime, report["compile"]["peak_memory_bytes"], report["compile"]


def measure(name, sizes, options, arguments):
    before = None
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            getattr(synthetic, name)(size).write(folder / "model.onnx")
            result = compile_model(arguments.accc, folder / "model.onnx", options, folder)
        if isinstance(result, str):
            print(f"{name:12}{size:>8}  {result}")
            return
        seconds, memory, report = result
        line = f"{name:12}{size:>8}{seconds:>10.2f} s{memory / 1e6:>8.0f} MB"
        if before:
            line += f"   {seconds / before[0]:5.2f}x{memory / before[1]:6.2f}x   for {size / before[2]:.2f}x"
        print(line, flush=True)
        before = seconds, memory, size
        for phase in report["phases"] if arguments.phases else []:
            print(f"{'':12}  {phase['name']:12}{phase['cpu_seconds']:>8.2f} s")
        if arguments.json:
            print(json.dumps(report))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE[=SIZE,...]", help=", ".join(CASES) + "; by default all")
    parser.add_argument("--accc", default=ROOT / "build" / "bin" / "accc")
    parser.add_argument("--phases", action="store_true", help="prints the time of each phase")
    parser.add_argument("--json", action="store_true", help="prints what the compile reports say")
    arguments = parser.parse_args()
    for case in arguments.cases or CASES:
        name, _, given = case.partition("=")
        if name not in CASES:
            sys.exit(f"compile_time: there is no case {name}; there are {', '.join(CASES)}")
        sizes, options = CASES[name]
        measure(name, [int(size) for size in given.split(",")] if given else sizes, options, arguments)


if __name__ == "__main__":
    main()
