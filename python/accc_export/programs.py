# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of torch.export, with or without the backward pass."""

import contextlib
import operator
import pathlib
import warnings
from collections.abc import Mapping

import torch
from torch.export.graph_signature import InputKind

from .aliases import read_state
from .attributes import preserved_attributes
from .calls import Call, flat_forward
from .checks import traced_past_checks
from .constants import known_constants
from .data import TracedFreezes, settled_parts, traced_data
from .dropouts import plain_drop_paths, plain_dropouts
from .errors import ExportError
from .exporters import Axes, Shapes, open_shapes, with_ranges
from .failures import first_lines
from .files import write_whole
from .joint import aliases, behind, with_backward
from .masks import plain_indices
from .modules import State
from .observing import Observation
from .sizes import traced_alignments, traced_selections
from .training import Loss

PROGRAM, JOINT = "torch.export", "joint"


_NUMBERS = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)


def program_of(
    module: torch.nn.Module,
    call: Call,
    observation: Observation,
    inputs: Mapping[str, torch.Tensor],
    outputs: list[str],
    axes: Axes,
    loss: Loss | None = None,
) -> torch.export.ExportedProgram:
    """The module as torch.export has it, which returns a dict of its outputs; with a loss, that first, and others detached."""

    def exported(shapes: Shapes | None) -> torch.export.ExportedProgram:
        with preserved_attributes(module):
            return torch.export.export(module, tuple(inputs.values()), dynamic_shapes=shapes, strict=False)

    def traced() -> torch.export.ExportedProgram:
        with _traceable(module, call, observation.fixed, inputs, outputs, loss):
            return with_ranges(exported, inputs, axes)

    try:
        program = traced_past_checks(traced, module, call)
        read_state(program, module, observation.updated)
        return _without_known_numbers(program)
    except ExportError:
        raise
    except Exception as error:  # whatever the tracer and the module's own code raise
        raise ExportError(f"torch.export fails: {first_lines(error)}") from error


def _without_known_numbers(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Of a number that known_constants() knows, the graph holds the call that nothing reads, and PyTorch (2.15) reads no file with one."""
    for node in list(program.graph.nodes):
        number = node.meta.get("val")
        if node.target in _NUMBERS and not node.users and not isinstance(number, (torch.SymBool, torch.SymFloat, torch.SymInt)):
            program.graph.erase_node(node)
    program.graph_module.recompile()
    return program


def joint_of_program(module, call: Call, observation: Observation, inputs, outputs, axes: Axes, loss: Loss) -> torch.export.ExportedProgram:
    """The joint graph of such a program, which returns the loss first."""
    apart = {name: x.detach() for name, x in inputs.items()}  # of which a file gives no gradients
    program = program_of(module, call, observation, apart, outputs, axes, loss)
    try:
        with traced_alignments():
            return with_backward(program)
    except Exception as error:  # whatever PyTorch does not expect of the graph
        raise ExportError(
            f"PyTorch makes no joint graph of the module ({type(error).__name__}: {first_lines(error)}). "
            "accc derives the backward pass of a program without one: export() writes it, with a loss that forward returns"
        ) from error


def joint_of_autograd(module, call: Call, observation: Observation, inputs, outputs, axes: Axes, loss: Loss) -> torch.export.ExportedProgram:
    """The same of what autograd runs: derivatives that forward takes, backward passes of functions of its own, hooks of tensors."""
    from .traced_joint import trace_joint  # loads much of PyTorch, for seconds

    def traced() -> torch.export.ExportedProgram:
        with preserved_attributes(module), _traceable(module, call, observation.fixed, inputs, outputs, loss), plain_dropouts(as_factors=True):
            return trace_joint(module, tuple(inputs.values()), open_shapes(inputs, axes))

    try:
        return traced_past_checks(traced, module, call)
    except ExportError:
        raise
    except Exception as error:  # likewise
        raise ExportError(f"PyTorch traces no graph ({type(error).__name__}: {first_lines(error)})") from error


@contextlib.contextmanager
def _traceable(
    module: torch.nn.Module, call: Call, fixed: list[torch.Tensor], inputs: Mapping[str, torch.Tensor], outputs: list[str], loss: Loss | None
):
    for name in inputs:
        if not name.isidentifier():
            raise ExportError(f"the input {name} has a name that no argument of a program can have")

    def returned(found, rest):
        named = dict(zip(outputs, found.values()))
        if loss is None:
            return named
        value = loss(named, rest[0] if rest else None)
        if value.numel() != 1 or not value.is_floating_point():
            raise ExportError(f"the loss is no scalar, but {value.dtype} of shape {list(value.shape)}")
        return {"loss": value, **{name: x.detach() for name, x in named.items() if name != "loss"}}

    with warnings.catch_warnings(), known_constants(fixed), flat_forward(module, call, list(inputs), returned):
        warnings.simplefilter("ignore")
        dropouts = contextlib.nullcontext() if loss is None else plain_dropouts()
        with plain_drop_paths(), dropouts, plain_indices(), traced_data(), TracedFreezes(), settled_parts(), traced_alignments(), traced_selections():
            yield


def parameters_of(program: torch.export.ExportedProgram, state: State) -> list[str]:
    """The parameters that the program reads for an output or a write, by first name."""
    read = _read(program.graph)
    first = state.first_names()
    names = {
        first[spec.target]
        for spec in program.graph_signature.input_specs
        if spec.kind is InputKind.PARAMETER and spec.arg.name in read
    }
    return [name for name in state.parameters if name in names]


_SHAPED = ("_assert_tensor_metadata", "empty_like", "full_like", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like")
"""Operators that read of a tensor its shape and type."""


def _read(graph: torch.fx.Graph) -> set[str]:
    """The names of the nodes on whose values an output hangs, or one that writes."""
    shaped = {getattr(torch.ops.aten, name) for name in _SHAPED}

    def read(node):
        return () if getattr(node.target, "overloadpacket", None) in shaped else _read_by(node)

    ends = [node for node in graph.nodes if node.op != "placeholder" and node.is_impure(impure_random=False)]
    written = {node: _root(node) for node in ends if aliases(node, writes=True)}
    found = behind((node for node in ends if written.get(node, node).op == "placeholder" or node not in written), read)
    while more := [node for node, root in written.items() if root in found and node not in found]:
        found |= behind(more, read)
    return {node.name for node in found}


_AROUND = ("wrap_with_autocast", "wrap_with_set_grad_enabled")
"""Higher-order operators that run a graph once, under torch.autocast() or torch.no_grad(): its inputs are the arguments behind it."""


def _read_by(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The nodes whose values a node asks for. A graph that it runs may have inputs that lead to none of its results."""
    if node.op != "call_function" or getattr(node.target, "__name__", "") not in _AROUND:
        return node.all_input_nodes
    place, body = next((i, x) for i, x in enumerate(node.args) if isinstance(x, torch.fx.Node) and x.op == "get_attr")
    graph = getattr(node.graph.owning_module, body.target).graph
    read, inner = _read(graph), [each for each in graph.nodes if each.op == "placeholder"]
    return [x for x, each in zip(node.args[place + 1 :], inner) if each.name in read and isinstance(x, torch.fx.Node)]


def _root(node: torch.fx.Node) -> torch.fx.Node:
    """What a value is a view of, or was written into."""
    while isinstance(node.args[0] if node.args else None, torch.fx.Node) and (aliases(node) or node.target is operator.getitem):
        node = node.args[0]
    return node


def verify_program(program: torch.export.ExportedProgram, state: State, observation: Observation, axes: Axes) -> None:
    """Raises ExportError for what the file does not say: parameters that are not in it, memory that it does not show shared, and dimensions
    that are to be open and have a size."""
    missing = observation.reached - set(parameters_of(program, state))
    problems = [f"the parameter {name} is missing" for name in sorted(missing)]
    if any(node.op == "call_function" and "_make_dual" in str(node.target) for node in program.graph.nodes):
        problems.append("it has calls of dual numbers (torch.func.jvp, torch.autograd.forward_ad) in place of the derivatives")
    memory = {x.untyped_storage().data_ptr(): name for name, x in state.parameters.items() if x.requires_grad and x.numel()}
    for name, buffer in state.buffers.items():
        other = memory.get(buffer.untyped_storage().data_ptr())
        if other is not None and name not in state.persistent:
            problems.append(f"the buffer {name} shares its memory with the parameter {other}, and is stored apart")
    problems += _fixed_dimensions(program, axes)
    if problems:
        raise ExportError("the exported program is not the module's: " + "; ".join(problems[:20]))


def _fixed_dimensions(program: torch.export.ExportedProgram, axes: Axes) -> list[str]:
    """Joint graphs of some models have them: PyTorch (2.15) fixes, without a word, a size that a pass of its own needs."""
    problems = []
    for node in program.graph.find_nodes(op="placeholder"):
        for axis, dim in axes.get(node.name, {}).items():
            found = node.meta["val"].shape[axis]
            if isinstance(found, int) or found.node.expr.is_number:
                problems.append(f"the dimension {dim} (axis {axis} of {node.name}) is not open, but {found}")
    return problems


def check_drawn(program: torch.export.ExportedProgram, observation: Observation) -> None:
    """Raises ExportError where a joint graph has other randomness than the module: where it drops in evaluation, too, or draws
    less often, as PyTorch (2.15) takes recurrent layers apart without their dropout. Higher-order operators draw in graphs of their own, as often as these run."""
    if observation.masks:
        raise ExportError(f"{sorted(observation.masks)[0]} drops in training alone, and a joint graph has no way to say so")
    called = [node.target for node in program.graph.nodes if node.op == "call_function"]
    drawn = sum(torch.Tag.nondeterministic_seeded in getattr(target, "tags", ()) for target in called)
    if drawn < observation.drawn and not any(isinstance(target, torch._ops.HigherOrderOperator) for target in called):
        raise ExportError(
            f"{observation.drawn} random operations (dropout) ran in the module, and {drawn} are in the joint graph: PyTorch loses "
            "the dropout of recurrent layers there. Export the module without its backward pass"
        )


_OF_TRACING = ("stack_trace", "from_node")
"""What nodes tell of how they were traced: lines of the module's code, and graphs by their address."""


def write_program(program: torch.export.ExportedProgram, path: pathlib.Path) -> None:
    """Writes the program, without what tells of the machine and the batch that it was exported with. Raises ExportError for what no file
    can hold."""
    for part in program.graph_module.modules():
        if isinstance(part, torch.fx.GraphModule):
            for node in part.graph.nodes:
                for name in _OF_TRACING:
                    node.meta.pop(name, None)
    program._example_inputs = None
    _resolve(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_whole(path, lambda file: _save(program, file))


def _save(program: torch.export.ExportedProgram, file: str) -> None:
    try:
        torch.export.save(program, file)
    except OSError:
        raise
    except Exception as error:  # whatever PyTorch has no form for
        raise ExportError(f"torch.export.save fails: {first_lines(error)}") from error


def _resolve(program: torch.export.ExportedProgram) -> None:
    """Conjugates and negatives as such: the file (of 2.15) has the numbers in their memory, and loses the bit that says what to do with them."""
    resolved: dict[int, torch.Tensor] = {}
    for held in (program.state_dict, program.constants):
        for name, x in held.items():
            if not isinstance(x, torch.Tensor) or not (x.is_conj() or x.is_neg()):
                continue
            if id(x) not in resolved:
                y = x.detach().resolve_conj().resolve_neg()
                resolved[id(x)] = torch.nn.Parameter(y, x.requires_grad) if isinstance(x, torch.nn.Parameter) else y
            held[name] = resolved[id(x)]
