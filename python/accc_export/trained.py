# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trained weights, back in the form of PyTorch."""

import os

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from .errors import ExportError
from .modules import state_of


def state_dict(module: torch.nn.Module, path: str | os.PathLike, *, partial: bool = False) -> dict[str, torch.Tensor]:
    """What training wrote (`trainer.save`, `accc run --save-params`), for `module.load_state_dict(..., strict=True)`.

    Tied parameters get all of their names. Buffers that a training step does not change, such as a mask or the integer
    `num_batches_tracked` of a batch norm, keep the module's values; so do, with `partial`, parameters that the file does
    not hold, as `forward` does not read them.

    Raises ExportError for a file of another module: unknown names, other shapes, parameters missing.
    """
    try:
        trained = load_file(os.fspath(path))
    except (OSError, SafetensorError) as error:
        raise ExportError(f"cannot read {path}: {error}") from None
    state = state_of(module)
    first = state.first_names()
    result = dict(module.state_dict())
    problems = []
    values: dict[str, torch.Tensor] = {}
    for name, value in trained.items():
        own = result.get(name)
        if own is not None and own.is_complex() and value.shape == (*own.shape, 2):
            value = torch.view_as_complex(value)  # a file holds the two parts
        if own is None and name not in first:
            problems.append(f"the module has no {name}")
        elif own is not None and own.shape != value.shape:
            problems.append(f"{name} is {list(value.shape)}, and {list(own.shape)} in the module")
        values[first.get(name, name)] = value
    if not partial:
        problems += [f"{name} is missing" for name in state.parameters if name not in values]
    if problems:
        raise ExportError(f"{path} does not belong to {type(module).__name__}: {'; '.join(problems[:10])}")
    for name, own in result.items():
        if first.get(name, name) in values:
            result[name] = values[first.get(name, name)].to(own)
    return result
