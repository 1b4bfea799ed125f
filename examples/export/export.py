#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports a model of the table in training mode, and what PyTorch makes of it.

    export.py MODEL --config small --exporter torchscript,dynamo --out DIR
    export.py digits_cnn_dropout --config full --exporter torchscript --model-only cnn.onnx

DIR gets `model.onnx` (first exporter) and `<exporter>.onnx` (the others), `inputs.safetensors`,
`golden.safetensors`, `golden64.safetensors` and `meta.json`; README.md says what is in them.
"""

import argparse
import pathlib
import sys

import torch

import models
from cases import accc_export

EXPORTERS = ("auto", *accc_export.EXPORTERS, "torch.export", "joint")


def build(name, config):
    torch.manual_seed(0)
    return models.find(name)(config)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ", ".join((*models.MODELS, *models.everyday.MODELS))
    parser.add_argument("model", help=f"{names}, timm:NAME, torchvision:NAME")
    parser.add_argument("--config", choices=("small", "full"), default="small")
    parser.add_argument("--exporter", default="torchscript", help=f"any of {', '.join(EXPORTERS)}")
    parser.add_argument("--out", type=pathlib.Path, help="directory for the model and its goldens")
    parser.add_argument(
        "--model-only", type=pathlib.Path, metavar="FILE", help="just the ONNX file"
    )
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), default="fp32", help="of the goldens")
    parser.add_argument(
        "--dtype", choices=("float32", "float16", "bfloat16"), default="float32", help="of the module and its inputs"
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
    if options.dtype != "float32":
        case = case.narrowed(getattr(torch, options.dtype))
    try:
        if options.model_only:
            case.export(exporters[0], options.model_only)
            return
        options.out.parent.mkdir(parents=True, exist_ok=True)
        case.golden(
            exporters,
            options.out,
            steps=0 if options.no_goldens else options.steps or case.steps,
            precision=options.precision,
            double=not options.no_double,
            moved=options.moved,
            extra={"model": options.model, "config": options.config, "dtype": options.dtype},
        )
    except accc_export.ExportError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
