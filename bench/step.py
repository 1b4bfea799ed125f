#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the whole training step of accc side by side with PyTorch and JAX.

    bench/step.py                                          # all models in their real sizes
    bench/step.py --config small --models gpt2,lstm --rounds 2 --seconds 0.5
    bench/step.py --precision bf16 --models gpt2           # beside torch.autocast
    bench/step.py --dtype bfloat16 --models gpt2           # modules in bfloat16

A step is forward, loss, backward and optimizer on one random batch, in fp32 or mixed precision, with random initial
weights, the same for all. Each contender runs in processes of its own; they take turns in rounds
(A B C A B C), and ratios are taken within a round. docs/benchmarks.md says more. Writes
results.json, results.csv and results.md to --out, and the table to the terminal.

Needs Python with torch, jax and what examples/export/README.md installs.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import contenders
import exports
import report

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = "digits_mlp digits_cnn resnet18 efficientnet_b0 bert gpt2 swin_t llama15m lstm".split()
CONTENDERS = "accc eager eager-cl compile compile-cl jax".split()


def parse_arguments():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    listed = dict(type=lambda text: text.split(","), metavar="A,B")
    parser.add_argument("--models", default=MODELS, help="of " + ", ".join(MODELS), **listed)
    parser.add_argument(
        "--contenders", default=CONTENDERS, help="of " + ", ".join(CONTENDERS), **listed
    )
    parser.add_argument("--config", choices=("small", "full"), default="full")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32", help="of the modules")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="of steps a round, 5 at least")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--arch", default="native", help="accc's; the others look for themselves")
    parser.add_argument("--wait-policy", choices=("active", "passive"), help="of OpenMP's threads")
    parser.add_argument("--limit", type=float, default=900, help="seconds for compiling, one round")
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build" / "bin" / "accc")
    parser.add_argument("--exports", type=pathlib.Path, help="folder with a folder for each model")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("bench-results"))
    options = parser.parse_args()
    options.exports = options.exports or cache / "accc" / "bench" / options.config
    if unknown := set(options.contenders) - set(CONTENDERS):
        parser.error(f"unknown contender {', '.join(sorted(unknown))}")
    if not options.accc.exists():
        parser.error(f"{options.accc} is not built")
    return options


class Probe:
    """The machine's speed at the moment, or nothing where there is no C++ compiler for it."""

    def __init__(self, threads):
        self.folder = tempfile.mkdtemp(prefix="accc-bench-")
        self.program = pathlib.Path(self.folder) / "probe"
        self.environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        compiler = os.environ.get("CXX", "c++")
        source = pathlib.Path(__file__).with_name("probe.cpp")
        command = [compiler, "-O3", "-march=native", "-fopenmp", source, "-o", self.program]
        subprocess.run(command, check=True)

    def measure(self):
        done = subprocess.run([self.program], env=self.environment, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def say(text):
    print(text, file=sys.stderr, flush=True)


def start_all(name, options, result):
    """Starts the contenders one after the other; those that fail leave their reason in `result`."""
    export = exports.find_or_make(name, options.config, options.dtype, options.exports)
    running = {}
    for kind in options.contenders:
        contender = contenders.make(kind, name, export, options)
        if contender is None:
            continue
        entry = result["contenders"][kind] = {"rounds": []}
        begin = time.perf_counter()
        try:
            contender.start()
            running[kind] = contender
            say(f"  {kind} ready after {time.perf_counter() - begin:.1f} s")
        except contenders.Failed as failure:
            entry["failed"] = str(failure)
            say(f"  {kind} FAILED: {failure}")
            contender.stop()
        entry.update(contender.report)
    return running


def measure(name, options, probe):
    """All rounds of one model."""
    say(f"{name}:")
    result = {"model": name, "config": options.config, "probes": [], "contenders": {}}
    running = {}
    try:
        running = start_all(name, options, result)
        for number in range(options.rounds):
            result["probes"].append(probe.measure())
            line = []
            for kind, contender in list(running.items()):
                entry = result["contenders"][kind]
                try:
                    figures = contender.round(options.seconds)
                except contenders.Failed as failure:
                    entry["failed"] = str(failure)
                    running.pop(kind).stop()
                    continue
                keys = ("steps", "median_ms", "p10_ms", "p90_ms")
                entry["rounds"].append({key: figures[key] for key in keys})
                line.append(f"{kind} {figures['median_ms']:.3f}")
            say(f"  round {number + 1}: " + ", ".join(line) + " ms")
    finally:
        for contender in running.values():
            contender.stop()
    return result


def main():
    options = parse_arguments()
    results = {"machine": report.machine(options.threads), "arguments": sys.argv[1:], "models": []}
    results["date"] = time.strftime("%Y-%m-%d")
    probe = Probe(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        for name in options.models:
            results["models"].append(measure(name, options, probe))
            report.write(results, options.out)  # what there is stays if the next one is cut short
    finally:
        probe.close()
    print((options.out / "results.md").read_text())
    sys.exit(1 if report.disagreements(results) else 0)


if __name__ == "__main__":
    main()
