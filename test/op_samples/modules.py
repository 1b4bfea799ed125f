# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The samples of PyTorch's module tests (ModuleInfo): each a module with its parameters and buffers, and what it takes."""

import torch
import torch.utils._pytree as pytree

from samples import Sample, taken


def modules():
    """The modules of PyTorch's tests, by name."""
    from torch.testing._internal.common_modules import module_db

    return {info.name: info for info in module_db}


def module_samples(info, dtype, limit):
    """Samples of a module in training and in evaluation mode."""
    for kind, training in (("training", True), ("evaluation", False)):
        torch.manual_seed(0)
        arguments = dict(device="cpu", dtype=dtype, requires_grad=True, training=training)
        given = info.module_inputs_func(info, **arguments)
        yield kind, taken([_sample(info, x, dtype, training) for x in given if x.forward_input is not None], limit)


def _sample(info, given, dtype, training):
    torch.manual_seed(1)
    module = info.module_cls(*given.constructor_input.args, **given.constructor_input.kwargs).to(dtype).train(training)
    leaves, spec = pytree.tree_flatten((given.forward_input.args, given.forward_input.kwargs))
    leaves = [x.detach().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x for x in leaves]
    text = ", ".join(str(list(x.shape)) if isinstance(x, torch.Tensor) else repr(x) for x in leaves)
    return Sample(module, leaves, spec, f"{str(module)[:200]} of {text}")
