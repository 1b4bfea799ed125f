# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a difference is one of rounding: PyTorch differs from itself as much where its values are moved a little."""

import torch

import checking

MOVED = {torch.float32: 3e-7, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}  # by this standard deviation, relative
RUNS = 3


def moved(x, generator):
    """The tensor with its floats some units in the last place away: so are those of another compiler."""
    return x * (1 + MOVED[x.dtype] * torch.randn(x.shape, generator=generator)).to(x.dtype) if x.dtype in MOVED else x


def decides(run, run_moved, relative):
    """Whether `run_moved`, PyTorch's run with values moved by a generator, is too far from `run` in one of some runs."""
    single, double = run(checking.as_given), run(checking.in_double)
    for seed in range(RUNS):
        found = run_moved(torch.Generator().manual_seed(seed))
        if any(checking.difference(found[name], x, double[name], relative) for name, x in single.items()):
            return True
    return False
