# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps of the full-size models beside PyTorch and JAX: same model, batch, precision and machine.

A contender has a process of its own, which it keeps from round to round (step_torch.py, step_jax.py).
Some get ready side by side, for torch.compile takes minutes; measured is one at a time: in each round
accc and then each contender, so that all see the same clock.
"""

import contextlib
import importlib.util
import json
import os
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
ROUNDS, SECONDS = 3, 0.6
MEMORY = 60e9
"""Bytes of the device for the contenders that are ready at the same time."""


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
    precisions = options.precision or PRECISIONS
    if unknown := set(contenders) - set(CONTENDERS):
        raise Skip(f"no contender {', '.join(sorted(unknown))}; there are: {', '.join(CONTENDERS)}")
    if "jax" in contenders and importlib.util.find_spec("jax") is None:
        report.say("JAX is not installed: no rows of it")
        contenders = [kind for kind in contenders if kind != "jax"]
    rows, wrong = [], 0
    try:  # the quick ones first: what the time limit cuts off is what takes longest to compile
        for folder in models:
            fitting = [kind for kind in contenders if has_images(folder) or not kind.endswith("channels-last")]
            wanted = [(kind, precision) for kind in fitting for precision in precisions]
            at_once = max(1, int(MEMORY / FULL_SIZE[folder.name].memory))
            for i in range(0, len(wanted), at_once):
                found, bad = measure(machine, folder, wanted[i : i + at_once])
                for row in found:
                    print(*row, flush=True)
                rows += found
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


def measure(machine, folder, wanted):
    """The rows of (kind, precision) each, and how many are failures of accc. What others cannot do is a remark."""
    given = inputs.of(folder, machine.scratch)
    workers, ready, said, times = {}, {}, {}, {}
    ours = {precision: [] for _, precision in wanted}
    ours_failed = 0
    with contextlib.ExitStack() as stack:

        def start(which):
            workers[which] = stack.enter_context(Worker(machine, folder, given, *which))

        def ask(which, question):
            try:
                return question()
            except (Failed, BrokenPipeError) as reason:
                said[which] = f"failed: {reason}"
                workers.pop(which).__exit__()

        # PyTorch's contenders write the weights that accc and JAX start from, before their first step.
        torch = [which for which in wanted if which[0] != "jax"]
        for which in torch:
            start(which)
        if not torch and not weights_of(machine, folder).exists():
            with Worker(machine, folder, given, "eager", "fp32") as writer:
                writer.answer()
        while not weights_of(machine, folder).exists() and any(w.process.poll() is None for w in workers.values()):
            machine.left()
            time.sleep(0.2)
        for which in set(wanted) - set(torch):
            start(which)
        for which in wanted:
            if answer := ask(which, workers[which].answer):
                ready[which], times[which] = answer, []
        for _ in range(ROUNDS):
            for precision, found in ours.items():
                try:
                    found.append(bench(machine, folder, given, precision))
                except Failed as reason:
                    for which in [which for which in wanted if which[1] == precision]:
                        said.setdefault(which, f"accc failed: {reason}")
                    ours_failed += 1
            for which in list(workers):
                if answer := ask(which, lambda: workers[which].round(SECONDS)):
                    times[which].append(answer["median_ms"])
            if ours_failed:
                break
    return [row(folder, which, ours[which[1]], times.get(which), ready.get(which), said) for which in wanted], ours_failed


def row(folder, which, ours, theirs, ready, said):
    if which in said:
        return (folder.name, *which, *["-"] * 8, said[which])
    ratio = statistics.median(b / a["median_ms"] for a, b in zip(ours, theirs))
    first = ours[0]
    memory = (first["state_bytes"] + first["working_bytes"]) / 1e9
    milliseconds = statistics.median(x["median_ms"] for x in ours)
    return (
        folder.name, *which, milliseconds, statistics.median(theirs), ratio, memory,
        ready["memory"] / 1e9, first.get("loss", "-"), ready["loss"], ready["first_step_s"], "",
    )  # fmt: skip
