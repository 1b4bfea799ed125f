#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports a model of the table in training mode, and what PyTorch makes of it.

    export.py MODEL --config small --exporter torchscript,dynamo --out DIR
    export.py digits_cnn_dropout --config full --exporter torchscript --model-only cnn.onnx

DIR gets `model.onnx` (first exporter) and `<exporter>.onnx` (the others), `inputs.safetensors`,
`golden.safetensors`, `golden64.safetensors` and `meta.json`; README.md says what is in them.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile

import torch
from safetensors.torch import save_file

import golden
import models
from common import EXPORTERS, bind_names, export, frozen


def build(name, config):
    torch.manual_seed(0)
    return models.find(name)(config)


def export_all(case, exporters, out):
    """Exports to `out`; returns the files' descriptions and the names they agree on."""
    files, names = [], None
    for exporter in exporters:
        path = out / ("model.onnx" if not files else f"{exporter}.onnx")
        model = export(case, exporter, path)
        bound = bind_names(model, case.module)
        if names is not None and bound != names:
            difference = set(bound.items()) ^ set(names.items())
            sys.exit(f"{path.name} names its parameters differently: {sorted(difference)}")
        names = bound
        opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        files.append({"file": path.name, "exporter": exporter, "opset": opset})
        if constant := frozen(model, bound):
            files[-1]["freeze"] = constant
    return files, names


def write_goldens(case, names, out, with_double, moved=0):
    """Writes golden.safetensors, as many of a moved model, and, rounded to float32, golden64.safetensors.

    The rounding moves a value by 6e-8 of itself at most, far below what the comparison can see.
    """
    save_file(golden.run(case, names, torch.float32), out / "golden.safetensors")
    for seed in range(1, moved + 1):
        other = dataclasses.replace(case, module=golden.moved(case.module, seed))
        save_file(golden.run(other, names, torch.float32), out / f"moved{seed}.safetensors")
    if with_double:
        double = golden.run(case, names, torch.float64)
        double = {name: x.float() for name, x in double.items()}
        save_file(double, out / "golden64.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ", ".join(models.MODELS)
    parser.add_argument("model", help=f"{names}, timm:NAME, torchvision:NAME")
    parser.add_argument("--config", choices=("small", "full"), default="small")
    parser.add_argument("--exporter", default="torchscript", help=f"any of {', '.join(EXPORTERS)}")
    parser.add_argument("--out", type=pathlib.Path, help="directory for the model and its goldens")
    parser.add_argument(
        "--model-only", type=pathlib.Path, metavar="FILE", help="just the ONNX file"
    )
    parser.add_argument("--no-double", action="store_true", help="skip the float64 run")
    parser.add_argument("--no-goldens", action="store_true", help="no runs at all: to be timed only")
    parser.add_argument("--steps", type=int, help="steps of the goldens, by default the model's own")
    parser.add_argument(
        "--moved", type=int, default=0, metavar="N", help="N more runs, every weight moved by one ulp"
    )
    options = parser.parse_args()
    exporters = options.exporter.split(",")
    if unknown := set(exporters) - set(EXPORTERS):
        parser.error(f"unknown exporter {', '.join(sorted(unknown))}")
    if models.find(options.model) is None:
        parser.error(f"unknown model {options.model}")
    if (options.out is None) == (options.model_only is None):
        parser.error("one of --out and --model-only is needed")

    case = build(options.model, options.config)
    if options.steps:
        case = dataclasses.replace(case, steps=options.steps)
    if options.model_only:
        with tempfile.TemporaryDirectory() as folder:
            export_all(case, exporters[:1], pathlib.Path(folder))
            options.model_only.write_bytes((pathlib.Path(folder) / "model.onnx").read_bytes())
        return
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    files, names = export_all(case, exporters, out)
    meta = {
        "model": options.model,
        "config": options.config,
        "files": files,
        "loss": case.loss,
        "optimizer": case.optimizer,
        "lr": case.lr,
        "steps": case.steps,
        "dims": case.dims(),
        "dropout": case.dropout,
        "torch": torch.__version__,
    }
    if renamed := {i: {"from": n, "transposed": t} for i, (n, t) in names.items() if i != n}:
        meta["renamed"] = renamed
    save_file({**case.inputs, "target": case.target}, out / "inputs.safetensors")
    if options.no_goldens:
        pass
    elif case.dropout:
        meta["loss_mean"], meta["loss_std"] = golden.dropout_losses(case)
    else:
        write_goldens(case, names, out, not options.no_double, options.moved)
    (out / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")
    for path in out.iterdir():
        path.chmod(0o644)


if __name__ == "__main__":
    main()
