# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's two ONNX exporters, called so that a training graph stays whole.

Both are made for inference. What keeps the graph intact:

* TorchScript: `training=PRESERVE` and `do_constant_folding=False`; with folding, Linear weights
  turn into transposed constants named `onnx::MatMul_123`.
* dynamo: `optimize=False`. The optimizer that runs by default takes parameters for constants: it
  fuses batch normalisation into the convolution before it, also in training mode, folds position
  embeddings and LSTM weights away, and merges parameters that start with equal values (all of a
  transformer's layer-norm scales), which ties them for ever.
* dynamo: `TRANSLATIONS` below. The exporter's own rule writes every BatchNormalization in inference
  mode, whatever the module's mode is.
"""

import pathlib
import warnings

import onnx
import torch
from onnxscript import opset18 as op

from .calls import Call, flat_forward
from .dropouts import plain_drop_paths, plain_dropouts
from .errors import ExportError

EXPORTERS = ("dynamo", "torchscript", "dynamo-folded")
"""`dynamo` traces with torch.export and writes its own default opset (20 as of PyTorch 2.15).

`torchscript` is the older tracer (opset 17). `dynamo-folded` asks for opset 23, which keeps attention
as one operator; what depends on no input and no parameter is then computed beforehand.
"""

Axes = dict[str, dict[int, str]]
"""Input or output name -> {axis: dimension name}."""

FOLDED = {"dynamo-folded"}
_OPSETS = {"torchscript": 17, "dynamo": None, "dynamo-folded": 23}
_LARGE = 1 << 30  # a protobuf message holds less than 2 GiB


def _batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    y, new_mean, new_var = op.BatchNormalization(
        x, weight, bias, mean, var, epsilon=eps, momentum=1.0 - momentum, training_mode=1
    )
    return y, new_mean, new_var, new_mean, new_var


TRANSLATIONS = {torch.ops.aten._native_batch_norm_legit_functional.default: _batch_norm}


def run_exporter(
    module: torch.nn.Module, call: Call, outputs: list[str], axes: Axes, exporter: str, folder: pathlib.Path
) -> onnx.ModelProto:
    """The module as this exporter writes it. `folder` is for files in between."""
    path = folder / "exported.onnx"
    names = {"input_names": list(call.inputs), "output_names": outputs}
    try:
        with warnings.catch_warnings(), flat_forward(module, call), plain_drop_paths(), plain_dropouts():
            warnings.simplefilter("ignore")
            if exporter == "torchscript":
                _torchscript(module, call, axes, names, path)
            else:
                _dynamo(module, call, axes, names, exporter, path)
    except ExportError:
        raise
    except Exception as error:  # whatever the tracers and the module's own code raise
        raise ExportError(f"PyTorch's {exporter} exporter fails: {first_lines(error)}") from error
    return onnx.load(str(path))


def _torchscript(module, call, axes, names, path):
    torch.onnx.export(
        module,
        tuple(call.inputs.values()),
        str(path),
        dynamo=False,
        opset_version=_OPSETS["torchscript"],
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        dynamic_axes=axes or None,
        **names,
    )


def _dynamo(module, call, axes, names, exporter, path):
    dims = {dim: torch.export.Dim(dim) for held in axes.values() for dim in held.values()}
    shapes = tuple({axis: dims[dim] for axis, dim in axes.get(name, {}).items()} for name in call.inputs)
    program = torch.onnx.export(
        module,
        tuple(call.inputs.values()),
        dynamo=True,
        opset_version=_OPSETS[exporter],
        optimize=False,
        verbose=False,
        dynamic_shapes=shapes if dims else None,
        custom_translation_table=TRANSLATIONS,
        **names,
    )
    size = sum(x.numel() * x.element_size() for x in (*module.parameters(), *module.buffers()))
    program.save(str(path), external_data=size > _LARGE)


def first_lines(error: BaseException) -> str:
    """The innermost cause, whose message names the operator or the line of the module."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:500] or type(error).__name__
