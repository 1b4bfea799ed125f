# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch's tracers raise, and what it says."""

import pathlib
import traceback

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

_UNTRACEABLE = "PyTorch cannot trace a call that forward makes (torch.autograd.grad() is one)"
_OF_VALUES = (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode)
"""What PyTorch raises where it is asked for a number or a size that depends on the values of a tensor."""


def innermost(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def asks_for_values(error: BaseException) -> bool:
    """Whether what forward does hangs on values that a trace does not have."""
    return isinstance(innermost(error), _OF_VALUES)


def first_lines(error: BaseException) -> str:
    """The innermost cause, whose message names the operator or the line of the module."""
    error = innermost(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:3])[:500] or type(error).__name__
    if asks_for_values(error):
        return f"what {_asking(error)} does depends on the values of a tensor, and a trace has none ({text.partition(' (unhinted')[0]})"
    return f"{_UNTRACEABLE} ({text})" if "fake tensor in the exported program" in text else text


def _asking(error: BaseException) -> str:
    """The line of the module, or of a library that it uses, at which PyTorch was asked for what it does not know."""
    own = (str(pathlib.Path(torch.__file__).parent), str(pathlib.Path(__file__).parent))
    frames = [x for x in traceback.extract_tb(error.__traceback__) if not x.filename.startswith(own) and x.line]
    return f"{frames[-1].filename}:{frames[-1].lineno} (`{frames[-1].line}`)" if frames else "forward"
