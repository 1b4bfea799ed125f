# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the exporters' files need before they are written: names, statistics, flags, no stack traces."""

from collections.abc import Iterator, Mapping

import onnx
import onnx.helper
import onnx.numpy_helper
import torch
from onnxscript import optimizer

from .exporters import Axes
from .modules import State

METADATA_KEY = "accc.export"
"""Where a file says what its initialisers are (model metadata_props)."""

_KEPT_OF_NODES = ("namespace", "pkg.torch.onnx.name_scopes")
_CALL = "pkg.torch.onnx.fx_node"
"""Says of a Gather whether it looks up an embedding, and which row of that takes no gradient."""
_KEPT_OF_VALUES = (
    "pkg.torch.export.graph_signature.InputSpec.kind",
    "pkg.torch.export.graph_signature.InputSpec.persistent",
)


def nodes_of(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Every node, those of subgraphs and of functions included."""

    def walk(nodes):
        for node in nodes:
            yield node
            for attribute in node.attribute:
                for graph in (attribute.g, *attribute.graphs):
                    yield from walk(graph.node)

    yield from walk(model.graph.node)
    for function in model.functions:
        yield from walk(function.node)


def is_large(model: onnx.ModelProto) -> bool:
    """Whether the values come near the 2 GiB that a protobuf message can hold. (Its ByteSize serialises it.)"""
    return sum(len(x.raw_data) for x in model.graph.initializer) > 1 << 30


def opset_of(model: onnx.ModelProto) -> int:
    return next(x.version for x in model.opset_import if x.domain in ("", "ai.onnx"))


def repair(model: onnx.ModelProto, state: State, inputs: Mapping[str, torch.Tensor], axes: Axes, fold: bool = False) -> None:
    """Makes what an exporter wrote say what the module does, of these inputs. `state` is from before the export.

    With `fold`, shape arithmetic and mask building are computed beforehand, but nothing that reads a parameter.
    """
    _drop_stack_traces(model)
    _name_tied(model, state)
    _restore_statistics(model, state)
    _activate_dropouts(model)  # before folding, which takes one without its flag for an identity
    if fold:
        _fold_constants(model, state)
    _inline_constants(model, state)
    _declare_inputs(model, inputs, axes)
    _open_outputs(model, axes)


def describe(model: onnx.ModelProto, text: str) -> None:
    """Puts the metadata into the file."""
    kept = [entry for entry in model.metadata_props if entry.key != METADATA_KEY]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    model.metadata_props.add(key=METADATA_KEY, value=text)


def _drop_stack_traces(model: onnx.ModelProto) -> None:
    """They hold paths of the machine that exported the model."""
    for node in nodes_of(model):
        _keep(node.metadata_props, (*_KEPT_OF_NODES, _CALL) if node.op_type == "Gather" else _KEPT_OF_NODES)
        node.ClearField("doc_string")
    for graph in (model.graph, *model.functions):
        for value in (*getattr(graph, "input", ()), *graph.value_info):
            if not isinstance(value, str):
                _keep(value.metadata_props, _KEPT_OF_VALUES)


def _keep(entries, keys) -> None:
    kept = [entry for entry in entries if entry.key in keys]
    del entries[:]
    entries.extend(kept)


def _name_tied(model: onnx.ModelProto, state: State) -> None:
    """Gives a tied tensor the first of its names; the exporters differ in which they take."""
    first = state.first_names()
    rename = {old: new for old, new in first.items() if old != new}
    kept, present = [], set()
    for initializer in model.graph.initializer:
        initializer.name = rename.get(initializer.name, initializer.name)
        if initializer.name in present and initializer.name in state.aliases:
            continue
        present.add(initializer.name)
        kept.append(initializer)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    for value in model.graph.value_info:
        value.name = rename.get(value.name, value.name)
    for node in nodes_of(model):
        node.input[:] = [rename.get(x, x) for x in node.input]


def _restore_statistics(model: onnx.ModelProto, state: State) -> None:
    """Gives buffers the values of the module: tracing a batch norm in training mode moves its statistics."""
    for initializer in model.graph.initializer:
        buffer = state.buffers.get(initializer.name)
        if buffer is not None and list(initializer.dims) == list(buffer.shape):
            initializer.CopyFrom(tensor_proto(buffer, initializer.name))


def _fold_constants(model: onnx.ModelProto, state: State) -> None:
    def may_fold(node):
        if node.op_type == "Dropout":  # of ones, which mask channels
            return False
        return False if any(x is not None and x.name in state.parameters for x in node.inputs) else None

    optimizer.fold_constants(model, should_fold=may_fold)
    optimizer.remove_unused_nodes(model)


def _inline_constants(model: onnx.ModelProto, state: State) -> None:
    """Turns initialisers that are no state of the module into Constant nodes.

    A float initialiser counts as a trainable parameter; a folded constant is none.
    """
    tensors = state.tensors()
    constants = [x for x in model.graph.initializer if x.name not in tensors]
    nodes = [onnx.helper.make_node("Constant", [], [x.name], name=f"constant/{x.name}", value=x) for x in constants]
    nodes.extend(model.graph.node)
    kept = [x for x in model.graph.initializer if x.name in tensors]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(kept)


def _activate_dropouts(model: onnx.ModelProto) -> None:
    """Sets the training flag of dropouts that have none.

    Both exporters write attention's own dropout without it, which is an identity. PyTorch drops
    whenever `scaled_dot_product_attention` is given a rate; other dropouts have their flag.
    """
    flag = "accc_export/training_mode"
    without = [x for x in nodes_of(model) if x.op_type == "Dropout" and (len(x.input) == 2 or not all(x.input[2:]))]
    main = {id(node) for node in model.graph.node}
    for node in without:
        if id(node) in main:
            node.input[2:] = [flag]
    if any(id(node) in main for node in without):
        value = onnx.helper.make_tensor(flag, onnx.TensorProto.BOOL, [], [True])
        model.graph.node.insert(0, onnx.helper.make_node("Constant", [], [flag], name=flag, value=value))


def _declare_inputs(model: onnx.ModelProto, inputs: Mapping[str, torch.Tensor], axes: Axes) -> None:
    """Also those that nothing reads, which TorchScript leaves out: a trainer is given what forward takes."""
    declared = {value.name: value for value in model.graph.input}
    for name, x in inputs.items():
        if name not in declared:
            shape = [axes.get(name, {}).get(axis, size) for axis, size in enumerate(x.shape)]
            kind = tensor_proto(x.flatten()[:0], name).data_type
            declared[name] = onnx.helper.make_tensor_value_info(name, kind, shape)
    del model.graph.input[:]
    model.graph.input.extend(declared.pop(name) for name in inputs)
    model.graph.input.extend(declared.values())


def _open_outputs(model: onnx.ModelProto, axes: Axes) -> None:
    """Leaves the sizes of outputs open where inputs' are: TorchScript writes those of the example."""
    if not axes:
        return
    for output in model.graph.output:
        for axis, dim in enumerate(output.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and axis not in axes.get(output.name, {}):
                dim.Clear()


def tensor_proto(tensor: torch.Tensor, name: str) -> onnx.TensorProto:
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype != torch.bfloat16:
        return onnx.numpy_helper.from_array(tensor.numpy(), name)
    raw = tensor.view(torch.int16).numpy().tobytes()
    return onnx.TensorProto(name=name, data_type=onnx.TensorProto.BFLOAT16, dims=tensor.shape, raw_data=raw)
