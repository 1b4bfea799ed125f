# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that random programs call: what users write in functions that are scripted."""

import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor


class Pair(NamedTuple):
    first: Tensor
    second: Optional[Tensor]


def projected(x: Tensor, size: int) -> Tensor:
    """A product with a matrix of ordinary numbers."""
    count = x.size(-1)
    weights = torch.sin(torch.arange(count * size, dtype=torch.float32, device=x.device) + 0.5).view(count, size)
    return x @ weights.to(x.dtype) / max(1.0, float(count)) ** 0.5


def early(x: Tensor, low: float) -> Tensor:
    if low > 1.0:
        return x * low
    if x.dim() == 0:
        return x
    for i in range(x.size(0)):
        if i == 2:
            return x[i:].sum(0) + x[0]
        x = x * 0.5
    return x.sum(0)


def listed(x: Tensor, dim: int) -> Tensor:
    parts: List[Tensor] = []
    for i, part in enumerate(x.unbind(dim)):
        if i % 2 == 1:
            continue
        parts.append(part * (i + 1))
    parts.extend([part.tanh() for part in parts])
    parts.insert(0, parts.pop())
    return torch.stack(parts[::-1], dim)


def mapped(x: Tensor, y: Tensor) -> Tensor:
    found: Dict[str, Tensor] = {"x": x, "y": y.mean()}
    found["z"] = found["x"] + found["y"]
    total = x * 0
    for key, value in found.items():
        if key != "x" and key in found:
            total = total + value * len(key + "ab")
    return total - found.pop("z") * (0.5 if "z" not in found else 2.0)


def tupled(x: Tensor, scale: Optional[float] = None) -> Tuple[Tensor, Tensor]:
    if scale is None:
        scale = 0.25
    a, b = x * scale, x.abs()
    a, b = b, a
    return a, b + a


def named_pair(x: Tensor, with_second: bool) -> Pair:
    return Pair(x.sin(), x.cos() if with_second else None)


def of_pair(x: Tensor, with_second: bool) -> Tensor:
    pair = named_pair(x, with_second)
    second = pair.second
    if second is not None:
        return pair.first * second
    return pair[0]


def halved(x: Tensor) -> Tensor:
    steps = 0
    while x.numel() > 2 and steps < 4:
        half = x.numel() // 2
        x = x.reshape(-1)[: 2 * half].view(2, half).sum(0)
        steps += 1
    else_value = float(steps) / max(1, x.numel())
    return x + else_value


def recurrent(x: Tensor, steps: int) -> Tensor:
    state = torch.zeros_like(x[0])
    kept = torch.zeros(steps, x.size(-1), dtype=x.dtype)
    for i in range(steps):
        state = torch.tanh(x[i % x.size(0)] + 0.5 * state)
        kept[i] = state.reshape(-1, x.size(-1))[0]
    return kept


def written(x: Tensor) -> Tensor:
    y = x.clone()
    for i in range(y.size(0)):
        row = y[i]
        if i > 0:
            row += y[i - 1] * 0.5
        else:
            row.mul_(2)
    return y


def broken_off(x: Tensor, limit: int) -> Tensor:
    total = torch.zeros((), dtype=x.dtype)
    for i in range(10):
        for j in range(x.size(0)):
            if i + j > limit:
                break
            total = total + x[j].sum() / (1 + i + j)
        if i >= limit:
            break
    return total


def computed_sizes(x: Tensor) -> Tensor:
    sizes = list(x.shape)
    sizes[-1] = -1
    sizes.append(1)
    scale = 1.0 / math.sqrt(float(x.size(-1)) if x.dim() > 0 else 1.0)
    return x.reshape(sizes).squeeze(-1) * scale


def zipped(x: Tensor, y: Tensor) -> Tensor:
    total = x.sum() * 0
    for a, b, w in zip(x.reshape(-1).split(2), y.reshape(-1).split(2), [0.5, 1.0, -2.0]):
        total = total + (a.sum() * b.mean()) * w
    return total


def nested(x: Tensor) -> Tensor:
    groups: Dict[int, List[Tensor]] = {}
    for i in range(x.size(0)):
        if (i % 2) not in groups:
            groups[i % 2] = []
        groups[i % 2].append(x[i])
    found: List[Tensor] = []
    for key in sorted(groups.keys()):
        found.append(torch.stack(groups[key]).sum(0) * (key + 1))
    return torch.cat([f.reshape(-1) for f in found])


def doubled_in_place(x: Tensor) -> None:
    x.mul_(2)


def counted_backwards(x: Tensor) -> Tensor:
    order = [i for i in range(x.size(0) - 1, -1, -1)]
    kept: List[Tensor] = []
    for i in order:
        if i != 1:
            kept.append(x[i])
    if len(kept) == 0:
        return x
    return torch.stack(kept)


def chosen(x: Tensor, mode: str = "mean") -> Tensor:
    if mode == "mean":
        y = x.mean()
    elif mode.startswith("su"):
        y = x.sum()
    else:
        y = x.reshape(-1)[0]
    assert y.dim() == 0, f"{mode} has {y.dim()} dimensions"
    return x - y


def moments(x: Tensor) -> List[Tensor]:
    return [x.mean(), ((x - x.mean()) ** 2).mean(), x.amax()]


def gradual(x: Tensor, ratio: float, count: int = 3, *, bias: bool = True) -> Tensor:
    total, factor = x, 1.0
    for _ in range(count):
        factor *= ratio
        total = total + factor * x.sin()
    return total + (0.1 if bias else 0.0)
