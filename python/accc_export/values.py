# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether an ONNX file gives what its module does."""

import warnings

import onnx
import onnx.reference
import torch

from .agreement import Tensors, differing_values
from .calls import Call
from .errors import ExportError, ExportWarning
from .exporters import first_lines
from .modules import Observation, preserved_buffers

_WRITES = "forward writes into parts of tensors, or through detach(), which PyTorch's torchscript exporter gets wrong where another name reads them"


def check_writes(model: onnx.ModelProto, module: torch.nn.Module, call: Call, observation: Observation, outputs: list[str]) -> None:
    """Raises ExportError where ONNX's reference evaluator finds other outputs than the module of one that writes so; warns where it
    cannot tell. To be called within `preserved`."""
    if not observation.overwrites:
        return
    doubt = "the module draws random numbers"
    if not observation.drawn:
        try:
            found = _evaluated(model, call, outputs)
        except Exception as error:  # operators that it lacks, and whatever numpy raises
            doubt = f"ONNX's reference evaluator fails ({first_lines(error)})"
        else:
            with preserved_buffers(module), torch.no_grad():
                expected = dict(zip(outputs, call.run(module).values()))
            if wrong := differing_values(expected, found):
                raise ExportError(f"the file has other values than the module ({', '.join(wrong[:20])}): {_WRITES}")
            return
    warnings.warn(f"{_WRITES}, and whether it did cannot be told, as {doubt}: compare the training (golden, accc diff)", ExportWarning, stacklevel=4)


def _evaluated(model: onnx.ModelProto, call: Call, outputs: list[str]) -> Tensors:
    inputs = {name: x.detach().cpu().numpy() for name, x in call.inputs.items()}
    found = onnx.reference.ReferenceEvaluator(model).run(outputs, inputs)
    return {name: torch.as_tensor(x) for name, x in zip(outputs, found)}
