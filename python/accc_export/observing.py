# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one forward pass shows of a module."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator

import torch
from torch.utils._pytree import tree_leaves

from .calls import Call
from .errors import ExportError
from .functions import backward_nodes, functions_of, parts, same_numbers
from .modules import State, preserved_buffers
from .watching import Calls, Watch


@dataclasses.dataclass
class Observation:
    """What a forward pass in training mode showed."""

    reached: set[str]
    """Parameters that the outputs depend on, by first name."""
    padding: dict[str, int]
    """Parameters by first name -> the row of an embedding that stands for padding, -1 for none."""
    updated: dict[str, str]
    """Running statistics that the pass moved -> the batch norm's name; other buffers that it changed -> nothing."""
    written: set[str]
    """Parameters that the pass wrote into, by first name."""
    stops: bool
    """Whether something was detached, frozen for a while, or computed without gradients."""
    drawn: int
    """Random operations (dropouts) that ran."""
    outputs: dict[str, torch.Size]
    functions: set[str]
    """The subclasses of torch.autograd.Function that a gradient goes through."""
    mistaken: set[str]
    """What PyTorch's older exporter of ONNX gets wrong."""
    overwrites: bool
    """Whether the pass writes into a tensor that has another name, a part of it or one by detach()."""
    masks: set[str]
    """Dropouts that are random masks in files that take them apart."""
    hooks: bool
    """Whether a tensor, a parameter or a part has hooks, which may change gradients."""
    derives: bool
    """Whether forward takes derivatives itself, by torch.autograd.grad or what calls it."""
    duals: bool
    """Whether it takes some by dual numbers, as torch.func.jvp does."""
    fixed: list[torch.Tensor]
    """Numbers and flags that the module holds, and that the pass neither wrote nor replaced."""
    strangers: list[str]
    """Attributes that hold what the outputs have a gradient of, and that is no parameter."""
    again: list[str]
    """Buffers that the backward pass changed as well."""


def observe(module: torch.nn.Module, call: Call, state: State, *, only_norms: bool = True) -> Observation:
    """Runs the module once, forward and backward. To be called within `preserved`; what the pass changed is put back.

    Raises ExportError where a forward pass changes what a file cannot say that it changes: with `only_norms`, all but
    the statistics of batch norms.
    """
    for name, x in state.parameters.items():
        if x._post_accumulate_grad_hooks:
            raise ExportError(
                f"the parameter {name} has a hook that runs when its gradient is there (register_post_accumulate_grad_hook), and a file has "
                "no such thing: remove it, and do what it does between grad_step and apply_step"
            )
    before = state.snapshot().buffers
    watch = Watch(state.parameters)
    calls = Calls(watch)
    integers = {x: (x._version, x.detach().clone()) for x in _integers(module)}
    unnamed = _unnamed(module, state)
    computed = {name: x for name, x in state.buffers.items() if not x.is_leaf}
    trained = {name: x.requires_grad for name, x in state.parameters.items()}
    with preserved_buffers(module):
        try:
            with _all_trainable(state), torch.enable_grad():
                with watch, calls:
                    outputs = call.run(module)
                moved = {name: x.detach().clone() for name, x in module.named_buffers(remove_duplicate=False)}
                set_in_forward = [(name, False) for name, x in state.parameters.items() if x.is_floating_point() and not x.requires_grad]
                nodes = backward_nodes(outputs.values())
                functions = functions_of(nodes) - {_HOOKED}
                reached = _reached(outputs, state, computed, functions)
        finally:
            watch.put_back()
        after = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}
        again = sorted(n for n, x in moved.items() if n in after and not same_numbers(x, after[n]))
        changed = [n for n, x in before.items() if after.get(n) is None or not same_numbers(x, after[n])]
        # `x.data = y` replaces the numbers and leaves the version.
        fixed = [x for x in _integers(module) if x in integers and x._version == integers[x][0] and same_numbers(x, integers[x][1])]
    set_in_forward += [(name, True) for name, x in state.parameters.items() if x in calls.required[True] and not trained[name]]
    for name, required in set_in_forward:
        raise ExportError(
            f"forward sets requires_grad={required} for the parameter {name}, which a file cannot say: set it before the export"
        )
    counts = {id(state.buffers[name]) for name in changed}
    for path, part in module.named_modules():  # of which each step has another factor
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.momentum is None and id(part.num_batches_tracked) in counts:
            raise ExportError(f"the batch norm {path} averages over all batches (momentum=None): give it a momentum")
    if only_norms and watch.written:
        raise ExportError(
            f"the forward pass writes into the parameter {sorted(watch.written)[0]} (max_norm of an embedding does), and "
            "ONNX has no way to say so: give the file a name that ends in .pt2"
        )
    masks = {f"{name} drops in training alone" for name in calls.masks}
    if only_norms and (unknown := watch.unknown | calls.unknown | masks):
        raise ExportError(
            f"{' and '.join(sorted(unknown))}, and ONNX has no way to say so: give the file a name that ends in .pt2"
        )
    updated = _statistics(module, changed, state) if only_norms else dict.fromkeys(changed, "")
    return Observation(
        reached=reached,
        padding={n: max(watch.lookups.get(id(x), {-1})) for n, x in state.parameters.items()},
        updated=updated,
        written=set(watch.written),
        stops=watch.stops or bool(calls.required[False]),
        drawn=watch.drawn,
        outputs={name: x.shape for name, x in outputs.items()},
        functions=functions,
        mistaken=watch.mistaken,
        overwrites=watch.overwrites,
        masks=calls.masks,
        hooks=calls.hooks or any(x._backward_hooks for x in state.parameters.values()) or _has_backward_hooks(module),
        derives=calls.derives,
        duals=calls.duals,
        fixed=fixed,
        strangers=sorted({unnamed[x.variable] for x in nodes if getattr(x, "variable", None) in unnamed}),
        again=again,
    )


def _unnamed(module: torch.nn.Module, state: State) -> dict[torch.Tensor, str]:
    """What requires a gradient in attributes, and in modules there, beside parameters and buffers -> the attribute."""
    known = {*state.parameters.values(), *state.buffers.values()}
    found = {}
    for path, part in module.named_modules():
        for name, held in vars(part).items():
            for x in tree_leaves(held):
                tensors = x.parameters() if isinstance(x, torch.nn.Module) else [x] if isinstance(x, torch.Tensor) else []
                found |= {x: f"{path}.{name}" if path else name for x in tensors if x.requires_grad and x.is_leaf and x not in known}
    return found


_HOOKED = "BackwardHookFunction"
"""What a part that has hooks goes through."""


def _has_backward_hooks(module: torch.nn.Module) -> bool:
    of_all = torch.nn.modules.module._global_backward_hooks or torch.nn.modules.module._global_backward_pre_hooks
    return bool(of_all) or any(part._backward_hooks or part._backward_pre_hooks for part in module.modules())


def _integers(module: torch.nn.Module) -> list[torch.Tensor]:
    """The integers and truth values among the module's buffers and other attributes."""
    held = [x for part in module.modules() for x in tree_leaves(vars(part)) if isinstance(x, torch.Tensor)]
    return [x for x in held if not (x.is_floating_point() or x.is_complex() or x.is_inference())]


@contextlib.contextmanager
def _all_trainable(state: State) -> Iterator[None]:
    """Frozen parameters take part in the export as others do."""
    frozen = [x for x in state.parameters.values() if x.is_floating_point() and not x.requires_grad]
    for parameter in frozen:
        parameter.requires_grad_(True)
    try:
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def metadata(state: State, observation: Observation, initializers: set[str]) -> str:
    """What a file says of its initialisers, as JSON text."""
    parameters = []
    for name, parameter in state.parameters.items():
        entry = {"name": name, "requires_grad": parameter.requires_grad, "aliases": state.aliases[name]}
        if observation.padding[name] >= 0:
            entry["padding_idx"] = observation.padding[name]
        parameters.append(entry)
    buffers = [{"name": name, "persistent": name in state.persistent} for name in state.buffers]
    held = {
        "parameters": [entry for entry in parameters if entry["name"] in initializers],
        "buffers": [entry for entry in buffers if entry["name"] in initializers],
    }
    return json.dumps({"version": 1, **held})


def _reached(outputs: dict[str, torch.Tensor], state: State, computed: dict[str, torch.Tensor], functions: set[str]) -> set[str]:
    """The parameters that some output depends on. Raises ExportError if one depends on a buffer that was `computed` of others, or
    one of the `functions` adds to gradients itself."""
    names = [name for name, x in state.parameters.items() if x.requires_grad]
    sums = [parts(x).sum() for x in outputs.values() if x.requires_grad]
    if not names or not sums:
        return set()
    try:
        leaves = [*(state.parameters[name] for name in names), *computed.values()]
        gradients = torch.autograd.grad(sums, leaves, allow_unused=True, retain_graph=bool(functions))
        added = _with_gradients(sums, {name: state.parameters[name] for name in names}) if functions else []
    except RuntimeError as error:
        raise ExportError(f"PyTorch cannot differentiate the module: {error}") from error
    for name, gradient in zip(computed, gradients[len(names) :]):
        if gradient is not None:
            raise ExportError(f"a gradient flows through the buffer {name} to what it was computed of, when it was made: use detach() there")
    reached = {name for name, gradient in zip(names, gradients) if gradient is not None}
    if alone := [name for name in added if name not in reached]:
        raise ExportError(
            f"a torch.autograd.Function ({', '.join(sorted(functions))}) calls backward() itself, which adds the gradients of {', '.join(alone[:5])} "
            "where no export sees it: let autograd compute them (of torch.utils.checkpoint, use_reentrant=False)"
        )
    return reached


def _with_gradients(sums: list[torch.Tensor], parameters: dict[str, torch.Tensor]) -> list[str]:
    """Those to which backward() adds a gradient."""
    before = {name: x.grad for name, x in parameters.items()}
    try:
        for x in parameters.values():
            x.grad = None
        torch.autograd.backward(sums)
        return [name for name, x in parameters.items() if x.grad is not None]
    finally:
        for name, x in parameters.items():
            x.grad = before[name]


def _statistics(module: torch.nn.Module, changed: list[str], state: State) -> dict[str, str]:
    """The batch norms whose statistics are among the changed buffers; no other buffer may be."""
    first = state.first_names()
    owners: dict[str, str] = {}
    for path, part in module.named_modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            for leaf in ("running_mean", "running_var", "num_batches_tracked"):
                name = f"{path}.{leaf}" if path else leaf
                owners[first.get(name, name)] = path
    result = {}
    for name in changed:
        if name not in owners:
            raise ExportError(
                f"the forward pass changes the buffer {name}, and ONNX has no way to say so: only batch norms "
                "may move statistics. Compute it outside of the module, or make it a parameter"
            )
        if not name.endswith("num_batches_tracked"):
            result[name] = owners[name]
    return result
