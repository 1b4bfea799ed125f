# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model of the table is, and how it becomes a training-mode ONNX file.

Both of PyTorch's exporters are made for inference. Three things keep a training graph intact:

* TorchScript: `training=PRESERVE` and `do_constant_folding=False`; with folding, Linear weights
  turn into transposed constants named `onnx::MatMul_123`.
* dynamo: `optimize=False`. The optimizer that runs by default takes parameters for constants: it
  fuses batch normalisation into the convolution before it, also in training mode, folds position
  embeddings and LSTM weights away, and merges parameters that start with equal values (all of a
  transformer's layer-norm scales), which ties them for ever.
* dynamo: `TRANSLATIONS` below. The exporter's own rule writes every BatchNormalization in inference
  mode, whatever the module's mode is.
"""

import dataclasses
import warnings

import numpy as np
import onnx
import onnx.numpy_helper
import torch
from onnxscript import optimizer
from onnxscript import opset18 as op

EXPORTERS = {
    "torchscript": dict(dynamo=False, opset_version=17),
    "dynamo": dict(dynamo=True),
    "dynamo-folded": dict(dynamo=True, opset_version=23),
}
"""The ways to export. `dynamo` is what the exporter writes at its own opset (20 here).

`dynamo-folded` asks for the newest opset, which keeps attention as one operator, and computes
beforehand what depends on no input and no parameter.
"""


@dataclasses.dataclass
class Case:
    """One model with everything that its golden run needs.

    `inputs` are the module's positional arguments in order, by the names they get in the ONNX file.
    The loss is taken on the first output, outside the graph.
    """

    module: torch.nn.Module
    inputs: dict
    target: torch.Tensor
    outputs: tuple = ("logits",)
    loss: str = "cross_entropy"
    optimizer: str = "sgd"
    lr: float = 0.01
    dropout: bool = False
    steps: int = 10
    dynamic: dict = dataclasses.field(default_factory=dict)
    """Input or output name -> {axis: dimension name}, for dimensions left open."""

    def dims(self):
        """The size of every open dimension in this case's inputs."""
        return {
            name: self.inputs[tensor].shape[axis]
            for tensor, axes in self.dynamic.items()
            if tensor in self.inputs
            for axis, name in axes.items()
        }


def perturb(module, seed=1):
    """Moves one-dimensional parameters off their ones and zeros.

    A golden in which every bias is zero and every scale one misses some wrong gradients, and an
    exporter may merge equal tensors.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))


def _batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    y, new_mean, new_var = op.BatchNormalization(
        x, weight, bias, mean, var, epsilon=eps, momentum=1.0 - momentum, training_mode=1
    )
    return y, new_mean, new_var, new_mean, new_var


TRANSLATIONS = {torch.ops.aten._native_batch_norm_legit_functional.default: _batch_norm}


def export(case, exporter, path, external_data=False):
    """Writes `case.module`, in training mode, to `path` and returns the ONNX model."""
    case.module.train()
    buffers = {name: value.clone() for name, value in case.module.named_buffers()}
    options = dict(EXPORTERS[exporter])
    if options["dynamo"]:
        options.update(
            optimize=False,
            verbose=False,
            dynamic_shapes=_dynamic_shapes(case),
            custom_translation_table=TRANSLATIONS,
        )
    else:
        options.update(
            training=torch.onnx.TrainingMode.PRESERVE,
            do_constant_folding=False,
            dynamic_axes=case.dynamic or None,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            case.module,
            tuple(case.inputs.values()),
            None if options["dynamo"] else str(path),
            input_names=list(case.inputs),
            output_names=list(case.outputs),
            **options,
        )
    if options["dynamo"]:
        if exporter == "dynamo-folded":
            _fold_constants(program.model, case.module)
        program.save(str(path), external_data=external_data)
    with torch.no_grad():  # tracing a batch norm in training mode moves its statistics
        for name, buffer in case.module.named_buffers():
            buffer.copy_(buffers[name])
    return _clean(path, case.module, exporter == "dynamo-folded", external_data)


def _fold_constants(model, module):
    """Folds the shape arithmetic and mask building, but nothing that reads a parameter."""
    trained = {name for name, _ in module.named_parameters(remove_duplicate=False)}

    def may_fold(node):
        return False if any(x is not None and x.name in trained for x in node.inputs) else None

    optimizer.fold_constants(model, should_fold=may_fold)
    optimizer.remove_unused_nodes(model)


def _inline_constants(model, module):
    """Turns initialisers that are no state of the module into Constant nodes.

    A float initialiser counts as a trainable parameter; a folded constant is none.
    """
    state = module.state_dict().keys()
    graph = model.graph
    constants = [i for i in graph.initializer if i.name not in state]
    nodes = [
        onnx.helper.make_node("Constant", [], [i.name], name=f"constant/{i.name}", value=i)
        for i in constants
    ]
    nodes.extend(graph.node)
    kept = [i for i in graph.initializer if i.name in state]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)


def frozen(model, names):
    """The floating-point initialisers that are neither parameters nor moving statistics.

    ONNX does not tell a parameter from a buffer such as an attention mask; accc needs --freeze.
    """
    norms = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    statistics = {name for node in norms for name in node.input[3:5]}
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    bound = set(names) | statistics
    return [
        i.name for i in model.graph.initializer if i.data_type in floats and i.name not in bound
    ]


def _name_tied(model, module):
    """Gives a tied parameter the first of its names; the exporters differ in which they take."""
    first, rename = {}, {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        rename[name] = first.setdefault(id(parameter), name)
    rename = {old: new for old, new in rename.items() if old != new}
    present = {i.name for i in model.graph.initializer}
    for old, new in rename.items():
        if old not in present or new in present:
            continue
        for initializer in model.graph.initializer:
            if initializer.name == old:
                initializer.name = new
        for node in model.graph.node:
            node.input[:] = [new if x == old else x for x in node.input]


def _clean(path, module, fold, external_data):
    """Drops the stack traces, which hold paths of the exporting machine; returns the model."""
    model = onnx.load(str(path))
    slim = onnx.load(str(path), load_external_data=False) if external_data else model
    for function in (slim.graph, *slim.functions):
        for node in function.node:
            kept = [p for p in node.metadata_props if p.key == "namespace"]
            del node.metadata_props[:]
            node.metadata_props.extend(kept)
            node.ClearField("doc_string")
        for value in (*getattr(function, "input", ()), *function.value_info):
            if not isinstance(value, str):
                del value.metadata_props[:]
    _restore_statistics(slim, module)
    if fold:
        _inline_constants(slim, module)
    _name_tied(slim, module)
    onnx.save(slim, str(path))
    return model if external_data else slim


def _restore_statistics(model, module):
    """Gives batch norms the statistics that the module had before tracing moved them."""
    buffers = dict(module.named_buffers())
    for initializer in model.graph.initializer:
        if initializer.name.endswith(("running_mean", "running_var")) and initializer.name in buffers:
            value = buffers[initializer.name].detach().numpy()
            initializer.CopyFrom(onnx.numpy_helper.from_array(value, initializer.name))


def _dynamic_shapes(case):
    if not case.dynamic:
        return None
    dims = {name: torch.export.Dim(name) for name in case.dims()}
    shapes = []
    for name in case.inputs:
        shapes.append({axis: dims[dim] for axis, dim in case.dynamic.get(name, {}).items()})
    return tuple(shapes)


def bind_names(model, module):
    """Maps the initialisers of `model` to the tensors of `module` that they came from.

    Returns {initialiser name: (name in the module, transposed?)} for every parameter and every
    moving statistic. A tied parameter appears once. Raises ValueError when
    a trainable parameter cannot be found or when two of them share an initialiser.
    """
    initializers = {i.name: i for i in model.graph.initializer}
    found, missing = {}, []
    tensors = dict(module.named_parameters(remove_duplicate=False))
    for name, buffer in module.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            tensors[name] = buffer
    seen = {}
    for name, tensor in tensors.items():
        seen.setdefault(id(tensor), []).append(name)
    for aliases in seen.values():
        direct = [name for name in aliases if name in initializers]
        tensor = tensors[aliases[0]]
        match = (direct[0], False) if direct else _by_value(initializers, tensor, found)
        if match is None:
            if tensor.requires_grad:
                missing.append(aliases[0])
            continue
        found[match[0]] = (aliases[0], match[1])
    if missing:
        raise ValueError("not among the initialisers: " + ", ".join(missing))
    return found


def _by_value(initializers, tensor, taken):
    value = tensor.detach().numpy()
    for name, initializer in initializers.items():
        if name in taken or np.prod(initializer.dims) != value.size or value.size < 2:
            continue
        stored = onnx.numpy_helper.to_array(initializer)
        if stored.shape == value.shape and np.array_equal(stored, value):
            return name, False
        if value.ndim == 2 and stored.shape == value.T.shape and np.array_equal(stored, value.T):
            return name, True
    return None
