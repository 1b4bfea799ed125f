# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One row of the zoo: a model in one format, from its export to the verdict of accc diff."""

import dataclasses
import json
import pathlib
import resource
import sys
import time

from children import Failure, Limits, NoEnd, call, run
from floats import Floats
from targets import Target

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = "1e-5"  # of mixed precision: nothing is close but by how far torch.autocast is from float64
sys.path.insert(0, str(ROOT / "examples" / "export"))


@dataclasses.dataclass
class Row:
    """Seconds are those of compiling. `verdict` is right, wrong, refused (accc compiles it not), no export, not built
    (no such module here), rounding: wrong, but right from other weights some units in the last place away, or too slow
    for the time that the stand-in for a GPU is given.
    """

    suite: str
    model: str
    format: str
    verdict: str
    message: str = ""
    seconds: float | None = None
    processor_seconds: float | None = None
    kernels: int | None = None
    worst: float | None = None
    tensors: int = 0
    compiler: str = ""
    target: str = "cpu"
    dtype: str = "float32"
    precision: str = "fp32"

    @property
    def stem(self) -> str:
        """How the names of its files begin."""
        return self.format if self.target == "cpu" else f"{self.format}.{self.target}"


def make(suite: str, name: str, folder: pathlib.Path, formats: list[str], floats: Floats, limits: Limits) -> dict:
    """Builds and exports what is not there yet; what exports.json says, by format."""
    exports = folder / "exports.json"
    known = json.loads(exports.read_text()) if exports.exists() else {}
    missing = [wanted for wanted in formats if wanted not in known]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            call("make", "make", (suite, name, folder, missing, floats), folder / "make.log", limits.make, limits.memory)
        except Failure as failure:
            known = json.loads(exports.read_text()) if exports.exists() else {}
            for wanted in missing:
                known.setdefault(wanted, {"error": f"not built: {failure}"})
            return known
        known = json.loads(exports.read_text())
    return known


def check(
    row: Row, accc: pathlib.Path, model: pathlib.Path, folder: pathlib.Path, limits: Limits, target: Target
) -> None:
    """Compiles a model and compares its training with the goldens in `folder`; fills the row."""
    row.verdict = "refused"
    try:
        library = compile_model(row, accc, model, folder, limits, *target.options)
        target.check_compiled(folder / f"{row.stem}.json")
        compare(row, accc, library, folder, limits, target)
    except Failure as failure:
        row.message = str(failure)
    finally:
        for path in folder.glob(f"{row.stem}.so*"):
            path.unlink()


def compile_model(
    row: Row, accc: pathlib.Path, model: pathlib.Path, folder: pathlib.Path, limits: Limits, *options: str
) -> pathlib.Path:
    """The library that accc makes of the model; fills what the row says of compiling."""
    library, report = folder / f"{row.stem}.so", folder / f"{row.stem}.json"
    command = [accc, "compile", model, "-o", library, "--report", report, *options]
    command += ["--optimizer", "sgd", "--weights", "embed"]
    command += [] if row.format == "joint" else ["--loss", "output:loss"]  # a joint graph holds its loss
    command += _mixed(row, folder)
    start, processor = time.monotonic(), _processor_seconds()
    run(command, folder / f"{row.stem}.compile.log", limits.compile, limits.memory)
    row.seconds, row.processor_seconds = time.monotonic() - start, _processor_seconds() - processor
    row.kernels = sum(json.loads(report.read_text())["summary"]["kernels"].values())
    return library


def _mixed(row: Row, folder: pathlib.Path) -> list[str]:
    """The options of mixed precision, with the loss scale that the goldens have. None reaches the gradients of a joint graph."""
    if row.precision == "fp32":
        return []
    scale = json.loads((folder / "meta.json").read_text()).get("loss_scale")
    scale = "none" if scale and row.format == "joint" else scale
    return ["--precision", row.precision, *(["--loss-scale", scale] if scale else [])]


def _processor_seconds() -> float:
    """Of all children that ended, outside the kernel: how busy a machine is does not count."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def compare(
    row: Row, accc: pathlib.Path, library: pathlib.Path, folder: pathlib.Path, limits: Limits, target: Target
) -> None:
    """Fills the row's verdict, from what accc diff says of the library and the goldens in `folder`."""
    row.verdict = "wrong"
    command, log = [accc, "diff", library, folder, "--json"], folder / f"{row.stem}.diff.log"
    command += [] if row.precision == "fp32" else ["--tolerance", TOLERANCE]
    try:
        _read(row, run(command, log, limits.compile, limits.memory, (0, 1), target.environment))
    except NoEnd:
        row.verdict = "too slow" if target.environment else "wrong"
        raise
    if row.verdict == "wrong" and row.format == "onnx" and (message := _other_loss(folder)):
        row.verdict, row.message = "no export", message
    if row.verdict == "wrong" and row.tensors:
        row.message += _against_itself(folder)
        counts = _from_moved_weights(row, accc, library, folder, limits, target)
        row.message += f"\nof accc's, likewise: {counts}" if counts else ""
        row.verdict = "rounding" if 0 in counts else "wrong"


def _read(row: Row, text: str) -> None:
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


def _other_loss(folder: pathlib.Path) -> str:
    """Where ONNX's own evaluator computes another loss from the file than PyTorch from the module: what it says."""
    import onnx.reference
    from safetensors.numpy import load_file

    inputs, loss = load_file(folder / "inputs.safetensors"), load_file(folder / "golden.safetensors")["loss"].item()
    try:
        evaluator = onnx.reference.ReferenceEvaluator(str(folder / "model.onnx"))
        found = evaluator.run(["loss"], {name: inputs[name] for name in evaluator.input_names})[0].item()
    except Exception:  # an operator that it lacks, say: nothing is known
        return ""
    if abs(found - loss) <= 1e-3 * abs(loss):
        return ""
    return f"the file has another loss than the module: {found:.4g} by ONNX's reference evaluator, {loss:.4g} by PyTorch"


def _against_itself(folder: pathlib.Path) -> str:
    """How many tensors of PyTorch's own runs from moved weights are wrong by the same rule: rounding decides these."""
    if not list(folder.glob("moved*.safetensors")):
        return ""
    from compare import against_itself

    return f"\nof PyTorch's own runs, weights moved by some units in the last place: {against_itself(folder)}"


def _from_moved_weights(
    row: Row, accc: pathlib.Path, library: pathlib.Path, folder: pathlib.Path, limits: Limits, target: Target
):
    """How many tensors of accc's own runs from moved weights are wrong: one library cannot be wrong only at times."""
    if not (folder / "seed").exists():
        return []
    from compare import compare as judge_all

    meta = json.loads((folder / "meta.json").read_text())
    outputs, trained, log = folder / "moved.outputs", folder / "moved.trained", folder / "moved.log"
    command = [accc, "run", library, "--inputs", folder / "inputs.safetensors", "--params"]
    given = dict(timeout=limits.compile, memory=limits.memory, environment=target.environment)
    training = ["--steps", str(meta["steps"]), "--lr", str(meta["lr"]), "--save-params", trained]
    counts = []
    try:
        call("make", "write_moved_weights", (row.suite, row.model, folder, Floats(row.dtype, row.precision)), log, limits.make, limits.memory)
        for weights in sorted(folder.glob("weights*.safetensors")):
            run([*command, weights, "--entry", "grad_step", "--outputs", outputs], log, **given)
            run([*command, weights, *training], log, **given)
            counts.append(sum(not verdict.ok for verdict in judge_all(folder, outputs, trained)))
    except Failure:  # a model whose file knows no parameters by the module's names
        pass
    finally:
        for path in (outputs, trained, *folder.glob("weights*.safetensors")):
            path.unlink(missing_ok=True)
    return counts
