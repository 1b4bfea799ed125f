# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Subclasses of torch.autograd.Function, of which an exporter keeps the forward pass alone, and hooks, of which nothing."""

from collections.abc import Iterable

import torch

from .errors import ExportError

TOLERANCE = 1e-3
"""Of a gradient, relative to its root mean square: far above rounding, far below another formula."""


def functions_of(outputs: Iterable[torch.Tensor]) -> set[str]:
    """The names of those that a gradient of the outputs goes through."""
    names, seen = set(), set()
    left = [x.grad_fn for x in outputs]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        # One with a symbolic() chooses operators of its own for ONNX.
        if isinstance(node, torch.autograd.function.BackwardCFunction) and not hasattr(node, "symbolic"):
            names.add(type(node).__name__.removesuffix("Backward"))
        left.extend(following for following, _ in node.next_functions)
    return names


def check_functions(names: set[str], expected: dict[str, torch.Tensor], found: dict[str, torch.Tensor]) -> None:
    """Raises ExportError where gradients differ between the module and its program, which has no backward passes of its own."""
    listed = differing(expected, found)
    if not listed:
        return
    lost = (
        f"an export keeps of a torch.autograd.Function ({', '.join(sorted(names))}) the forward pass alone"
        if names
        else "an export keeps no hooks (register_hook)"
    )
    raise ExportError(
        f"the exported program has other gradients than the module ({listed}): {lost}. Write what it does to gradients "
        "with detach() and differentiable operators, as in y = g + (y - g).detach(), where g has the gradient wanted, and "
        "give the file a name that ends in .pt2: ONNX has no detach()"
    )


def differing(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> str:
    """The parameters whose gradients differ, as text; one that has none has that of zero."""

    def differs(name):
        x, y = a.get(name), b.get(name)
        return not is_close(torch.zeros_like(y) if x is None else x, torch.zeros_like(x) if y is None else y)

    wrong = [name for name in {**a, **b} if differs(name)]
    return ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")


def gradients(outputs: Iterable[torch.Tensor], parameters: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those of the sum of all outputs, each value weighted by the cosine of its index, of the parameters that it reaches."""
    sums = [(x.flatten() * torch.cos(torch.arange(x.numel())).to(x)).sum() for x in outputs if x.requires_grad]
    found = torch.autograd.grad(sums, list(parameters.values()), allow_unused=True) if sums else ()
    return {name: x.detach() for name, x in zip(parameters, found) if x is not None}


def is_close(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether b is what rounding makes of a, with the same infinities and NaN."""
    a, b = (x.to_dense() if x.is_sparse else x for x in (a, b))
    same = (a == b) | (a.isnan() & b.isnan())
    difference, size = torch.where(same, 0, a - b).norm(), torch.where(a.isfinite(), a, 0).norm()
    return bool(difference <= TOLERANCE * size + 1e-9 * a.numel() ** 0.5)
