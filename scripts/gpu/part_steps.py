# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps of the full-size models beside PyTorch: same model, batch and machine.

Each contender is measured in turns with accc (accc, contender, accc, contender, ...), so that both see
the same clock, and memory holds two at most. A PyTorch contender has a process of its own, which it
keeps from round to round (step_torch.py).
"""

import importlib.util
import json
import os
import select
import signal
import statistics
import subprocess
import sys

import inputs
from machine import Failed, OutOfTime, Skip, folders

TORCH = (
    "eager",
    "compile",
    "eager-graph",
    "eager-channels-last",
    "compile-channels-last",
    "compile-max-autotune-no-cudagraphs",
    "compile-max-autotune",
)
PRECISIONS = ("fp32", "tf32")
ROUNDS, SECONDS = 3, 0.7


def weights_of(machine, folder):
    """Where the first PyTorch contender of a model writes its weights, from which accc starts too."""
    return machine.scratch / f"{folder.name}.params.safetensors"


class Worker:
    """step_torch.py: answers each line on its input with a line of JSON."""

    def __init__(self, machine, folder, given, kind, precision):
        self.machine = machine
        script = machine.directory / "gpu" / "step_torch.py"
        command = [sys.executable, script, folder.name, kind, precision, given]
        command.append(weights_of(machine, folder))
        self.errors = open(machine.scratch / "step_torch.errors", "w+")
        self.process = subprocess.Popen(
            list(map(str, command)),
            env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(machine.scratch / "inductor")},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            text=True, start_new_session=True,
        )  # fmt: skip

    def answer(self):
        ready, _, _ = select.select([self.process.stdout], [], [], self.machine.left())
        if not ready:
            raise OutOfTime("cut short by the time limit")
        if line := self.process.stdout.readline():
            return json.loads(line)
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines() or ["no message"]
        raise Failed(said[-1][:200])

    def round(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        return self.answer()

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(timeout=60)
        self.errors.close()


def run(machine, report, options):
    models = folders(options.directory, "models", options.models)
    if importlib.util.find_spec("torch") is None:
        raise Skip("PyTorch is not installed")
    report.say("accc multiplies in fp32; the rows of TF32 are PyTorch's alone, beside accc's fp32")
    if importlib.util.find_spec("jax") is None:
        report.say("JAX is not installed")
    else:
        report.say("JAX is not compared: there is no JAX version of these models for a GPU yet")
    unknown = set(options.against or []) - set(TORCH)
    if unknown:
        raise Skip(f"no contender {', '.join(sorted(unknown))}; there are: {', '.join(TORCH)}")
    rows, wrong = [], 0
    try:  # the quick ones first: what the time limit cuts off is what takes longest to compile
        for kind in options.against or TORCH:
            for folder in models:
                if kind.endswith("channels-last") and not has_images(folder):
                    continue
                for precision in PRECISIONS:
                    row, bad = measure(machine, folder, kind, precision)
                    print(*row, flush=True)
                    rows.append(row)
                    wrong += bad
    finally:
        header = ("model", "against", "precision", "accc ms", "its ms", "ratio", "accc GB", "its GB")
        report.table((*header, "accc loss", "its loss", "first step s", "remark"), rows)
    return wrong


def has_images(folder):
    shapes = json.loads((folder / "meta.json").read_text()).get("random", {}).values()
    return any(len(shape) == 4 for shape in shapes)


def bench(machine, folder, given):
    command = ("bench", folder / "model.so", "--json", "--inputs", given, "--seconds", SECONDS)
    return json.loads(machine.runner(*command, "--params", weights_of(machine, folder))[1])


def measure(machine, folder, kind, precision):
    """A row, and whether it is one of a failure of accc. What PyTorch cannot do is a remark."""
    given = inputs.of(folder, machine.scratch)
    worker = Worker(machine, folder, given, kind, precision)
    ours, theirs = [], []
    try:
        try:
            ready = worker.answer()
            for _ in range(ROUNDS):
                ours.append(bench(machine, folder, given))
                theirs.append(worker.round(SECONDS)["median_ms"])
        except OutOfTime:
            raise
        except (Failed, BrokenPipeError) as reason:
            return (folder.name, kind, precision, *["-"] * 8, f"failed: {reason}"), len(ours) == len(theirs)
    finally:
        worker.stop()
    ratio = statistics.median(b / a["median_ms"] for a, b in zip(ours, theirs))
    first = ours[0]
    memory = (first["state_bytes"] + first["working_bytes"]) / 1e9
    milliseconds = statistics.median(x["median_ms"] for x in ours)
    return (
        folder.name, kind, precision, milliseconds, statistics.median(theirs), ratio,
        memory, ready["memory"] / 1e9, first.get("loss", "-"), ready["loss"], ready["first_step_s"], "",
    ), False  # fmt: skip
