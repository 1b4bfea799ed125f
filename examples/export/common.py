# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model of the table is, and how it becomes a training-mode ONNX file.

Both of PyTorch's exporters are made for inference. Three things keep a training graph intact:

* TorchScript: `training=PRESERVE` and `do_constant_folding=False`; with folding, Linear weights turn
  into transposed constants named `onnx::MatMul_123`.
* dynamo: `optimize=False`. The optimizer that runs by default fuses batch normalisation into the
  convolution before it, also in training mode, and merges parameters that happen to start with equal
  values (all of a transformer's layer-norm weights), which ties them for ever.
* dynamo: `TRANSLATIONS` below. The exporter's own rule writes every BatchNormalization in inference
  mode, whatever the module's mode is.
"""

import dataclasses
import warnings

import numpy as np
import onnx
import onnx.numpy_helper
import torch
from onnxscript import opset18 as op

EXPORTERS = {"torchscript": 17, "dynamo": None, "dynamo-newest": 23}
"""The ways to export and the opset each asks for; None is the exporter's own default (20 here).

The newest opset keeps attention, RMS norm and rotary embedding as single operators.
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

    A golden in which every bias is zero and every scale one does not notice a missing gradient path.
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
    """Writes `case.module`, in training mode, to `path` and returns the ONNX model as loaded again."""
    case.module.train()
    buffers = {name: value.clone() for name, value in case.module.named_buffers()}
    names = dict(input_names=list(case.inputs), output_names=list(case.outputs))
    args = tuple(case.inputs.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exporter == "torchscript":
            torch.onnx.export(
                case.module,
                args,
                str(path),
                dynamo=False,
                opset_version=EXPORTERS[exporter],
                training=torch.onnx.TrainingMode.PRESERVE,
                do_constant_folding=False,
                dynamic_axes=case.dynamic or None,
                **names,
            )
        else:
            torch.onnx.export(
                case.module,
                args,
                str(path),
                dynamo=True,
                opset_version=EXPORTERS[exporter],
                optimize=False,
                verbose=False,
                external_data=external_data,
                dynamic_shapes=_dynamic_shapes(case),
                custom_translation_table=TRANSLATIONS,
                **names,
            )
    with torch.no_grad():  # tracing a batch norm in training mode moves its statistics
        for name, buffer in case.module.named_buffers():
            buffer.copy_(buffers[name])
    return _clean(path, external_data)


def _clean(path, external_data):
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
    onnx.save(slim, str(path))
    return model


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
    floating-point buffer in the module's state. A tied parameter appears once. Raises ValueError when
    a trainable parameter cannot be found or when two of them share an initialiser.
    """
    initializers = {i.name: i for i in model.graph.initializer}
    found, missing = {}, []
    tensors = dict(module.named_parameters(remove_duplicate=False))
    persistent = module.state_dict(keep_vars=True)
    for name, buffer in module.named_buffers():
        if buffer.is_floating_point() and name in persistent:
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
