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
    result, own = dict(module.state_dict()), state.tensors()
    names = {id(x): name for name, x in own.items()}
    # By tensor, as state_dict() may have other names: a part around another takes its own out of them.
    sources = {key: names.get(id(x), first.get(key, key)) for key, x in module.state_dict(keep_vars=True).items()}
    problems = []
    values: dict[str, torch.Tensor] = {}
    for name, value in trained.items():
        source = first.get(name, sources.get(name, name))
        held = own.get(source)
        if held is not None and held.is_complex() and value.shape == (*held.shape, 2):
            value = torch.view_as_complex(value)  # a file holds the two parts
        if held is None:
            problems.append(f"the module has no {name}")
        elif held.shape != value.shape:
            problems.append(f"{name} is {list(value.shape)}, and {list(held.shape)} in the module")
        elif held.requires_grad and source not in sources.values():
            problems.append(f"state_dict() of the module has no {name}")
        values[source] = value
    if not partial:
        problems += [f"{name} is missing" for name in state.parameters if name not in values]
    if problems:
        raise ExportError(f"{path} does not belong to {type(module).__name__}: {'; '.join(problems[:10])}")
    for key, source in sources.items():
        if source in values:
            result[key] = values[source].to(result[key])
    return result
