# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of torch.export that hold their backward pass."""

import contextlib
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from unittest import mock

import torch
import torch.utils._pytree as pytree
from torch._higher_order_ops import effects
from torch.export.exported_program import _decompose_exported_program
from torch.export.graph_signature import InputKind, OutputKind

from .errors import ExportError

_APART = "accc_input_"

AS_THEY_ARE = {"cia_to_decomp": {}, "python_decomp_table": {}, "decompose_custom_triton_ops": False}
"""Of _decompose_exported_program: no operator is taken apart."""


def with_backward(program: torch.export.ExportedProgram, loss_index: int = 0) -> torch.export.ExportedProgram:
    """The program with the gradients of its parameters: a joint graph. One of its outputs is the loss; others are detached.

    What torch.export.experimental._export_forward_backward does, without taking operators apart: accc knows those that
    autograd calls, and PyTorch (2.15) fails to take some of them apart (causal attention of transposed heads).
    """
    prepare(program, loss_index)
    names = _give_names_apart(program)
    frozen = _take_for_buffers(program)
    with plain_checks():
        joint = _decompose_exported_program(program, joint_loss_index=loss_index, **AS_THEY_ARE)
    _take_for_parameters(joint, frozen)
    _give_names(joint, names)
    return joint


def _take_for_buffers(program: torch.export.ExportedProgram) -> set[str]:
    """Makes frozen parameters, which forward may write into (an average of others), buffers: PyTorch (2.15) makes no joint graph of
    writes into parameters. Returns their names."""
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.PARAMETER]
    frozen = [spec for spec in specs if not program.state_dict[spec.target].requires_grad]
    for spec in frozen:
        spec.kind, spec.persistent = InputKind.BUFFER, True
    return {spec.target for spec in frozen}


def _take_for_parameters(joint: torch.export.ExportedProgram, names: set[str]) -> None:
    """Makes them parameters again."""
    for spec in joint.graph_signature.input_specs:
        if spec.kind is InputKind.BUFFER and spec.target in names:
            spec.kind, spec.persistent = InputKind.PARAMETER, None
    for spec in joint.graph_signature.output_specs:
        if spec.kind is OutputKind.BUFFER_MUTATION and spec.target in names:
            spec.kind = OutputKind.PARAMETER_MUTATION


@contextlib.contextmanager
def plain_checks() -> Iterator[None]:
    """Inside, graphs keep the check that torch.linalg makes of a factorization as an operator like others.

    PyTorch (2.15) gives it an effect, for whose order it finds no place in a joint graph.
    """
    check = torch.ops.aten._linalg_check_errors.default
    effect = effects._get_effect(check) if hasattr(effects, "_get_effect") else None  # older PyTorch gives it none
    with contextlib.ExitStack() as stack:
        kept = {*torch.fx.node._side_effectful_functions, check}
        stack.enter_context(mock.patch.object(torch.fx.node, "_side_effectful_functions", kept))
        if effect is not None:
            effects._register_effectful_op(check, None)
            stack.callback(effects._register_effectful_op, check, effect)
        yield


def behind(nodes: Iterable[torch.fx.Node], read: Callable[[torch.fx.Node], Iterable[torch.fx.Node]] | None = None) -> set[torch.fx.Node]:
    """These and all nodes on which they hang, by what each reads: by default its inputs."""
    pending = list(nodes)
    found = set(pending)
    while pending:
        node = pending.pop()
        new = set(read(node) if read else node.all_input_nodes) - found
        found |= new
        pending.extend(new)
    return found


def prepare(program: torch.export.ExportedProgram, loss_index: int = 0) -> None:
    """Makes a program fit for a joint graph, which PyTorch (2.15) refuses of two kinds of parameters, and of buffers with a gradient.

    The gradient of a tied one becomes that of its first name, and one that does not reach the loss has none, as no buffer has. Raises
    ExportError where PyTorch would make another program of it.
    """
    _check_windows(program)
    _stop_at_buffers(program)
    _merge_tied(program)
    _stop_unreached(program, loss_index)


def _check_windows(program) -> None:
    """Refuses writes into windows of unfold() that leave elements out, or share them.

    PyTorch (2.15) writes windows back as a sum of them, into zeros.
    """
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            written = node.args[0] if node.args and aliases(node, writes=True) else None
            if any(not _are_parts(window) for window in _windows(written)):
                raise ExportError("forward writes into windows of unfold(), and a joint graph loses what lies between them")


def aliases(node, writes=False) -> bool:
    """Whether the first argument of a call is one with its result, or is written."""
    schema = getattr(node.target, "_schema", None)
    alias = schema.arguments[0].alias_info if schema and schema.arguments else None
    return bool(alias) and (alias.is_write or not writes)


def _windows(node):
    """The calls of unfold() that a value is a view of."""
    while isinstance(node, torch.fx.Node) and node.args and aliases(node):
        if node.target is torch.ops.aten.unfold.default:
            yield node
        node = node.args[0]


def _are_parts(window) -> bool:
    x, dim, size, step = window.args
    return size == step and x.meta["val"].shape[dim] % size == 0


def _give_names_apart(program) -> dict[str, str]:
    """Names the inputs as no operator is named, of which PyTorch (2.15) loses the gradients then: new name -> old name.

    A module with the argument t, or T, would have none, since `t` is the transpose of each linear layer.
    """
    names = {f"{_APART}{i}": name for i, name in enumerate(program.graph_signature.user_inputs) if isinstance(name, str)}
    _rename(program, {old: new for new, old in names.items()})
    return names


def _give_names(program, names: dict[str, str]) -> None:
    """Other nodes that bear one of the names get another."""
    held = {node.name for node in program.graph.nodes}
    free = (name for i in itertools.count() if (name := f"{_APART}{i}") not in held)
    others = {name: next(free) for name in names.values() if name in held}
    _rename(program, others)
    _rename(program, names)


def _rename(program, names: dict[str, str]) -> None:
    for node in program.graph.nodes:
        if (new := names.get(node.name)) is None:
            continue
        program.graph_signature.replace_all_uses(node.name, new)
        for spec in program.graph_signature.output_specs:
            if spec.kind in (OutputKind.GRADIENT_TO_USER_INPUT, OutputKind.USER_INPUT_MUTATION) and spec.target == node.name:
                spec.target = new
        node.name = new
        if node.op == "placeholder":
            node.target = new
    program.graph_module.recompile()


def _held(program, kind: InputKind):
    """The name and the placeholder of each parameter, or of each buffer."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = program.graph_signature.input_specs
    return [(spec.target, nodes[spec.arg.name]) for spec in specs if spec.kind is kind]


def _stop_at_buffers(program) -> None:
    """Freezes the buffers: one that was computed of a parameter has a gradient, and forward may ask for one (`zero.requires_grad_()`)."""
    for name, node in _held(program, InputKind.BUFFER):
        _freeze(node)
        if (value := program.state_dict.get(name)) is not None and value.requires_grad:
            program.state_dict[name] = value.detach()


def _merge_tied(program) -> None:
    """Lets every reader of a tied parameter or buffer read the first of its names."""
    first = {}
    for name, node in (*_held(program, InputKind.PARAMETER), *_held(program, InputKind.BUFFER)):
        value = program.state_dict[name] if name in program.state_dict else program.constants[name]
        kept = first.setdefault(id(value), node)
        if kept is not node:
            node.replace_all_uses_with(kept)
            node.meta["val"] = torch.empty_like(node.meta["val"], requires_grad=False)  # of which forward writes into none
    program.graph_module.recompile()


def _stop_unreached(program, loss_index: int) -> None:
    """Freezes the parameters to which no gradient of the loss flows."""
    args, kwargs = program.example_inputs
    module = copy.deepcopy(program.module())  # whose buffers a forward pass may change
    names = unreached(module, args, lambda found: pytree.tree_leaves(found)[loss_index], kwargs)
    for name, node in _held(program, InputKind.PARAMETER):
        if name in names:
            _freeze(node)


def unreached(module: torch.nn.Module, args, loss, kwargs=None) -> set[str]:
    """The trained parameters, by each of their names, to which no gradient of `loss(what the module returns)` flows."""
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        value = loss(module(*args, **(kwargs or {})))
        trained = {name: x for name, x in module.named_parameters(remove_duplicate=False) if x.requires_grad}
        gradients = torch.autograd.grad(value, list(trained.values()), allow_unused=True)
    return {name for name, gradient in zip(trained, gradients) if gradient is None}


def _freeze(node) -> None:
    node.meta["val"] = node.meta["val"].detach()
