# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joint graphs of what autograd runs, where torch.export cannot follow the module or loses something of it: its forward may take
derivatives (torch.autograd.grad, torch.func.grad, jacrev, hessian, jvp), and have functions with backward passes of their own."""

import contextlib
import inspect
import operator
from collections.abc import Iterator
from unittest import mock

import torch
import torch.utils._pytree as pytree
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._functorch.aot_autograd import aot_export_module
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export.exported_program import _decompose_exported_program
from torch.export.graph_signature import OutputKind
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from .aliases import read_state
from .errors import ExportError
from .exporters import Shapes
from .joint import AS_THEY_ARE, behind, plain_checks, unreached
from .modules import preserved_buffers

_GRADIENT = "gradient of "


def trace_joint(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], shapes: Shapes | None = None) -> torch.export.ExportedProgram:
    """A program as `with_backward` gives it, of a module whose forward takes flat tensors and returns a dict, the loss first.

    `shapes` are the open dimensions of each input, as torch.export takes them. To be called where another forward of the module
    may be left behind.
    """
    with plain_checks():
        joint = _trace(module, inputs, shapes)
    _check_evaluation(joint)
    return joint


def _trace(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], shapes: Shapes | None) -> torch.export.ExportedProgram:
    inputs = tuple(x.detach().clone() for x in inputs)
    forward, names = module.forward, []
    trained = [name for name, x in _parameters(module).items() if x.requires_grad]
    tied = _tied(module)
    skipped = set(tied)
    cut = set(tied)  # as traced: of some operators PyTorch takes apart, it takes other derivatives, which are zero

    def flat(*tensors):
        held = _parameters(module)
        for name, first in tied.items():
            part, _, leaf = name.rpartition(".")
            module.get_submodule(part)._parameters[leaf] = held[first]
        # An argument that forward makes a leaf would get a gradient, and PyTorch counts outputs twice that share memory.
        (name, loss), *others = forward(*(x.detach() for x in tensors)).items()
        names[:] = (name, *(name for name, _ in others))
        if cut:
            loss = _Reach.apply(loss, *(held[name] for name in trained if name in cut))
        return loss, *(x.detach().clone() for _, x in others)

    vars(module)["forward"] = flat
    with preserved_buffers(module):
        skipped |= unreached(module, inputs, lambda found: found[0])
    with preserved_buffers(module), enable_python_dispatcher():
        cut |= skipped | unreached(module, inputs, lambda found: found[0])
    environment = ShapeEnv()
    traced = _fakes(inputs, shapes or ({},) * len(inputs), environment)
    known = len(environment.guards)
    with _exporting(), _named_once(module):
        graph, signature = aot_export_module(module, traced, trace_joint=True, output_loss_index=0)
    if asked := [str(guard.expr) for guard in environment.guards[known:]]:
        raise ExportError(f"what it runs depends on the size of an open dimension ({', '.join(asked)})")

    def replayed(*tensors):
        held = _parameters(module) | _buffers(module)
        results = list(graph(*held.values(), *tensors))
        for name in signature.buffers_to_mutate.values():
            held[name].copy_(results.pop(0))
        results = results[len(signature.user_inputs_to_mutate) :]
        outputs, gradients = results[: len(names)], zip(trained, results[len(names) :], strict=True)
        return dict(zip(names, outputs)) | {_GRADIENT + name: x for name, x in gradients if name not in skipped}

    replayed.__signature__ = inspect.signature(forward)
    vars(module)["forward"] = replayed
    with torch.no_grad():
        program = torch.export.export(module, inputs, dynamic_shapes=shapes, strict=False)
    read_state(program, module)
    joint = _decompose_exported_program(program, joint_loss_index=None, **AS_THEY_ARE)
    _say_what_is_what(joint, names, [name for name in trained if name not in skipped])
    return joint


@contextlib.contextmanager
def _exporting() -> Iterator[None]:
    """As inside torch.export: where a module asks whether it is exported, it does not look at values, which a trace has none of.
    A distribution that checks its arguments then leaves an assertion in the graph."""
    with contextlib.ExitStack() as stack:
        for name in ("_is_compiling_flag", "_is_exporting_flag"):
            if hasattr(torch.compiler, name):  # 2.6 knows no difference
                stack.enter_context(mock.patch.object(torch.compiler, name, True))
        yield


def _fakes(inputs: tuple[torch.Tensor, ...], shapes: Shapes, environment: ShapeEnv) -> tuple[torch.Tensor, ...]:
    """Tensors without values, with symbols for their open dimensions. Others that forward meets, but parameters and buffers, are constants."""
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=environment)
    made, sizes = [], {}
    for i, (x, held) in enumerate(zip(inputs, shapes)):
        kinds = [DimDynamic.DYNAMIC if axis in held else DimDynamic.STATIC for axis in range(x.dim())]
        context = StatelessSymbolicContext(dynamic_sizes=kinds)
        made.append(mode.from_tensor(x, symbolic_context=context, source=ConstantSource(f"input {i}")))
        for axis, dim in held.items():
            torch._check(sizes.setdefault(dim.__name__, made[-1].shape[axis]) == made[-1].shape[axis])
    return tuple(made)


def _parameters(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Those of each part of the module, by the first path to the part: one may be in several places."""
    parts = module.named_modules()
    return {f"{path}.{name}".lstrip("."): x for path, part in parts for name, x in part._parameters.items() if x is not None}


def _buffers(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    parts = module.named_modules()
    return {f"{path}.{name}".lstrip("."): x for path, part in parts for name, x in part._buffers.items() if x is not None}


@contextlib.contextmanager
def _named_once(module: torch.nn.Module) -> Iterator[None]:
    """Inside, a part of the module has the names of one path alone.

    PyTorch (2.15) puts a traced tensor in place of each name's, and under the second name of one place takes the first for what was there.
    """
    names = {
        "named_parameters": lambda remove_duplicate=True: iter(_parameters(module).items()),
        "named_buffers": lambda remove_duplicate=True: iter(_buffers(module).items()),
    }
    with mock.patch.dict(vars(module), names):
        yield


def _tied(module: torch.nn.Module) -> dict[str, str]:
    """Further names of parameters -> the first."""
    first: dict[int, str] = {}
    names = {name: first.setdefault(id(x), name) for name, x in _parameters(module).items()}
    return {name: kept for name, kept in names.items() if name != kept}


class _Reach(torch.autograd.Function):
    """The loss, as if it hung on the parameters to which no gradient flows: PyTorch (2.15) wants one for each."""

    @staticmethod
    def forward(ctx, loss, *parameters):
        ctx.save_for_backward(*parameters)
        return loss.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient, *map(torch.zeros_like, ctx.saved_tensors)


def _say_what_is_what(joint: torch.export.ExportedProgram, names: list[str], gradients: list[str]) -> None:
    """Makes the first output the loss, and those behind the others gradients of parameters, which are not returned."""
    returned = [spec for spec in joint.graph_signature.output_specs if spec.kind is OutputKind.USER_OUTPUT]
    returned[0].kind = OutputKind.LOSS_OUTPUT
    for spec, name in zip(returned[len(names) :], gradients, strict=True):
        spec.kind, spec.target = OutputKind.GRADIENT_TO_PARAMETER, name
    called = joint.module_call_graph[0].signature
    called.outputs = called.outputs[: len(names)]
    called.out_spec = pytree.tree_structure(dict.fromkeys(names, 0))


_OF_TRAINING = {
    torch.ops.aten.native_dropout: ((1,), None),
    torch.ops.aten._native_batch_norm_legit: ((1, 2), torch.ops.aten.native_batch_norm_backward),
    torch.ops.aten._native_batch_norm_legit_functional: ((1, 2), torch.ops.aten.native_batch_norm_backward),
}
"""Operators that do something else in evaluation -> which of their results are those of training alone, and what knows that."""


def _check_evaluation(joint: torch.export.ExportedProgram) -> None:
    """Raises ExportError where what forward returns, or leaves in a buffer, would be that of training in evaluation."""
    results = zip(joint.graph.output_node().args[0], joint.graph_signature.output_specs)
    for node in behind(node for node, spec in results if spec.kind is not OutputKind.GRADIENT_TO_PARAMETER):
        for read in node.all_input_nodes if node.op == "call_function" else ():
            source = read.args[0] if read.target is operator.getitem else None
            places, known = _OF_TRAINING.get(getattr(getattr(source, "target", None), "overloadpacket", None), ((), None))
            if read.target is operator.getitem and read.args[1] in places and getattr(node.target, "overloadpacket", node.target) is not known:
                raise ExportError(
                    f"forward takes a second derivative through {source.target} in training mode, which evaluation would not have: "
                    "put this part of the module into evaluation mode"
                )
