# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps of the full-size models beside PyTorch and JAX: same model, batch, precision and machine.

A contender has a process of its own, which it keeps from round to round (step_torch.py, step_jax.py).
Some get ready side by side, for torch.compile takes minutes; measured is one at a time: in each round
accc and then each contender, so that all see the same clock.
"""

import contextlib
import dataclasses
import importlib.util
import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import inputs
from full_size import FULL_SIZE
from machine import Failed, OutOfTime, Skip, folders
from precisions import LIBRARIES

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
ROUNDS, SECONDS = 3, 0.6
MEMORY = 64e9
"""Bytes of the device for the contenders that are ready at the same time."""
JAX_SHARE = 2
"""What XLA takes of it, in relation to PyTorch: its measurements of kernels need memory, too."""


def weights_of(machine, folder):
    """Where the first PyTorch contender of a model writes its weights, from which accc starts too."""
    return machine.scratch / f"{folder.name}.params.safetensors"


@dataclasses.dataclass(frozen=True)
class Wanted:
    """One row: a model's folder, and who is to run it in which precision."""

    folder: pathlib.Path
    kind: str
    precision: str


class Worker:
    """A contender's process: answers each line on its input with a line of JSON."""

    def __init__(self, machine, which):
        self.machine = machine
        script = machine.directory / "gpu" / ("step_jax.py" if which.kind == "jax" else "step_torch.py")
        given = inputs.of(which.folder, machine.scratch)
        command = [sys.executable, script, which.folder.name, which.kind, which.precision, given]
        command += [weights_of(machine, which.folder), which.folder / "meta.json"]
        self.errors = tempfile.TemporaryFile("w+")
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
    precisions = options.precision or LIBRARIES
    if unknown := set(contenders) - set(CONTENDERS):
        raise Skip(f"no contender {', '.join(sorted(unknown))}; there are: {', '.join(CONTENDERS)}")
    if "jax" in contenders and importlib.util.find_spec("jax") is None:
        report.say("JAX is not installed: no rows of it")
        contenders = [kind for kind in contenders if kind != "jax"]
    wanted = [
        Wanted(folder, kind, precision)
        for folder in models
        for kind in contenders
        if has_images(folder) or not kind.endswith("channels-last")
        for precision in precisions
        if kind != "jax" or precision in ("fp32", "tf32")  # it has no mixed precision of its own
        if kind != "eager-graph" or precision != "fp16"  # GradScaler asks the host whether to skip a step
        if (folder / LIBRARIES[precision]).exists()
    ]
    rows, wrong = [], 0
    try:
        while wanted:
            count = fitting(wanted)
            for row, bad in measure(machine, wanted[:count]):
                print(*row, flush=True)
                rows.append(row)
                wrong += bad
            wanted = wanted[count:]
    finally:
        header = ("model", "against", "precision", "accc ms", "its ms", "ratio", "accc GB", "its GB")
        report.table((*header, "accc loss", "its loss", "first step s", "remark"), rows)
    return wrong


def has_images(folder):
    shapes = json.loads((folder / "meta.json").read_text()).get("random", {}).values()
    return any(len(shape) == 4 for shape in shapes)


def bench(machine, folder, precision):
    given = inputs.of(folder, machine.scratch)
    command = ("bench", folder / LIBRARIES[precision], "--json", "--inputs", given, "--seconds", SECONDS)
    return json.loads(machine.runner(*command, "--params", weights_of(machine, folder))[1])


def fitting(wanted):
    """How many of the first fit into the device's memory together."""
    total, count = 0, 0
    for each in wanted:
        total += FULL_SIZE[each.folder.name].memory * (JAX_SHARE if each.kind == "jax" else 1)
        if count and total > MEMORY:
            break
        count += 1
    return count


def measure(machine, wanted):
    """Yields a row for each, and whether it is one of a failure of accc. What others cannot do is a remark."""
    workers, ready, said = {}, {}, {}

    def ask(which, question):
        try:
            return question()
        except (Failed, BrokenPipeError) as reason:
            said[which] = f"failed: {reason}"
            workers.pop(which).__exit__()

    with contextlib.ExitStack() as stack:
        for which in wanted:
            if which.kind != "jax":
                workers[which] = stack.enter_context(Worker(machine, which))
        write_weights(machine, {which.folder for which in wanted} - {which.folder for which in workers})
        for which in wanted:
            if which.kind == "jax":  # PyTorch's contenders write the weights, before their first step
                wait_for_weights(machine, which.folder, workers)
                workers[which] = stack.enter_context(Worker(machine, which))
        for which in wanted:
            ready[which] = ask(which, workers[which].answer)
        for folder, precision in dict.fromkeys((which.folder, which.precision) for which in wanted):
            these = [which for which in wanted if (which.folder, which.precision) == (folder, precision)]
            ours, theirs, wrong = [], {which: [] for which in these}, ""
            for _ in range(ROUNDS):
                try:
                    ours.append(bench(machine, folder, precision))
                except Failed as reason:
                    wrong = f"accc failed: {reason}"
                    break
                for which in these:
                    if which in workers:
                        answer = ask(which, lambda: workers[which].round(SECONDS))
                        theirs[which] += [answer["median_ms"]] if answer else []
            for which in these:
                if which in workers:
                    workers.pop(which).__exit__()
                yield row(which, ours, theirs[which], ready[which], said.get(which, wrong)), bool(wrong)


def write_weights(machine, folders):
    """For models that no contender of PyTorch's runs."""
    with contextlib.ExitStack() as stack:
        writers = [
            stack.enter_context(Worker(machine, Wanted(folder, "eager", "fp32")))
            for folder in folders
            if not weights_of(machine, folder).exists()
        ]
        for writer in writers:
            writer.answer()


def wait_for_weights(machine, folder, workers):
    while not weights_of(machine, folder).exists() and any(
        worker.process.poll() is None for which, worker in workers.items() if which.folder == folder
    ):
        machine.left()
        time.sleep(0.2)


def row(which, ours, theirs, ready, said):
    name = (which.folder.name, which.kind, which.precision)
    if said:
        return (*name, *["-"] * 8, said)
    ratio = statistics.median(b / a["median_ms"] for a, b in zip(ours, theirs))
    first = ours[0]
    memory = (first["state_bytes"] + first["working_bytes"]) / 1e9
    milliseconds = statistics.median(x["median_ms"] for x in ours)
    return (
        *name, milliseconds, statistics.median(theirs), ratio, memory,
        ready["memory"] / 1e9, first.get("loss", "-"), ready["loss"], ready["first_step_s"], "",
    )  # fmt: skip
