# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/model-zoo --real: one step of models in their published configurations, its time and its memory."""

import contextlib
import dataclasses
import json
import os
import pathlib
import select
import shutil
import statistics
import subprocess
import sys

import suites
from checking import Row, compare, compile_model
from targets import Target
from children import Failure, Limits, call, run

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "real"
STEPS = 2
LINE = "{:<30} {:<10} {:>10} {:>7} {:>8} {:>9} {:>9} {:>8}  {}"
HEADINGS = ("model", "verdict", "compile s", "kernels", "worst", "accc ms", "eager ms", "eager/a.", "message")


@dataclasses.dataclass
class RealRow(Row):
    """A row of the zoo with what a step takes. `ratio` is the median over rounds of PyTorch's time over accc's.

    Memory is in bytes: what the compiler planned for a step beside the state, and the most that processes hold beyond
    what they hold before the model.
    """

    parameters: int | None = None
    threads: int | None = None
    working: int | None = None
    memory: int | None = None
    eager_memory: int | None = None
    step_ms: float | None = None
    eager_ms: float | None = None
    ratio: float | None = None


class RealResults:
    """The rows that are known, one JSON file for each in the cache."""

    def __init__(self, cache: pathlib.Path) -> None:
        self.folder = cache / SUITE

    def find(self, name: str) -> RealRow | None:
        path = self._path(name)
        return RealRow(**json.loads(path.read_text())) if path.exists() else None

    def store(self, row: RealRow) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._path(row.model).write_text(json.dumps(dataclasses.asdict(row), indent=2) + "\n")

    def all(self) -> list[RealRow]:
        return [row for row in map(self.find, suites.load(SUITE).MODELS) if row is not None]

    def _path(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.row.json"


def sweep(names: list[str], options, compiler: str) -> list[RealRow]:
    """The rows of these models; only those that are not known are measured."""
    results = RealResults(options.cache)
    limits = Limits(options.timeout, options.timeout, int(options.memory * 2**30))
    rows = []
    print(LINE.format(*HEADINGS), flush=True)
    for name in names:
        row = None if options.fresh else results.find(name)
        if row is None or row.compiler != compiler and not (options.keep_right and row.verdict == "right"):
            row = measure(name, options, results.folder / name, limits)
            row.compiler = compiler
            results.store(row)
        show(row)
        rows.append(row)
    return rows


def measure(name: str, options, folder: pathlib.Path, limits: Limits) -> RealRow:
    """Exports, compiles, compares and times a model in a folder that is gone afterwards: goldens of these are large."""
    row = RealRow(SUITE, name, "export", "no export")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        call("make", "make_real", (name, folder), folder / "make.log", limits.make, limits.memory)
        row.verdict = "refused"
        library = compile_model(row, options.accc, folder / "model.pt2", folder, limits, "--arch", "native")
        summary = json.loads((folder / "export.json").read_text())["summary"]
        row.parameters = summary["parameters"]["elements"]
        compare(row, options.accc, library, folder, limits, Target("cpu"))
        if options.rounds > 0:
            _time(row, options, library, folder, limits)
    except Failure as failure:
        row.message = str(failure)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return row


def _time(row: RealRow, options, library: pathlib.Path, folder: pathlib.Path, limits: Limits) -> None:
    """A few steps of accc, a few of PyTorch, in turns."""
    command = [options.accc, "bench", library, "--json", "--inputs", folder / "inputs.safetensors"]
    command += ["--threads", str(options.threads), "--warmup", "1", "--steps", str(STEPS)]
    rounds = []
    with _eager(row.model, options.threads, folder / "eager.log", limits.make) as eager:
        row.eager_memory = eager(None)["memory"]
        for _ in range(options.rounds):
            text = run(command, folder / "bench.log", limits.compile, limits.memory)
            figures = json.loads(text[text.index("{") :])
            rounds.append((figures["median_ms"], eager(STEPS)["median_ms"]))
    row.threads = options.threads
    row.working, row.memory = figures["working_bytes"], figures["step_peak_bytes"]
    row.step_ms, row.eager_ms = (statistics.median(times) for times in zip(*rounds))
    row.ratio = statistics.median(theirs / own for own, theirs in rounds)


@contextlib.contextmanager
def _eager(name: str, threads: int, log: pathlib.Path, timeout: float):
    """A function that asks eager.py for the figures of so many steps, or for what it says first."""
    command = [sys.executable, HERE / "eager.py", name, str(threads)]
    with log.open("w") as errors:
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": str(threads)}, **pipes)

        def ask(steps: int | None) -> dict:
            if steps is not None:
                print(steps, file=process.stdin, flush=True)
            if not select.select([process.stdout], [], [], timeout)[0]:
                raise Failure(f"PyTorch's steps: no end after {timeout:.0f} s")
            if line := process.stdout.readline():
                return json.loads(line)
            code = process.wait(timeout=timeout)
            raise Failure(f"PyTorch's steps: exit {code}: {log.read_text(errors='replace')[-500:]}")

        try:
            yield ask
        finally:
            process.kill()
            process.communicate(timeout=timeout)


def show(row: RealRow) -> None:
    def text(value, form):
        return "" if value is None else format(value, form)

    message = " ".join(row.message.split())[:160]
    times = (text(row.step_ms, ".0f"), text(row.eager_ms, ".0f"), text(row.ratio, ".2f"))
    columns = (text(row.processor_seconds, ".1f"), text(row.kernels, "d"), text(row.worst, ".1e"))
    print(LINE.format(row.model, row.verdict, *columns, *times, message), flush=True)
