# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Subclasses of torch.autograd.Function, of which an exporter keeps the forward pass alone, and hooks, of which nothing."""

from collections.abc import Callable, Iterable, Sequence

import torch

TOLERANCE = 1e-3
"""Of a gradient, relative to its root mean square: far above rounding, far below another formula."""

FACTOR = 4
"""Of what moving the weights by a float does to a gradient."""


Node = torch.autograd.graph.Node


def backward_nodes(outputs: Iterable[torch.Tensor], passes: Callable[[Node], bool] = lambda node: True) -> list[Node]:
    """What a gradient of the outputs goes through, in an order that depends on the graph alone; neither what does not pass nor what is behind it alone."""
    seen: dict[Node, None] = {}
    left = [x.grad_fn for x in outputs]
    while left:
        node = left.pop()
        if node is None or node in seen or not passes(node):
            continue
        seen[node] = None
        left.extend(following for following, _ in node.next_functions)
    return list(seen)


def functions_of(nodes: Iterable[Node]) -> set[str]:
    """The names of those among the nodes."""
    # One with a symbolic() chooses operators of its own for ONNX.
    found = (x for x in nodes if isinstance(x, torch.autograd.function.BackwardCFunction) and not hasattr(x, "symbolic"))
    return {type(x).__name__.removesuffix("Backward") for x in found}


def differing(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor], moved: Sequence[dict[str, torch.Tensor]] = ()) -> str:
    """The parameters whose gradients differ, as text; one that has none has that of zero.

    Those of `moved` are as right as `a`: what is at most FACTOR times as far from `a` as they are does not differ.
    """

    def differs(name):
        x, y = a.get(name), b.get(name)
        x, y = torch.zeros_like(y) if x is None else x, torch.zeros_like(x) if y is None else y
        return not is_close(x, y, FACTOR * max((distance(x, z[name]) for z in moved if name in z), default=0.0))

    wrong = [name for name in {**a, **b} if differs(name)]
    return ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")


def gradients(outputs: Iterable[torch.Tensor], parameters: dict[str, torch.Tensor], scale: float = 1) -> dict[str, torch.Tensor]:
    """Those of `scale` times the sum of all outputs, each value weighted by the cosine of its index, of the parameters that it reaches."""
    sums = [(x.flatten() * (scale * torch.cos(torch.arange(x.numel()))).to(x)).sum() for x in map(parts, outputs) if x.requires_grad]
    found = torch.autograd.grad(sums, list(parameters.values()), allow_unused=True) if sums else ()
    return {name: x.detach() for name, x in zip(parameters, found) if x is not None}


def parts(x: torch.Tensor) -> torch.Tensor:
    """Of complex numbers both, with a last dimension of two."""
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def same_numbers(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether the tensors have one shape, type and the same numbers, NaN for NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(a, b) or (a.layout is torch.strided and bool(((a == b) | (a.isnan() & b.isnan())).all()))


def is_close(a: torch.Tensor, b: torch.Tensor, allowed: float = 0.0, tolerance: float = TOLERANCE) -> bool:
    """Whether b is what rounding makes of a, with the same infinities and NaN; also where it is as near as `allowed`."""
    return distance(a, b) <= tolerance * _finite(a).norm().item() + 1e-9 * a.numel() ** 0.5 + allowed


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The norm of the difference; infinite where only one is infinite or NaN."""
    a, b = (x.to_dense() if x.is_sparse else x for x in (a, b))
    same = (a == b) | (a.isnan() & b.isnan())
    distance = torch.where(same, 0, a - b).norm()
    return distance.item() if distance.isfinite() else float("inf")


def _finite(x: torch.Tensor) -> torch.Tensor:
    x = x.to_dense() if x.is_sparse else x
    return torch.where(x.isfinite(), x, 0)
