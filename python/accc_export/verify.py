# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a file holds all that training the module needs."""

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference

from .errors import ExportError
from .exporters import Axes
from .graphs import is_large, nodes_of, tensor_proto
from .modules import State
from .observing import Observation

_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def verify(model: onnx.ModelProto, state: State, observation: Observation, axes: Axes) -> None:
    """Raises ExportError with everything that the file lost of the module, by name.

    Every parameter that the outputs depend on is an initialiser of its name, shape and values;
    every batch norm that moved its statistics does so in the file; whatever dropped drops; the dimensions that
    were to be open are, under their names.
    """
    initializers = {x.name: x for x in model.graph.initializer}
    problems = _fixed_dimensions(model, axes)
    for name, tensor in state.tensors().items():
        value = _array_of(tensor_proto(tensor, name))
        if name in initializers:
            problems += _differences(name, value, _array_of(initializers[name]))
        elif name in observation.reached:
            problems.append(f"the parameter {name} is missing{_successor(value, initializers, model)}")
    problems += _batch_norms(model, observation)
    problems += _type_errors(model)
    active = _active_dropouts(model)
    if active < observation.drawn:
        problems.append(
            f"{observation.drawn} random operations (dropout) ran in the module, and {active} are in the file"
        )
    if problems:
        shown = "".join(f"\n  {problem}" for problem in problems[:20])
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise ExportError(f"the exported graph is not the module's:{shown}{more}")


def _array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """Of bfloat16, which NumPy does not have, as float32."""
    array = onnx.numpy_helper.to_array(tensor)
    return array.astype(np.float32) if tensor.data_type == onnx.TensorProto.BFLOAT16 else array


def _fixed_dimensions(model: onnx.ModelProto, axes: Axes) -> list[str]:
    """The dynamo exporter fixes, without a word, sizes that the module takes as numbers, and makes one of those that are equal."""
    problems = []
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        for axis, dim in axes.get(value.name, {}).items():
            found = dims[axis].dim_param or dims[axis].dim_value
            if found != dim:
                problems.append(f"the dimension {dim} (axis {axis} of {value.name}) is not open, but {found}")
    return problems


def _differences(name: str, value: np.ndarray, stored: np.ndarray) -> list[str]:
    if stored.shape != value.shape:
        return [f"{name} has the shape {list(stored.shape)} in place of {list(value.shape)}"]
    if stored.dtype != value.dtype:
        return [f"{name} is {stored.dtype} in place of {value.dtype}"]
    if not np.array_equal(stored, value, equal_nan=value.dtype.kind == "f"):
        return [f"{name} has other values"]
    return []


def _type_errors(model: onnx.ModelProto) -> list[str]:
    """Operands of types that an operator does not take; large models are not checked."""
    if is_large(model):
        return []
    try:
        onnx.shape_inference.infer_shapes(model, check_type=True)
    except onnx.shape_inference.InferenceError as error:
        return [f"the exporter wrote an invalid node: {error}"]
    return []


def _successor(value: np.ndarray, initializers, model: onnx.ModelProto) -> str:
    """Which constant of the file looks like the missing parameter, to say what became of it."""
    constants = [
        attribute.t
        for node in nodes_of(model)
        if node.op_type == "Constant"
        for attribute in node.attribute
        if attribute.name == "value"
    ]
    for tensor in (*initializers.values(), *constants):
        if value.size < 2 or np.prod(tensor.dims) != value.size:
            continue
        stored = _array_of(tensor)
        if stored.shape == value.shape and np.array_equal(stored, value):
            return f": it was merged with {tensor.name}, of equal values"
        if value.ndim == 2 and np.array_equal(stored, value.T):
            return f": it was transposed into {tensor.name}"
    return ": it was folded into other tensors"


def _batch_norms(model: onnx.ModelProto, observation: Observation) -> list[str]:
    training = {
        name
        for node in nodes_of(model)
        if node.op_type == "BatchNormalization" and any(a.name == "training_mode" and a.i for a in node.attribute)
        for name in node.input[3:5]
    }
    lost = sorted({norm for name, norm in observation.updated.items() if name not in training})
    return [f"the batch norm {name} is in inference mode or without its statistics" for name in lost]


def _active_dropouts(model: onnx.ModelProto) -> int:
    """Random operators, and dropouts whose training flag is set."""
    flags = {
        node.output[0]: onnx.numpy_helper.to_array(attribute.t)
        for node in nodes_of(model)
        if node.op_type == "Constant"
        for attribute in node.attribute
        if attribute.name == "value"
    }

    def active(node):
        if node.op_type in _RANDOM:
            return True
        return node.op_type == "Dropout" and len(node.input) > 2 and bool(np.any(flags.get(node.input[2], True)))

    return sum(active(node) for node in nodes_of(model))
