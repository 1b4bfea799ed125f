# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One row of the zoo: a model in one format, from its export to the verdict of accc diff."""

import dataclasses
import json
import pathlib
import sys
import time

from children import Failure, call, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "export"))


@dataclasses.dataclass
class Row:
    """`verdict` is right, wrong, refused (accc compiles it not), no export, or not built (no such module here)."""

    suite: str
    model: str
    format: str
    verdict: str
    message: str = ""
    seconds: float | None = None
    kernels: int | None = None
    worst: float | None = None
    tensors: int = 0
    compiler: str = ""


@dataclasses.dataclass
class Limits:
    make: float
    compile: float
    memory: int


def make(suite: str, name: str, folder: pathlib.Path, formats: list[str], limits: Limits) -> dict:
    """Builds and exports what is not there yet; what exports.json says, by format."""
    exports = folder / "exports.json"
    known = json.loads(exports.read_text()) if exports.exists() else {}
    missing = [wanted for wanted in formats if wanted not in known]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            call("make", "make", (suite, name, folder, missing), folder / "make.log", limits.make, limits.memory)
        except Failure as failure:
            known = json.loads(exports.read_text()) if exports.exists() else {}
            for wanted in missing:
                known.setdefault(wanted, {"error": f"not built: {failure}"})
            return known
        known = json.loads(exports.read_text())
    return known


def check(row: Row, accc: pathlib.Path, model: pathlib.Path, folder: pathlib.Path, limits: Limits) -> None:
    """Compiles a model and compares its training with the goldens in `folder`; fills the row."""
    library, report = folder / f"{row.format}.so", folder / f"{row.format}.json"
    start = time.monotonic()
    row.verdict = "refused"
    try:
        command = [accc, "compile", model, "-o", library, "--report", report]
        command += ["--optimizer", "sgd", "--weights", "embed"]
        command += [] if row.format == "joint" else ["--loss", "output:loss"]  # a joint graph holds its loss
        run(command, folder / f"{row.format}.compile.log", limits.compile, limits.memory)
        row.seconds = time.monotonic() - start
        row.kernels = sum(json.loads(report.read_text())["summary"]["kernels"].values())
        row.verdict = "wrong"
        command = [accc, "diff", library, folder, "--json"]
        _compare(row, run(command, folder / f"{row.format}.diff.log", limits.compile, limits.memory, codes=(0, 1)))
        if row.verdict == "wrong":
            row.message += _against_itself(folder)
    except Failure as failure:
        row.message = str(failure)
    finally:
        for path in folder.glob(f"{row.format}.so*"):
            path.unlink()


def _compare(row: Row, text: str) -> None:
    try:
        answer = json.loads(text[text.index("{") :])
    except ValueError:
        row.message = text.strip()[-2000:]
        return
    tensors = [tensor for section in answer["sections"] for tensor in section.get("tensors", [])]
    numbers = [x["relative_rmse"] for x in tensors if isinstance(x["relative_rmse"], (int, float))]
    row.tensors, row.worst = len(tensors), max(numbers, default=None)
    if answer["verdict"] == "pass":
        row.verdict = "right"
        return
    wrong = [f"{x['name']} {x['verdict']} {x['relative_rmse']}" for x in tensors if not x["passed"]]
    more = [section["failure"] for section in answer["sections"] if section.get("failure")]
    row.message = "\n".join([f"{len(wrong)} of {len(tensors)} tensors", *wrong[:20], *more])


def _against_itself(folder: pathlib.Path) -> str:
    """How many tensors of PyTorch's own runs from moved weights are wrong by the same rule: rounding decides these."""
    if not list(folder.glob("moved*.safetensors")):
        return ""
    from compare import against_itself

    return f"\nof PyTorch's own runs, weights moved by some units in the last place: {against_itself(folder)}"
