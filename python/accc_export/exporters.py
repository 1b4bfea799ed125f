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
  mode, whatever the module's mode is. It has none for what a check of values asks.
"""

import contextlib
import itertools
import pathlib
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar
from unittest import mock

import onnx
import torch
from onnxscript import opset18 as op

from .attributes import preserved_attributes
from .calls import Call, flat_forward
from .checks import traced_past_checks
from .constants import known_constants
from .data import settled_parts, traced_data
from .dropouts import plain_drop_paths, plain_dropouts
from .errors import ExportError, warn
from .failures import first_lines, innermost
from .sizes import traced_selections

EXPORTERS = ("dynamo", "torchscript", "dynamo-folded")
"""`dynamo` traces with torch.export and writes its own default opset (20 as of PyTorch 2.15).

`torchscript` is the older tracer (opset 17). `dynamo-folded` asks for opset 23, which keeps attention
as one operator; what depends on no input and no parameter is then computed beforehand.
"""

Axes = dict[str, dict[int, str]]
"""Input or output name -> {axis: dimension name}."""
Shapes = tuple[Mapping[int, torch.export.Dim], ...]
"""The open dimensions of each input, as torch.export takes them."""
_Range = tuple[int | None, int | None]
_Exported = TypeVar("_Exported")

FOLDED = {"dynamo-folded"}
_OPSETS = {"torchscript": 17, "dynamo": None, "dynamo-folded": 23}
_LARGE = 1 << 30  # a protobuf message holds less than 2 GiB


def _batch_norm(input, weight, bias, running_mean, running_var, training: bool, momentum: float, eps: float):
    """With the operator's own names, by which older PyTorch (2.10) chooses."""
    y, new_mean, new_var = op.BatchNormalization(
        input, weight, bias, running_mean, running_var, epsilon=eps, momentum=1.0 - momentum, training_mode=1
    )
    return y, new_mean, new_var, new_mean, new_var


def _all_true(input):
    """Of a check of values, whose assertion the exporter leaves out."""
    return op.Cast(op.ReduceMin(op.Cast(input, to=onnx.TensorProto.INT32), keepdims=0), to=onnx.TensorProto.BOOL)


TRANSLATIONS = {
    torch.ops.aten._native_batch_norm_legit_functional.default: _batch_norm,
    torch.ops.aten._is_all_true.default: _all_true,
}


def run_exporter(
    module: torch.nn.Module, call: Call, fixed: list[torch.Tensor], outputs: list[str], axes: Axes, exporter: str, folder: pathlib.Path
) -> onnx.ModelProto:
    """The module as this exporter writes it. `fixed`: as for known_constants. `folder` is for files in between."""
    path = folder / "exported.onnx"
    names = {"input_names": list(call.inputs), "output_names": outputs}

    is_old = exporter == "torchscript"

    def traced() -> str | None:
        returned = None if is_old else _distinct
        with (
            warnings.catch_warnings(),
            flat_forward(module, call, returned=returned),
            plain_drop_paths(),
            plain_dropouts(),
            traced_data(),
            settled_parts(),
        ):
            warnings.simplefilter("ignore")
            if is_old:
                built_in = _torchscript(module, call.inputs, axes, names, path)
                return _doubt_sizes(module, call, axes, names, path, built_in) if axes else None
            with known_constants(fixed), traced_selections():
                return _dynamo(module, call, axes, names, exporter, path)

    try:
        doubt = traced() if is_old else traced_past_checks(traced, module, call)
    except ExportError:
        raise
    except Exception as error:  # whatever the tracers and the module's own code raise
        raise ExportError(f"PyTorch's {exporter} exporter fails: {first_lines(error)}") from error
    if doubt:
        warn(doubt)
    return onnx.load(str(path))


def _distinct(outputs: dict[str, torch.Tensor], _) -> tuple[torch.Tensor, ...]:
    """The dynamo exporter names values: one that is returned twice, or that is an input or a parameter, would lose a name."""
    return tuple(x.clone() for x in outputs.values())


def _torchscript(module, inputs, axes, names, path) -> list[str]:
    """Returns where the module takes something traced, such as a size, as a number of Python's, by what the tracer warns of."""
    merge = torch._C._jit_pass_onnx_deduplicate_initializers
    with (
        warnings.catch_warnings(record=True) as warned,
        # Of a module whose train() leaves it in evaluation mode it merges parameters of equal values, not those of one memory alone.
        mock.patch.object(torch._C, merge.__name__, lambda graph, tensors, is_trained: merge(graph, tensors, True)),
    ):
        warnings.simplefilter("always", torch.jit.TracerWarning)
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(path),
            dynamo=False,
            opset_version=_OPSETS["torchscript"],
            training=torch.onnx.TrainingMode.PRESERVE,
            do_constant_folding=False,
            dynamic_axes=axes or None,
            **names,
        )
    traced = [x for x in warned if issubclass(x.category, torch.jit.TracerWarning)]
    return [f"{pathlib.Path(x.filename).name}, line {x.lineno}: {str(x.message).partition('. ')[0]}" for x in traced]


def _doubt_sizes(module, call, axes, names, path, built_in: list[str]) -> str | None:
    """Raises ExportError if the file holds what is right for the sizes of the example alone; returns what to warn of if the
    module cannot be traced with others.

    Much of what the tracer warns of does no harm (assertions, branches that any size takes), and of some that does
    (`range(x.shape[1])`) it does not warn. So the module is traced again, with larger and, where it warns, with smaller sizes.
    """
    where = f": {built_in[0]}" if built_in else ""
    held = "what is right for the sizes of example_inputs alone"
    graph, other = onnx.load(str(path)).graph, path.with_name("other_sizes.onnx")
    is_traced = False
    for inputs in _of_other_sizes(call.inputs, axes):
        try:
            _torchscript(module, inputs, axes, names, other)
        except Exception:  # whatever the module takes amiss, such as positions beyond a table
            continue
        if place := _first_difference(graph, onnx.load(str(other)).graph):
            raise ExportError(f"PyTorch's torchscript exporter writes {held}{where or place}")
        is_traced = True
        if not built_in:
            break
    return None if is_traced else f"the module cannot be traced with other sizes: the file may hold {held}{where}"


def _first_difference(graph: onnx.GraphProto, other: onnx.GraphProto) -> str | None:
    for node, twin in itertools.zip_longest(graph.node, other.node):
        if node is None or twin is None or node.SerializeToString() != twin.SerializeToString():
            return f": with others, {'the last node is another' if node is None else f'{node.name} ({node.op_type}) is another'}"
    return None


def _of_other_sizes(inputs: dict[str, torch.Tensor], axes: Axes) -> Iterator[dict[str, torch.Tensor]]:
    """The inputs with multiples, and with parts, of the sizes: others for each dimension, as a number may be a ratio of sizes."""
    dims = dict.fromkeys(dim for held in axes.values() for dim in held.values())
    factors = {dim: 2 + i for i, dim in enumerate(dims)}
    for resize in (lambda size, factor: size * factor, lambda size, factor: max(2, size // factor)):
        found = dict(inputs)
        for name, held in axes.items():
            for axis, dim in held.items():
                size = inputs[name].shape[axis]
                found[name] = found[name].index_select(axis, torch.arange(resize(size, factors[dim])) % size)
        yield found


def _dynamo(module, call, axes, names, exporter, path) -> str | None:
    """Returns what to warn of: the sizes that the module takes where that is not any."""

    def exported(shapes):
        with preserved_attributes(module):
            return torch.onnx.export(
                module,
                tuple(call.inputs.values()),
                dynamo=True,
                opset_version=_OPSETS[exporter],
                optimize=False,
                verbose=False,
                dynamic_shapes=shapes,
                custom_translation_table=TRANSLATIONS,
                **names,
            )

    with _conditions(list(axes.get(name, {}) for name in call.inputs)) as conditions:
        program = with_ranges(exported, call.inputs, axes)
    size = sum(x.numel() * x.element_size() for x in (*module.parameters(), *module.buffers()))
    program.save(str(path), external_data=size > _LARGE)
    if not conditions:
        return None
    return f"the file is right for these sizes of open dimensions alone, and does not say so: {', '.join(conditions)}"


def open_shapes(inputs: Iterable[str], axes: Axes, ranges: Mapping[str, _Range] | None = None) -> Shapes | None:
    """The open dimensions of each input, as torch.export takes them; None without any."""
    dims = {dim: (ranges or {}).get(dim, (None, None)) for held in axes.values() for dim in held.values()}
    dims = {dim: torch.export.Dim(dim, min=least, max=most) for dim, (least, most) in dims.items()}
    return tuple({axis: dims[dim] for axis, dim in axes.get(name, {}).items()} for name in inputs) if dims else None


def with_ranges(export: Callable[[Shapes | None], _Exported], inputs: Collection[str], axes: Axes) -> _Exported:
    """What `export` makes of the open dimensions. Of some, forward takes the sizes of a range alone (a window must fit in): PyTorch
    then fails, and says from or up to which size, of several conditions one after the other."""
    ranges: dict[str, _Range] = {}
    while True:
        try:
            return export(open_shapes(inputs, axes, ranges))
        except Exception as error:  # what it raises is no part of its interface
            known = dict(ranges)
            for dim, least, most in _ranges_of(error):
                before = ranges.get(dim, (None, None))
                ranges[dim] = (int(least) if least else before[0], int(most) if most else before[1])
            if ranges == known:
                raise


def _ranges_of(error: BaseException) -> list[tuple[str, str, str]]:
    """The name, least and greatest size of each dimension for which PyTorch proposes a range; none if it proposes other things as
    well, as where a dimension has to be of one size. To a size of which a part may not have one element it proposes nothing."""
    text = str(innermost(error))
    lines = text.partition("Suggested fixes:\n")[2].partition("\n\n")[0].splitlines()
    found = [re.fullmatch(r"(\w+) = Dim\('\1'(?:, min=(\d+))?(?:, max=(\d+))?\)", line.strip()) for line in lines]
    if lines:
        return [x.groups() for x in found] if all(found) else []
    excluded = re.findall(r"values of (\w+) = (.+) in the specified range .* guard \(\(-(\d+)\) \+ \2\) != (\d+)", text)
    return [(dim, str(int(less) + int(size) + 1), "") for dim, _, less, size in excluded]


@contextlib.contextmanager
def _conditions(axes: list[dict[int, str]]) -> Iterator[list[str]]:
    """What torch.export takes for granted of the sizes: branches of an `if`, divisors. The ONNX exporter drops it all."""
    export = torch.export.export
    found: list[str] = []

    def observed(*args, **kwargs):
        program = export(*args, **kwargs)
        found[:] = _conditions_of(program, axes)
        return program

    with mock.patch.object(torch.export, "export", observed):
        yield found


def _conditions_of(program: torch.export.ExportedProgram, axes: list[dict[int, str]]) -> list[str]:
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    inputs = [values.get(name) for name in program.graph_signature.user_inputs]
    dims = {str(x.shape[axis]): dim for x, held in zip(inputs, axes) for axis, dim in held.items()}
    conditions = []
    for symbol, sizes in program.range_constraints.items():
        if (dim := dims.get(str(symbol))) is None:
            continue
        conditions += [f"{dim} >= {sizes.lower}"] if sizes.lower > 2 else []
        conditions += [f"{dim} <= {sizes.upper}"] if sizes.upper < 1 << 31 else []
    for node in program.graph.nodes:
        if node.target is torch.ops.aten._assert_scalar.default:
            expression = re.search(r"expression (.*?)(?: on node.*)?$", str(node.args[1]))
            symbols = re.findall(r"\b[su]\d+\b", expression[1]) if expression else []
            if symbols and all(symbol in dims for symbol in symbols):
                conditions.append(re.sub(r"\bs\d+\b", lambda match: dims[match[0]], expression[1]))
    return conditions
