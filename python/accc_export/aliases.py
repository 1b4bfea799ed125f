# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors in the memory of parameters, and of buffers that move, that a module keeps, as the w.detach() of a target: they are trained and
move with these."""

import contextlib
import gc
from collections.abc import Container, Iterator

import torch
from torch.export.graph_signature import InputKind
from torch.utils._pytree import tree_leaves

from .calls import Call
from .bodies import WatchingMode
from .errors import ExportError
from .modules import State, address_of, preserved_buffers, preserved_values

Alias = tuple[torch.Tensor, str]


def aliases_of(parameters: dict[str, torch.Tensor]) -> list[Alias]:
    """All tensors that are there in the memory of one of these, wherever they are kept, with its name."""
    memory = {address_of(x): name for name, x in parameters.items() if x.numel()}
    tensors = [x for x in gc.get_objects() if type(x) is torch.Tensor and not x.is_sparse and x.numel()]
    return [(x, memory[address_of(x)]) for x in tensors if address_of(x) in memory.keys() - {0}]


def check_aliases(module: torch.nn.Module, call: Call, state: State) -> None:
    """Raises ExportError where forward reads such a tensor, of which ONNX holds the numbers of now. To be called within `preserved`."""
    kept = aliases_of({name: x for name, x in state.parameters.items() if x.requires_grad})
    if not kept:
        return
    watch = _Reads(kept)
    with preserved_buffers(module), preserved_values(state.parameters.values()), torch.random.fork_rng(devices=[]), torch.enable_grad(), watch:
        call.run(module)
    if watch.found:
        raise ExportError(
            f"forward reads a tensor that it keeps in the memory of the parameter {sorted(watch.found)[0]} (detach() gives one), and "
            "ONNX has no way to say so: give the file a name that ends in .pt2"
        )


class _Reads(WatchingMode):
    """Sees which of the tensors operators take."""

    def __init__(self, kept: list[Alias]) -> None:
        super().__init__()
        self.tensors = kept  # lest one goes, and another gets its identity
        self.kept, self.found = {id(x): name for x, name in kept}, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.found |= {self.kept[id(x)] for x in tree_leaves((args, kwargs)) if id(x) in self.kept}
        return func(*args, **(kwargs or {}))


def read_state(program: torch.export.ExportedProgram, module: torch.nn.Module, updated: Container[str] = ()) -> None:
    """Lets what reads such a tensor read the parameter, or the buffer of `updated`, in whose memory it is: the program holds it as a
    constant, with the numbers of now."""
    state = _state(module)
    memory = {address_of(x): name for name, x in state.items() if x.numel()}
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = program.graph_signature.input_specs
    held = {spec.target: (nodes[spec.arg.name], spec.kind) for spec in specs if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER)}
    first = next(node for node in program.graph.nodes if node.op != "placeholder")
    for spec in specs:
        value = program.constants.get(spec.target) if spec.kind is InputKind.CONSTANT_TENSOR else None
        name = memory.get(address_of(value)) if isinstance(value, torch.Tensor) and value.numel() else None
        if name not in held:
            continue
        node, kind = held[name]
        if kind is InputKind.BUFFER and name not in updated:
            continue
        layout = [(x.shape, x.stride(), x.storage_offset(), x.dtype) for x in (value, state[name])]
        if layout[0] != layout[1]:
            what = "parameter" if kind is InputKind.PARAMETER else "buffer"
            raise ExportError(f"forward reads a part of the {what} {name} that it keeps in an attribute: let it take the part when it needs it")
        if kind is InputKind.PARAMETER:
            with program.graph.inserting_before(first):
                detached = program.graph.call_function(torch.ops.aten.detach.default, (node,))
            detached.meta["val"] = node.meta["val"].detach()
            node = detached
        nodes[spec.arg.name].replace_all_uses_with(node)
    program.graph_module.recompile()


@contextlib.contextmanager
def followed(module: torch.nn.Module) -> Iterator[None]:
    """Inside, parameters and buffers may get other memory: what was in that which they had is in theirs behind."""
    before = _state(module)
    kept = [(x, name, x.storage_offset() - before[name].storage_offset()) for x, name in aliases_of(before) if x.dtype == before[name].dtype]
    yield
    after = _state(module)
    for x, name, first in kept:
        if x is not after[name] and first >= 0:
            x.data = after[name].data.as_strided(x.shape, x.stride(), first)


def _state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}
