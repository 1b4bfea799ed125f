# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The export of a module for training."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

import onnx
import torch

from .agreement import check_gradients, check_joint, check_program
from .aliases import check_aliases
from .attributes import attributes_of
from .calls import Call, Inputs, make_call
from .chance import warn_of_chance
from .checks import check_asked
from .dependence import Dependence
from .errors import ExportError, warn
from .evaluation import warn_of_evaluation
from .exporters import EXPORTERS, FOLDED, Axes, run_exporter
from .files import scratch, write_model
from .graphs import describe, nodes_of, opset_of, repair
from .memory import check_memory
from .modules import AUTOCAST, State, preserved, preserved_values, state_of
from .observing import Observation, metadata, observe
from .programs import (
    JOINT, PROGRAM, check_drawn, joint_of_autograd, joint_of_program, parameters_of, program_of, verify_program, write_program,
)
from .repeats import check_counts, check_repeats
from .sparse import plain_matrices
from .stops import check_stops
from .training import Loss, make_loss, takes_target
from .values import check_values
from .verify import verify

Dynamic = Mapping[str, Mapping[str, int | Sequence[int]]]


@dataclasses.dataclass(frozen=True)
class Export:
    """What was written.

    `returned` names what the module returns: the `outputs` and, in a joint graph of a module that returns it, `loss`.
    Of the initialisers, `parameters` names the parameters (`frozen` those with requires_grad=False), `statistics` the
    moving ones of batch norms (in a program of torch.export all that move), and `buffers` other buffers of floats.
    `dims` are the open dimensions by the names that `accc compile -D` takes, with the sizes of the example. A `random`
    module has dropout, or draws otherwise. Programs of torch.export have no `opset`.
    """

    path: pathlib.Path
    exporter: str
    opset: int | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    returned: tuple[str, ...]
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
    """Writes `module` as a file that accc can train, and checks that nothing of it was lost.

    The file is an ONNX model, or a program of torch.export where `path` ends in .pt2.

    example_inputs
        what `module.forward` takes: a tensor, a tuple of positional arguments, or a dict of keyword arguments.
        Inputs bear the names of the parameters of `forward`.
    dynamic
        dimensions to leave open, `{"batch": {"images": 0}}`: name of the dimension -> input -> axis or axes.
        `accc compile -D batch=64` gives them their sizes; those of a .pt2 file bear the names of inputs and axes
        (`-D images.0=64`). The example needs at least 2 in each.
    exporter
        one of EXPORTERS; "auto" takes PyTorch's current ONNX exporter (dynamo), and TorchScript's where that fails.
        A .pt2 file is torch.export's.
    input_names, output_names
        other names than those of arguments and of keys, fields and positions of what `forward` returns.
    external_data
        whether values stand in a file beside the model; by default only if they exceed 1 GiB. Not for .pt2.

    The module is exported in training mode: dropouts drop and batch norms use the statistics of the batch, except for
    parts of a module in training mode that were themselves put into evaluation mode. Initialisers bear the names of
    `module.state_dict()`, a tied parameter the first of its own. Parameters with `requires_grad=False` are not
    trained. The module is left as it was.

    Raises ExportError if the module cannot be exported, or if the file lost something of it; nothing is written then.
    """
    path = pathlib.Path(path)
    if path.suffix == ".pt2":
        if exporter not in ("auto", PROGRAM) or external_data is not None:
            raise ExportError(f"{path.name} is a program of torch.export: there is no exporter or external_data to choose")
        _check_module(module)
        with plain_matrices(module):
            return _export_program(module, example_inputs, path, dynamic, input_names, output_names)
    exporters = _exporters(exporter)
    _check_module(module)
    with plain_matrices(module):
        return _export_onnx(module, example_inputs, path, dynamic, exporters, input_names, output_names, external_data)


def _export_onnx(module, example_inputs, path, dynamic, exporters, input_names, output_names, external_data) -> Export:
    call = make_call(module, example_inputs, input_names)
    state = state_of(module)
    check_memory(state)
    axes = _axes(dynamic or {}, call.inputs)
    with preserved(module), preserved_values(call.inputs.values()):
        before = attributes_of(module)
        observation = observe(module, call, state)
        check_repeats(module, call, observation, before)
        outputs = _output_names(call, list(observation.outputs), output_names)
        check_gradients(module, call, state, observation, outputs)
        check_stops(module, call, state, observation)
        check_aliases(module, call, state)
        check_counts(module, call, observation)
        warn_of_chance(module, call, state, observation)
        warn_of_evaluation(module, call, state, observation)
        _warn_of_others(observation)
        _warn_of_synchronized(module)
        state = state.snapshot()  # tracing a batch norm in training mode moves its statistics
        failures = []
        for candidate in exporters:
            try:
                if candidate == "torchscript" and observation.mistaken:
                    raise ExportError(f"this exporter gets wrong: {', '.join(sorted(observation.mistaken))}")
                if candidate == "torchscript":
                    check_asked(module, call, lambda: _dependence(call, state, observation))
                with scratch(path) as folder:
                    model = run_exporter(module, call, observation.fixed, outputs, axes, candidate, folder)
                repair(model, state, call.inputs, axes, fold=candidate in FOLDED)
                verify(model, state, observation, axes)
                check_values(model, module, call, state, observation, outputs, candidate)
                break
            except ExportError as error:
                failures.append(f"{candidate}: {error}" if len(exporters) > 1 else str(error))
        else:
            raise ExportError(_hint(observation) + "\n".join(failures))
    for failure in failures:
        text = f"exported with {candidate}, as another exporter does not work: {failure}"
        warn(text)
    describe(model, metadata(state, observation, {x.name for x in model.graph.initializer}))
    write_model(model, path, external_data)
    return _result(path, candidate, model, call, outputs, state, observation, axes)


def export_joint(
    module: torch.nn.Module,
    example_inputs: Inputs,
    path: str | os.PathLike,
    *,
    loss: str | Callable[..., torch.Tensor],
    target: torch.Tensor | None = None,
    dynamic: Dynamic | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Export:
    """Writes `module` with its loss and PyTorch's own backward pass, as a .pt2 file: `accc compile` takes no --loss then.

    Its forward may take derivatives (torch.autograd.grad, torch.func), and have functions with backward passes of their own, of
    which `export` knows nothing: the file then holds what autograd runs.

    loss
        as `accc compile --loss` has it, or a function of what `forward` returns by name, `{"output": ...}`, and, if
        there is one, of the target.
    target
        an example of what the loss compares with. It is the last input, called target, and may be in `dynamic`.

    The other arguments are those of `export`.
    """
    path = pathlib.Path(path)
    if path.suffix != ".pt2":
        raise ExportError(f"{path.name}: a joint graph is a program of torch.export, whose file ends in .pt2")
    if isinstance(loss, str) and takes_target(loss) == (target is None):
        raise ExportError(f"the loss {loss} {'needs a target' if target is None else 'takes no target'}")
    _check_module(module)
    with plain_matrices(module):
        return _export_program(module, example_inputs, path, dynamic, input_names, output_names, loss, target)


def _export_program(module, example_inputs, path, dynamic, input_names, output_names, loss=None, target=None) -> Export:
    call = make_call(module, example_inputs, input_names)
    if target is not None and "target" in call.inputs:
        raise ExportError("an input is called target, as the loss's is: give it another name in input_names")
    inputs = dict(call.inputs) if target is None else {**call.inputs, "target": target}
    state = state_of(module)
    check_memory(state)
    axes = _axes(dynamic or {}, inputs)
    with preserved(module), preserved_values(inputs.values()):
        before = attributes_of(module)
        observation = observe(module, call, state, only_norms=False)
        check_repeats(module, call, observation, before)
        outputs = _output_names(call, list(observation.outputs), output_names)
        warn_of_chance(module, call, state, observation)
        warn_of_evaluation(module, call, state, observation)
        _warn_of_others(observation)
        _warn_of_synchronized(module)
        try:
            if loss is None:
                program = program_of(module, call, observation, inputs, outputs, axes)
                verify_program(program, state, observation, axes)
                check_program(module, call, state, observation, outputs, program)
            else:
                program = _joint(module, call, inputs, outputs, axes, _loss_of(loss, outputs, target), target, state, observation)
        except ExportError as error:
            raise ExportError((_hint(observation) if loss is None else "") + str(error)) from error.__cause__
    write_program(program, path)
    parameters = parameters_of(program, state)
    floats = {name for name, x in state.buffers.items() if x.is_floating_point()}
    return Export(
        path=path,
        exporter=PROGRAM if loss is None else JOINT,
        opset=None,
        inputs=tuple(inputs),
        outputs=tuple(name for name in outputs if loss is None or name != "loss"),
        returned=tuple(outputs),
        parameters=tuple(parameters),
        frozen=tuple(name for name in parameters if not state.parameters[name].requires_grad),
        statistics=tuple(name for name in state.buffers if name in floats and name in observation.updated),
        buffers=tuple(name for name in state.buffers if name in floats and name not in observation.updated),
        dims={f"{name}.{axis}": inputs[name].shape[axis] for name, held in axes.items() for axis in held},
        random=observation.drawn > 0,
    )


def _dependence(call: Call, state: State, observation: Observation) -> Dependence:
    trained = [x for name, x in state.parameters.items() if x.requires_grad or name in observation.written]
    return Dependence([*call.inputs.values(), *trained], [*state.parameters.values(), *state.buffers.values()])


def _joint(module, call, inputs, outputs, axes, loss, target, state, observation) -> torch.export.ExportedProgram:
    """The first of PyTorch's ways to a joint graph that gives one which computes what the module does."""
    failures = []
    for way in (joint_of_autograd,) if observation.derives else (joint_of_program, joint_of_autograd):
        try:
            if way is joint_of_program:  # of which check_joint can tell nothing where it draws other random numbers
                check_gradients(module, call, state, observation, outputs, more="")
            program = way(module, call, observation, inputs, outputs, axes, loss)
            verify_program(program, state, observation, axes)
            check_drawn(program, observation)
            check_joint(module, call, state, observation, outputs, loss, target, program)
            return program
        except ExportError as error:
            failures.append(error)
    raise ExportError("\nOf what autograd runs: ".join(dict.fromkeys(map(str, failures)))) from failures[0].__cause__


def _hint(observation: Observation) -> str:
    if not observation.derives and not observation.duals:
        return ""
    return "forward takes derivatives (torch.autograd.grad, torch.func): export_joint() writes such a module, with its loss. "


def _loss_of(loss, outputs: list[str], target: torch.Tensor | None) -> Loss | None:
    """From the specification or function of `export_joint`."""
    if loss is not None and "loss" in outputs and loss != "output:loss":
        raise ExportError("an output is called loss, as the model's loss is: give it another name in output_names")
    if isinstance(loss, str):
        return make_loss(loss, outputs)
    return loss if loss is None or target is not None else lambda found, _: loss(found)


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
        returned=tuple(outputs),
        parameters=tuple(parameters),
        frozen=tuple(name for name in parameters if not state.parameters[name].requires_grad),
        statistics=tuple(name for name in state.buffers if name in statistics),
        buffers=tuple(name for name in state.buffers if name in floats and name not in statistics),
        dims={dim: call.inputs[name].shape[a] for name, held in axes.items() for a, dim in held.items()},
        random=observation.drawn > 0,
    )


def _warn_of_others(observation: Observation) -> None:
    """Of tensors that PyTorch trains or changes beside what the file does."""
    if observation.strangers:
        text = (
            f"the outputs depend on {', '.join(observation.strangers)}, which require gradients and are no parameters of the module: they "
            "are constants in the file; make them parameters (torch.nn.Parameter, torch.nn.ModuleList) if they are to be trained"
        )
        warn(text)
    if observation.again:
        text = (
            f"PyTorch's backward pass changes {', '.join(observation.again[:20])} as well, as it calls forward again (checkpoint()): in the file "
            "a step changes them once, as without it"
        )
        warn(text)


def _warn_of_synchronized(module: torch.nn.Module) -> None:
    norms = [(name, part) for name, part in module.named_modules() if isinstance(part, torch.nn.SyncBatchNorm)]
    names = [name for name, part in norms if part.training]
    if names:
        text = (
            f"the file does not say that {', '.join(names[:5])}{', ...' * (len(names) > 5)} ({len(names)} SyncBatchNorm) take statistics over "
            "the rows of all processes: `accc compile --data-parallel --sync-batch-norm` lets all batch norms do so, but for those of joint graphs"
        )
        warn(text)


def _exporters(exporter: str) -> tuple[str, ...]:
    if exporter == "auto":
        return ("dynamo", "torchscript")
    if exporter not in EXPORTERS:
        raise ExportError(f"there is no exporter {exporter!r}: choose auto, {', '.join(EXPORTERS)}")
    return (exporter,)


def _check_module(module: torch.nn.Module) -> None:
    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"the module is a {type(module).__name__}, not a torch.nn.Module")
    if any(map(torch.is_autocast_enabled, AUTOCAST)):
        text = "torch.autocast() is on around the export, and the file is of the module without it: accc compile --precision trains in 16 bits"
        warn(text)
    for path, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            what = f"part {path}" if path else "module"
            raise ExportError(f"the {what} is a ScriptModule: export the module that it was made of")
    if hasattr(module, "_orig_mod"):
        raise ExportError("the module was made by torch.compile: export the original, module._orig_mod")
    if isinstance(module, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        raise ExportError(f"the module is a {type(module).__name__}: export the original, module.module")


def _axes(dynamic: Dynamic, inputs: Mapping[str, torch.Tensor]) -> Axes:
    axes: Axes = {}
    for dim, held in dynamic.items():
        sizes = set()
        for name, where in held.items():
            if name not in inputs:
                raise ExportError(f"dynamic: {dim} names the input {name}; there are {', '.join(inputs)}")
            shape = inputs[name].shape
            for axis in (where,) if isinstance(where, int) else where:
                if not -len(shape) <= axis < len(shape):
                    raise ExportError(f"dynamic: {name} of shape {list(shape)} has no axis {axis}")
                other = axes.setdefault(name, {}).setdefault(axis % len(shape), dim)
                if other != dim:
                    raise ExportError(f"dynamic: the axis {axis} of {name} is both {other} and {dim}: give it one of these names")
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
