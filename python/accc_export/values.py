# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether an ONNX file gives what its module does, by ONNX's reference evaluator."""


import onnx
import onnx.reference
import torch
from torch.utils.flop_counter import FlopCounterMode

from .agreement import Tensors
from .calls import Call
from .errors import ExportError, warn
from .failures import first_lines
from .functions import differing, parts
from .graphs import nodes_of
from .modules import State, preserved_buffers, preserved_values
from .noise import move
from .observing import Observation

_OPERATIONS = 1e9
"""So many in a forward pass the evaluator does in some seconds."""
_SLOW = {"ConvTranspose", "DeformConv", "GridSample", "LRN", "RoiAlign"}
"""What it computes element by element."""

_WRITES = "forward writes into parts of tensors, or through detach(), which PyTorch's torchscript exporter loses where another name reads them"


def check_values(
    model: onnx.ModelProto, module: torch.nn.Module, call: Call, state: State, observation: Observation, outputs: list[str], exporter: str
) -> None:
    """Raises ExportError where the file has other outputs than the module by more than rounding decides. Files of large models and of
    random ones, and those with operators that the evaluator lacks, are taken as they are, with a warning where it is known what
    the exporter gets wrong. To be called within `preserved`."""
    is_doubtful = exporter == "torchscript" and observation.overwrites
    with FlopCounterMode(display=False) as counter:
        expected = _outputs_of(module, call, state, observation, outputs)
    doubt = None
    if observation.drawn:
        doubt = "the module draws random numbers"
    elif is_doubtful or (counter.get_total_flops() <= _OPERATIONS and not _SLOW & {node.op_type for node in nodes_of(model)}):
        try:
            found = _evaluated(model, call, outputs)
        except Exception as error:  # operators that it lacks, and whatever numpy raises
            doubt = f"ONNX's reference evaluator fails ({first_lines(error)})"
        else:
            _compare(expected, found, lambda seed: _moved(module, call, state, observation, outputs, seed), is_doubtful, exporter)
    if doubt and is_doubtful:
        warn(f"{_WRITES}, and whether it did cannot be told, as {doubt}: compare the training (golden, accc diff)")


def _compare(expected: Tensors, found: Tensors, moved, is_doubtful: bool, exporter: str) -> None:
    if not differing(expected, found):
        return
    if listed := differing(expected, found, [moved(seed) for seed in (1, 2)]):
        why = _WRITES if is_doubtful else f"PyTorch's {exporter} exporter gets something wrong; name another, or give the file a name that ends in .pt2"
        raise ExportError(f"the file has other values than the module, by ONNX's reference evaluator ({listed}): {why}")


def _moved(module, call, state, observation, outputs, seed: int) -> Tensors:
    """Of the module whose every weight is moved to the next float."""
    with preserved_values(state.parameters.values()):
        move(module, seed)
        return _outputs_of(module, call, state, observation, outputs)


def _outputs_of(module, call: Call, state: State, observation: Observation, outputs: list[str]) -> Tensors:
    """Those that are no integers, which may be positions of equal values; complex ones as pairs, as a file has them."""
    written = [state.parameters[name] for name in observation.written]
    with preserved_buffers(module), preserved_values(written), torch.enable_grad():  # forward may ask whether it is
        found = dict(zip(outputs, call.run(module).values()))
    return {name: parts(x.detach()).double() for name, x in found.items() if x.is_floating_point() or x.is_complex()}


def _evaluated(model: onnx.ModelProto, call: Call, outputs: list[str]) -> Tensors:
    inputs = {name: x.detach().cpu().numpy() for name, x in call.inputs.items()}
    found = onnx.reference.ReferenceEvaluator(model).run(outputs, inputs)
    tensors = {name: torch.as_tensor(x) for name, x in zip(outputs, found)}
    return {name: x.double() for name, x in tensors.items() if x.is_floating_point()}
