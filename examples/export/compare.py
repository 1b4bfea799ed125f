#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds what accc computed against a golden directory, by PyTorch's own rule.

    compare.py GOLDEN_DIR OUT.safetensors [PARAMS.safetensors]

A tensor passes when it is allclose to the eager float32 run at rtol = atol = 1e-4 (1e-3 where that ran in
mixed precision), or else when its RMSE against the float64 run is at most `factor` times that of the eager run,
plus a tenth of the tolerance. The factor
is 2, or 3 for tensors of fewer than 1000 elements and for 1x1 convolutions, where a mean says little
(torch/_dynamo/utils.py, `same`), or at most as many times the noise that meta.json records. With the noise, gradients
and updates, of which an absolute tolerance passes the small ones, must also be right by their own size, as for
`accc diff` (tools/accc/Comparison.h). OUT holds the loss, the outputs and `grad.<name>` of the first
step; PARAMS the parameters after the last, under their own names. A model with dropout has only its
loss to compare: within six standard deviations of the mean over masks.

Exits with 0 when all pass, 1 when one does not or is missing, 2 on wrong usage.
"""

import argparse
import dataclasses
import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file

TOLERANCES = {"fp32": 1e-4, "bf16": 1e-3, "fp16": 1e-4}
"""By the precision of the goldens, as in tools/accc/Goldens.h."""


@dataclasses.dataclass
class Verdict:
    """One tensor's comparison. `relative` is its RMSE over the golden's root mean square.

    That divisor is 1e-5 at least: some gradients, a key's bias among them, are zero but for noise.
    """

    name: str
    shape: tuple
    worst: float
    relative: float
    how: str

    @property
    def ok(self):
        return self.how in ("close", "rmse", "rounding")


def rmse(a, b):
    return float(np.sqrt(np.mean(np.square(a.astype(np.float64) - b.astype(np.float64)))))


@dataclasses.dataclass
class Measured:
    """What is known beside a golden: its float64 run, and by meta.json its noise and how far training moved it."""

    double: np.ndarray | None
    noise: float | None = None
    update: float | None = None
    tolerance: float = TOLERANCES["fp32"]


def explains(golden, measured, result, slack):
    """What explains a difference; "" where nothing does."""
    pointwise = golden.ndim == 4 and golden.shape[2:] == (1, 1)
    factor = 3.0 if golden.size < 1000 or pointwise else 2.0
    double = measured.double
    if double is not None and rmse(double, result) <= factor * rmse(double, golden) + slack:
        return "rmse"
    if measured.noise is not None and rmse(golden, result) <= factor * measured.noise:
        return "rounding"
    return ""


def by_size(name, golden, measured, result):
    """How a gradient or an updated parameter that passes by the absolute tolerance compares by its own size."""
    scale, worst = rmse(golden, np.zeros_like(golden)), 0.0
    if name.startswith("grad."):
        size = max(scale, 1e-5)
        worst = float((np.abs(golden.astype(np.float64) - result) / (size + np.abs(golden))).max())
    elif name.startswith("param.") and measured.update is not None:
        size = max(measured.update, 1e-4 * scale)
    else:
        return ""
    if rmse(golden, result) <= 100 * measured.tolerance * size and worst <= 1000 * measured.tolerance:
        return ""
    return explains(golden, measured, result, 10 * measured.tolerance * size) or "FAILED"


def judge(name, golden, measured, result):
    """Compares one tensor."""
    if result is None:
        return Verdict(name, golden.shape, np.inf, np.inf, "missing")
    if result.shape != golden.shape:
        return Verdict(name, golden.shape, np.inf, np.inf, f"has shape {list(result.shape)}")
    if golden.size == 0:
        return Verdict(name, golden.shape, 0.0, 0.0, "close")
    if not np.isfinite(result).all():
        return Verdict(name, golden.shape, np.inf, np.inf, "not finite")
    worst = float(np.abs(golden.astype(np.float64) - result).max())
    scale = float(np.sqrt(np.mean(np.square(golden.astype(np.float64)))))
    relative = rmse(golden, result) / max(scale, 1e-5)
    how = "FAILED"
    if np.allclose(result, golden, rtol=measured.tolerance, atol=measured.tolerance):
        how = "close"
    else:
        how = explains(golden, measured, result, measured.tolerance / 10) or how
    if how != "FAILED" and worst > 0 and measured.noise is not None:
        how = by_size(name, golden, measured, result) or how
    return Verdict(name, golden.shape, worst, relative, how)


def compare(directory, out, params=None):
    """Compares the files; returns a list of verdicts. Without `params`, parameters are left out."""
    directory = pathlib.Path(directory)
    results = load_file(out)
    if not (directory / "golden.safetensors").exists():
        return [_judge_dropout(json.loads((directory / "meta.json").read_text()), results)]
    golden, measured = load_goldens(directory)
    trained = load_file(params) if params is not None else {}
    verdicts = []
    for name, value in golden.items():
        if name.startswith("param."):
            if params is None:
                continue
            result = trained.get(name.removeprefix("param."))
        else:
            result = results.get(name)
            if name == "losses" and result is None:
                continue  # only some callers ask for every step's loss
        verdicts.append(judge(name, value, measured[name], result))
    return verdicts


def load_goldens(directory):
    """The tensors, and what is known beside each."""
    golden = load_file(directory / "golden.safetensors")
    double_file = directory / "golden64.safetensors"
    double = load_file(double_file) if double_file.exists() else {}
    meta = json.loads((directory / "meta.json").read_text())
    noise, updates = meta.get("noise"), meta.get("updates", {})
    tolerance = TOLERANCES[meta.get("precision", "fp32")]
    return golden, {
        name: Measured(
            double.get(name), noise.get(name, 0.0) if noise is not None else None, updates.get(name), tolerance
        )
        for name in golden
    }


def against_itself(directory):
    """How many tensors of each of PyTorch's own runs with moved weights would fail, as a list.

    What fails there as well is decided by rounding: export.py's --moved makes these runs.
    """
    golden, measured = load_goldens(pathlib.Path(directory))
    counts = []
    for path in sorted(pathlib.Path(directory).glob("moved*.safetensors")):
        other = load_file(path)
        counts.append(sum(not judge(n, x, measured[n], other[n]).ok for n, x in golden.items()))
    return counts


def _judge_dropout(meta, results):
    mean, deviation = meta["loss_mean"], meta["loss_std"]
    if "loss" not in results:
        return Verdict("loss", (), np.inf, np.inf, "missing")
    distance = abs(float(results["loss"].reshape(-1)[0]) - mean)
    ok = distance <= 6 * deviation + TOLERANCES[meta.get("precision", "fp32")] * (1 + abs(mean))
    return Verdict("loss", (), distance, distance / abs(mean), "rmse" if ok else "FAILED")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("golden", type=pathlib.Path, metavar="GOLDEN_DIR")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.safetensors")
    parser.add_argument("params", type=pathlib.Path, nargs="?", metavar="PARAMS.safetensors")
    parser.add_argument("--failed", action="store_true", help="list only what failed")
    options = parser.parse_args()
    verdicts = compare(options.golden, options.out, options.params)
    width = max(len(v.name) for v in verdicts)
    print(f"{'tensor':<{width}}  {'shape':<18}  worst abs  rel. rmse  verdict")
    for v in verdicts:
        if not (options.failed and v.ok):
            shape = "x".join(map(str, v.shape)) or "scalar"
            print(f"{v.name:<{width}}  {shape:<18}  {v.worst:9.2e}  {v.relative:9.2e}  {v.how}")
    failed = sum(not v.ok for v in verdicts)
    print(f"{len(verdicts) - failed} of {len(verdicts)} tensors pass")
    if counts := against_itself(options.golden):
        print(f"of PyTorch's own runs, every weight moved by one ulp, {counts} fail")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
