# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps of the full-size models beside PyTorch and JAX: same model, batch, precision and machine.

Each contender is measured in turns with accc (accc, contender, accc, contender, ...), so that both see
the same clock, and memory holds two at most. A contender has a process of its own, which it
keeps from round to round (step_torch.py, step_jax.py).
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

CONTENDERS = (
    "eager",
    "jax",
    "compile",
    "eager-graph",
    "eager-channels-last",
    "compile-channels-last",
    "compile-reduce-overhead",
    "compile-max-autotune-no-cudagraphs",
    "compile-max-autotune",
)
PRECISIONS = ("fp32", "tf32")
ROUNDS, SECONDS = 3, 0.7


def weights_of(machine, folder):
    """Where the first PyTorch contender of a model writes its weights, from which accc starts too."""
    return machine.scratch / f"{folder.name}.params.safetensors"


class Worker:
    """A contender's process: answers each line on its input with a line of JSON."""

    def __init__(self, machine, folder, given, kind, precision):
        self.machine = machine
        script = machine.directory / "gpu" / ("step_jax.py" if kind == "jax" else "step_torch.py")
        command = [sys.executable, script, folder.name, kind, precision, given]
        command += [weights_of(machine, folder), folder / "meta.json"]
        self.errors = open(machine.scratch / "contender.errors", "w+")
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
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
    contenders = options.against or CONTENDERS
    if unknown := set(contenders) - set(CONTENDERS):
        raise Skip(f"no contender {', '.join(sorted(unknown))}; there are: {', '.join(CONTENDERS)}")
    if "jax" in contenders and importlib.util.find_spec("jax") is None:
        report.say("JAX is not installed: no rows of it")
        contenders = [kind for kind in contenders if kind != "jax"]
    rows, wrong = [], 0
    try:  # the quick ones first: what the time limit cuts off is what takes longest to compile
        for kind in contenders:
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


def bench(machine, folder, given, precision):
    library = folder / ("model_tf32.so" if precision == "tf32" else "model.so")
    command = ("bench", library, "--json", "--inputs", given, "--seconds", SECONDS)
    return json.loads(machine.runner(*command, "--params", weights_of(machine, folder))[1])


def measure(machine, folder, kind, precision):
    """A row, and whether it is one of a failure of accc. What others cannot do is a remark."""
    given = inputs.of(folder, machine.scratch)
    ready, ours, theirs = None, [], []
    try:
        if kind == "jax" and not weights_of(machine, folder).exists():
            with Worker(machine, folder, given, "eager", precision) as writer:
                writer.answer()
        with Worker(machine, folder, given, kind, precision) as worker:
            ready = worker.answer()
            for _ in range(ROUNDS):
                ours.append(bench(machine, folder, given, precision))
                theirs.append(worker.round(SECONDS)["median_ms"])
    except (Failed, BrokenPipeError) as reason:
        ours_failed = ready is not None and len(ours) == len(theirs)
        return (folder.name, kind, precision, *["-"] * 8, f"failed: {reason}"), ours_failed
    ratio = statistics.median(b / a["median_ms"] for a, b in zip(ours, theirs))
    first = ours[0]
    memory = (first["state_bytes"] + first["working_bytes"]) / 1e9
    milliseconds = statistics.median(x["median_ms"] for x in ours)
    return (
        folder.name, kind, precision, milliseconds, statistics.median(theirs), ratio,
        memory, ready["memory"] / 1e9, first.get("loss", "-"), ready["loss"], ready["first_step_s"], "",
    ), False  # fmt: skip
