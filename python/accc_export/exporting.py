# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The export of a module for training."""

import dataclasses
import os
import pathlib
import warnings
from collections.abc import Mapping, Sequence

import onnx
import torch

from .calls import Call, Inputs, make_call
from .errors import ExportError, ExportWarning
from .exporters import EXPORTERS, FOLDED, Axes, run_exporter
from .files import scratch, write_model
from .graphs import describe, nodes_of, opset_of, repair
from .modules import metadata, observe, preserved, state_of
from .verify import verify

Dynamic = Mapping[str, Mapping[str, int | Sequence[int]]]


@dataclasses.dataclass(frozen=True)
class Export:
    """What was written.

    Of the initialisers, `parameters` names the parameters (`frozen` those with requires_grad=False), `statistics` the
    moving ones of batch norms, and `buffers` other buffers of floats. `dims` are the open dimensions, with the sizes of
    the example. A `random` module has dropout, or draws otherwise.
    """

    path: pathlib.Path
    exporter: str
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    frozen: tuple[str, ...]
    statistics: tuple[str, ...]
    buffers: tuple[str, ...]
    dims: dict[str, int]
    random: bool


def export(
    module: torch.nn.Module,
    example_inputs: Inputs,
    path: str | os.PathLike,
    *,
    dynamic: Dynamic | None = None,
    exporter: str = "auto",
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    external_data: bool | None = None,
) -> Export:
    """Writes `module` as an ONNX file that accc can train, and checks that nothing of it was lost.

    example_inputs
        what `module.forward` takes: a tensor, a tuple of positional arguments, or a dict of keyword arguments.
        Inputs bear the names of the parameters of `forward`.
    dynamic
        dimensions to leave open, `{"batch": {"images": 0}}`: name of the dimension -> input -> axis or axes.
        `accc compile -D batch=64` gives them their sizes. The example needs at least 2 in each.
    exporter
        one of EXPORTERS; "auto" takes PyTorch's current exporter (dynamo), and TorchScript's where that fails.
    input_names, output_names
        other names than those of arguments and of keys, fields and positions of what `forward` returns.
    external_data
        whether values stand in a file beside the model; by default only if they exceed 1 GiB.

    The module is exported in training mode: dropouts drop and batch norms use the statistics of the batch, except for
    parts of a module in training mode that were themselves put into evaluation mode. Initialisers bear the names of
    `module.state_dict()`, a tied parameter the first of its own. Parameters with `requires_grad=False` are not
    trained. The module is left as it was.

    Raises ExportError if the module cannot be exported, or if the file lost something of it; nothing is written then.
    """
    path = pathlib.Path(path)
    exporters = _exporters(exporter)
    _check_module(module)
    call = make_call(module, example_inputs, input_names)
    state = state_of(module)
    axes = _axes(dynamic or {}, call)
    with preserved(module):
        observation = observe(module, call, state)
        state = state.snapshot()  # tracing a batch norm in training mode moves its statistics
        outputs = _output_names(call, list(observation.outputs), output_names)
        failures = []
        for candidate in exporters:
            try:
                with scratch(path) as folder:
                    model = run_exporter(module, call, outputs, axes, candidate, folder)
                repair(model, state, axes, fold=candidate in FOLDED)
                verify(model, state, observation)
                break
            except ExportError as error:
                failures.append(f"{candidate}: {error}" if len(exporters) > 1 else str(error))
        else:
            raise ExportError("\n".join(failures))
    for failure in failures:
        text = f"exported with {candidate}, as another exporter does not work: {failure}"
        warnings.warn(text, ExportWarning, stacklevel=2)
    describe(model, metadata(state, observation, {x.name for x in model.graph.initializer}))
    write_model(model, path, external_data)
    return _result(path, candidate, model, call, outputs, state, observation, axes)


def _result(path, exporter, model, call, outputs, state, observation, axes) -> Export:
    statistics = {name for node in nodes_of(model) if node.op_type == "BatchNormalization" for name in node.input[3:5]}
    names = [x.name for x in model.graph.initializer]
    floats = {x.name for x in model.graph.initializer if x.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)}
    parameters = [name for name in state.parameters if name in names]
    return Export(
        path=path,
        exporter=exporter,
        opset=opset_of(model),
        inputs=tuple(call.inputs),
        outputs=tuple(outputs),
        parameters=tuple(parameters),
        frozen=tuple(name for name in parameters if not state.parameters[name].requires_grad),
        statistics=tuple(name for name in state.buffers if name in statistics),
        buffers=tuple(name for name in state.buffers if name in floats and name not in statistics),
        dims={dim: call.inputs[name].shape[a] for name, held in axes.items() for a, dim in held.items()},
        random=observation.drawn > 0,
    )


def _exporters(exporter: str) -> tuple[str, ...]:
    if exporter == "auto":
        return ("dynamo", "torchscript")
    if exporter not in EXPORTERS:
        raise ExportError(f"there is no exporter {exporter!r}: choose auto, {', '.join(EXPORTERS)}")
    return (exporter,)


def _check_module(module: torch.nn.Module) -> None:
    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"the module is a {type(module).__name__}, not a torch.nn.Module")
    if isinstance(module, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise ExportError("the module is a ScriptModule: export the module that it was made of")
    if hasattr(module, "_orig_mod"):
        raise ExportError("the module was made by torch.compile: export the original, module._orig_mod")
    if isinstance(module, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        raise ExportError(f"the module is a {type(module).__name__}: export the original, module.module")


def _axes(dynamic: Dynamic, call: Call) -> Axes:
    axes: Axes = {}
    for dim, held in dynamic.items():
        sizes = set()
        for name, where in held.items():
            if name not in call.inputs:
                raise ExportError(f"dynamic: {dim} names the input {name}; there are {', '.join(call.inputs)}")
            shape = call.inputs[name].shape
            for axis in (where,) if isinstance(where, int) else where:
                if not -len(shape) <= axis < len(shape):
                    raise ExportError(f"dynamic: {name} of shape {list(shape)} has no axis {axis}")
                axes.setdefault(name, {})[axis % len(shape)] = dim
                sizes.add(shape[axis])
        if len(sizes) > 1:
            raise ExportError(f"dynamic: {dim} is {' and '.join(map(str, sorted(sizes)))} in example_inputs")
        if min(sizes, default=2) < 2:
            raise ExportError(f"dynamic: {dim} is {min(sizes)} in example_inputs; exporters fix such sizes: take 2 or more")
    return axes


def _output_names(call: Call, found: list[str], given: Sequence[str] | None) -> list[str]:
    if given is not None and len(given) != len(found):
        raise ExportError(f"{len(given)} output names for {len(found)} outputs: {', '.join(found)}")
    names = list(given or (f"output_{name}" if name in call.inputs else name for name in found))
    if len({*names, *call.inputs}) != len(names) + len(call.inputs):
        raise ExportError(f"inputs and outputs need different names: {', '.join((*call.inputs, *names))}")
    return names
