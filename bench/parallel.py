#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times training in several processes, beside PyTorch's DistributedDataParallel.

    bench/parallel.py                                   # two processes of one thread each
    bench/parallel.py --models gpt2 --processes 4

Each process has the whole batch of examples/export as its share. `together` averages gradients beside the backward pass,
`serial` when the step comes to them, `alone` exchanges nothing; `ddp` and `torch alone` are PyTorch's, with gloo. All on one
machine, which exchanges through its memory. They take turns in rounds, and ratios are taken within a round: what the
exchange costs is together / alone. Prints a table.

Needs an MPI, accc built with it, and Python with torch and what examples/export/README.md installs.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import exports

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "cli"))
from command_line import MPI_HERE  # noqa: E402

HOW = ("together", "serial", "alone")


def main():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default=["resnet18", "gpt2"], type=lambda text: text.split(","), metavar="A,B")
    parser.add_argument("--config", choices=("small", "full"), default="full")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of steps a round, 5 at least")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options = parser.parse_args()
    environment = os.environ | MPI_HERE
    subprocess.run(["cmake", "--build", options.build, "--target", "parallel"], check=True, stdout=subprocess.DEVNULL)

    def run(*command):
        done = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return float(done.stdout)

    print("| model | " + " | ".join(f"accc {how}" for how in HOW) + " | ddp | torch alone | together / alone | ddp / torch alone | ddp / together |")
    print("| --- " * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "model.so"
        for name in options.models:
            export = exports.find_or_make(name, options.config, "float32", cache / "accc" / "bench" / options.config)
            subprocess.run([options.build / "bin" / "accc", "compile", export.model, "-o", library, *export.compile_options(),
                            "--arch", "native", "--data-parallel", "-q"], check=True)  # fmt: skip
            rounds = []
            for _ in range(options.rounds):
                times = {}
                for how in HOW:
                    program = [options.build / "bin" / "parallel", library, export.inputs, options.seconds, how]
                    times[how] = run("mpirun", "-n", options.processes, *program)
                for how in ("together", "alone"):
                    worker = pathlib.Path(__file__).with_name("worker_ddp.py")
                    times["torch " + how] = run(sys.executable, worker, name, options.config, options.processes, options.seconds, how)
                rounds.append(times)
            middle = [f"{statistics.median(times[key] for times in rounds):.1f}" for key in rounds[0]]
            ratios = [f"{statistics.median(times[a] / times[b] for times in rounds):.2f}"
                      for a, b in (("together", "alone"), ("torch together", "torch alone"), ("torch together", "together"))]  # fmt: skip
            print(f"| {name} | " + " | ".join(middle + ratios) + " |", flush=True)


main()
