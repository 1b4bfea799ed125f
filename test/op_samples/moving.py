# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether what differs in mixed precision is decided by rounding: PyTorch differs from itself as much where it moves what products read."""

import re

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

BY = {"bf16": 2.0**-9, "fp16": 2.0**-12}  # as far as roundings to 16 bits move numbers; a standard deviation, relative
RUNS = 24


def decides(expected, run_moved, wrong):
    """Whether each of these lines about what differs from `expected`, a checking.MixedReference, is one about some run of PyTorch, too, but
    for the numbers. The runs are given the function to move a tensor; what products read and give is moved, and attention is products
    there, too. Where autocast rounds nothing, nothing is moved: it decides nothing."""
    if not expected.are_rounded(wrong):
        return False
    left = set(map(_kind, wrong))
    for seed in range(RUNS):
        move = _Move(BY[expected.precision.name], seed)
        with sdpa_kernel(SDPBackend.MATH), _MovingProducts(move):
            found = run_moved(move)
        left -= set(map(_kind, expected.compare(found)))
    return not left


def _kind(line):
    """The tensor, and in what it differs."""
    return re.match(r"\S+ (is off|is not there|is|has the shape|has other NaN)", line)[0]


class _Move:
    def __init__(self, by, seed):
        self.by, self.generator = by, torch.Generator().manual_seed(seed)

    def __call__(self, x):
        if not isinstance(x, torch.Tensor) or x.dtype != torch.float32:
            return x
        return x * (1 + self.by * torch.randn(x.shape, generator=self.generator))


class _MovingProducts(TorchDispatchMode):
    """In the forward and in the backward pass."""

    NAMES = ("mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot", "convolution", "rnn", "lstm", "gru")

    def __init__(self, move):
        super().__init__()
        self.move = move

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if not any(name in function.overloadpacket.__name__ for name in self.NAMES):
            return function(*args, **(kwargs or {}))
        args, kwargs = tree_map_only(torch.Tensor, self.move, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, self.move, function(*args, **kwargs))
