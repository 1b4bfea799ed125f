# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sweep of scripts/model-zoo: which rows are wanted, which are known, and what is written of them."""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys

import real
import report
import suites
import targets
from checking import Row, check, make
from children import Limits
from floats import Floats

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATS = ("export", "core", "onnx", "program", "traced", "scripted", "joint")
LINE = "{:<12} {:<36} {:<8} {:<10} {:>9} {:>7} {:>8}  {}"


def parse_arguments(description: str):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default=",".join(suites.SUITES), help=f"some of the suites, also {', '.join(suites.MORE)} (default: %(default)s)")
    parser.add_argument("--models", type=re.compile, default=re.compile(""), metavar="REGEX", help="of their names")
    parser.add_argument("--format", default=",".join(FORMATS), help="some of the formats (default: all)")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "float16", "float64"), help="of the modules")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16", "fp16"), help="of modules in float32: mixed, beside torch.autocast")
    parser.add_argument("--fresh", action="store_true", help="export and check again what is known")
    parser.add_argument("--keep-right", action="store_true", help="keep what another build of accc got right")
    parser.add_argument("--real", action="store_true", help="models in their published configurations, with times")
    parser.add_argument("--list", action="store_true", help="print the names of the models and stop")
    parser.add_argument("--accc", type=pathlib.Path, default=ROOT / "build" / "bin" / "accc")
    parser.add_argument("--target", default="cpu", choices=targets.NAMES, help=targets.HELP)
    parser.add_argument("--cache", type=pathlib.Path, default=cache / "accc" / "zoo")
    parser.add_argument("--timeout", type=float, help="seconds for one command (default: 300, with --real 1800)")
    parser.add_argument("--memory", type=float, default=16, help="GiB of addresses for one command")
    parser.add_argument("--rounds", type=int, default=3, help="with --real: times that accc and PyTorch take turns")
    parser.add_argument("--threads", type=int, default=2, help="with --real: of both")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write the table of all that is known")
    options = parser.parse_args()
    options.timeout = options.timeout or (1800 if options.real else 300)
    for value, known in ((options.suite, (*suites.SUITES, *suites.MORE)), (options.format, FORMATS)):
        if unknown := set(value.split(",")) - set(known):
            parser.error(f"unknown {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.real and options.target != "cpu":
        parser.error("--real measures times, which a stand-in for a GPU does not have")
    options.floats = Floats(options.dtype, options.precision)
    if not options.floats.are_full:
        if options.real or options.report:
            parser.error("--real and --report are for float32")
        if options.dtype != "float32" and options.precision != "fp32":
            parser.error("--precision is for modules in float32")
        options.cache = options.floats.within(options.cache)
    options.target = targets.find(options.target, options.accc)
    return options


class Results:
    """The rows that are known, one JSON file for each in the cache."""

    def __init__(self, cache: pathlib.Path) -> None:
        self.cache = cache

    def folder(self, suite: str, name: str) -> pathlib.Path:
        return self.cache / suite / name

    def find(self, suite: str, name: str, form: str, target: str = "cpu") -> Row | None:
        path = self._path(Row(suite, name, form, "", target=target))
        return Row(**json.loads(path.read_text())) if path.exists() else None

    def store(self, row: Row) -> None:
        path = self._path(row)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dataclasses.asdict(row), indent=2) + "\n")

    def all(self) -> list[Row]:
        """Those of the CPU."""
        names = ((suite, name) for suite in suites.SUITES for name in suites.load(suite).MODELS)
        found = (self.find(suite, name, form) for suite, name in names for form in FORMATS)
        return [row for row in found if row is not None]

    def _path(self, row: Row) -> pathlib.Path:
        return self.folder(row.suite, row.model) / f"{row.stem}.row.json"


@contextlib.contextmanager
def locked(folder: pathlib.Path):
    """No other run that shares the cache works in the folder meanwhile: its goldens must be of its exports."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sweep_model(suite, name, formats, options, results, compiler) -> list[Row]:
    """The rows of one model; only those that are not known are measured."""
    with locked(results.folder(suite, name)):
        return _sweep_model(suite, name, formats, options, results, compiler)


def _sweep_model(suite, name, formats, options, results, compiler) -> list[Row]:
    folder = results.folder(suite, name)
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    rows = {}
    for form in formats:
        row = results.find(suite, name, form, options.target.name)
        if row and (row.compiler == compiler or options.keep_right and row.verdict == "right"):
            rows[form] = row
    missing = [form for form in formats if form not in rows]
    limits = Limits(options.timeout, options.timeout, int(options.memory * 2**30))
    exports = make(suite, name, folder, missing, options.floats, limits) if missing else {}
    for form in missing:
        rows[form] = row = Row(suite, name, form, "no export", compiler=compiler, target=options.target.name, **dataclasses.asdict(options.floats))
        if "error" in exports[form]:
            row.message = exports[form]["error"]
            row.verdict = "not built" if row.message.startswith("not built") else "no export"
        else:
            check(row, options.accc, folder / exports[form]["file"], folder, limits, options.target)
        results.store(row)
    return [rows[form] for form in formats]


def show(row: Row) -> None:
    seconds = f"{row.seconds:.1f}" if row.seconds is not None else ""
    worst = f"{row.worst:.1e}" if row.worst is not None else ""
    message = " ".join(row.message.split())[:160]
    columns = (row.suite, row.model, row.format, row.verdict, seconds, row.kernels or "", worst, message)
    print(LINE.format(*columns), flush=True)


def sweep(wanted, options, results: Results, compiler: str) -> list[Row]:
    """The rows of these models, shown as they come."""
    rows = []
    print(LINE.format("suite", "model", "format", "verdict", "compile s", "kernels", "worst", "message"), flush=True)
    for suite, name in wanted:
        for row in sweep_model(suite, name, options.format.split(","), options, results, compiler):
            show(row)
            rows.append(row)
    return rows


def main(description: str) -> None:
    options = parse_arguments(description)
    chosen = (real.SUITE,) if options.real else options.suite.split(",")
    wanted = [(suite, name) for suite in chosen for name in suites.load(suite).MODELS if options.models.search(name)]
    if options.list:
        print("\n".join(f"{suite} {name}" for suite, name in wanted))
        return
    if not options.accc.exists():
        sys.exit(f"{options.accc} is not built")
    compiler = hashlib.sha256(options.accc.read_bytes()).hexdigest()[:12]
    results = Results(options.cache)
    if options.real:
        rows = real.sweep([name for _, name in wanted], options, compiler)
    else:
        rows = sweep(wanted, options, results, compiler)
    right = sum(row.verdict == "right" for row in rows)
    rounding = sum(row.verdict == "rounding" for row in rows)
    slow = sum(row.verdict == "too slow" for row in rows)
    exported = sum(row.verdict in ("right", "wrong", "refused", "rounding") for row in rows)
    print(
        f"{right} of {exported} exported rows are right, {rounding} decided by rounding; "
        f"{len(rows) - exported - slow} were not exported" + (f", {slow} too slow" if slow else "")
    )
    if options.report:
        report.write(results.all(), real.RealResults(options.cache).all(), options.report)
    sys.exit(0 if right + rounding == exported else 1)
