# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules whose inputs hold several tensors, and that compute with lists, dicts, strings and objects of Python."""

import math
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn

from modules import Pair, weigh


class Cell(nn.Module):
    def __init__(self, inputs: int, size: int):
        super().__init__()
        self.gates = nn.Linear(inputs + size, 4 * size)

    def forward(self, x: Tensor, state: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        i, f, c, o = self.gates(torch.cat([x, state[0]], 1)).chunk(4, 1)
        cell = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(c)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden, (hidden, cell)


def backward(values: List[Tensor]) -> List[Tensor]:
    return values[::-1]


class Nested(nn.Module):
    """Inputs in lists, dicts, tuples and NamedTuples: a detection head over levels, cells with states, a batch."""

    def __init__(self):
        super().__init__()
        self.box = nn.Conv2d(3, 8, 3, padding=1)
        self.cells = nn.ModuleList([Cell(4, 4), Cell(4, 4)])
        self.head = nn.Linear(4, 2)

    def forward(
        self,
        levels: List[Tensor],
        batch: Dict[str, Tensor],
        states: List[Tuple[Tensor, Tensor]],
        pair: Pair,
        mask: Optional[Tensor],
        scale: Optional[Tuple[Tensor, Tensor]] = None,
    ) -> Dict[str, Tensor]:
        boxes: List[Tensor] = []
        for level in levels:
            n, _, height, width = level.shape
            box = self.box(level).view(n, -1, 4, height, width)
            boxes.append(box.permute(0, 3, 4, 1, 2).reshape(n, -1, 4))
        rows = torch.cat(boxes, dim=1).mean(1)
        x = backward(list((batch["Words"] * batch["weights"].unsqueeze(-1)).unbind(1)))
        ends: List[Tuple[Tensor, Tensor]] = []
        for i, cell in enumerate(self.cells):
            state = states[i]
            outputs: List[Tensor] = []
            for step in x:
                y, state = cell(step, state)
                outputs += [y]
            x = backward(outputs)
            ends.append(state)
        logits = self.head(torch.stack(x).sum(0) + rows) + pair.first * pair.second
        if mask is not None:
            logits = logits * mask
        if scale is not None:
            logits = logits * scale[0] + scale[1]
        total = [value.mean() for value in batch.values()]
        cells = [h + c for h, c in ends]
        return {"loss": weigh([logits] + cells + total), "logits": logits, "hidden": ends[1][0]}


class Held(nn.Module):
    """To be traced, with inputs that hold several tensors."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, batch: Dict[str, Tensor], levels: List[Tensor], pair: Tuple[Tensor, Tensor]) -> Tensor:
        return self.layer(batch["Words"] + batch["b.1"] + levels[0] * levels[1]) + pair[0] * pair[1]


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.weight)


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.linear(x))


class Interfaces(nn.Module):
    """Parts that are chosen by positions and keys that forward computes, which an interface makes possible."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Dense(), Gate(), Dense()])
        self.named = nn.ModuleDict({"gate": Gate(), "dense": Dense()})
        self.order = [2, 0, -2]

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        for position in self.order:
            layer: Layer = self.layers[position]
            x = layer.forward(x)
        for key in ["dense", "gate"]:
            part: Layer = self.named[key]
            x = x + part.forward(x)
        return {"loss": x.square().mean(), "x": x}


@torch.jit.script
class Counter:
    """An object of the program, whose methods change it."""

    def __init__(self, start: int):
        self.count = start
        self.kept: List[Tensor] = []

    def add(self, x: Tensor):
        self.kept.append(x)
        self.count += 1

    def mean(self) -> Tensor:
        return torch.stack(self.kept).mean(0)


class Python(nn.Module):
    """What of Python PyTorch writes into its archives: strings, lists and dicts that change, classes, ranges."""

    mode: torch.jit.Final[str]
    seen: List[Tensor]

    def __init__(self):
        super().__init__()
        self.mode = "linear:Relu,tanh"
        self.layer = nn.Linear(6, 6)
        self.settings = {"scale": 0.5, "shift": 0.25}
        self.seen = []

    @torch.jit.ignore
    def skipped(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def twice(self, x: Tensor) -> Tensor:
        return self.layer(self.layer(x))

    def choose(self) -> List[int]:
        found = [3, 1, 2]
        found.reverse()
        found[0] += 4
        found.insert(0, 9)
        found.extend([1, 1])
        found.remove(9)
        del found[-1]
        found.sort(reverse=True)
        assert found == [6, 3, 1, 1] and found.index(3) == 1 and found.count(1) == 2
        return sorted(found)[::2] + 2 * [found.pop()]

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        kind, rest = self.mode.split(":")[0], self.mode[7:]
        if kind.startswith("lin") and not kind.endswith("x"):
            x = self.layer(x)
        counter = Counter(1)
        for name in rest.split(","):
            counter.add(torch.relu(x) if name.lower() == "relu" else torch.tanh(x))
        self.seen = [x]  # in each step anew
        self.seen.append(x.sin())
        x = x + self.seen[1] + counter.mean() * counter.count
        settings = self.settings.copy()
        settings.update({"more": 2.0})
        settings["scale"] *= 2
        shift = settings.pop("shift")
        if "-".join(sorted(settings.keys())) == "more-scale" and settings.setdefault("more", 1.0) == 2.0:
            x = x * settings["scale"] + shift
        if "%s has %d" % (kind, len(settings)) != "linear has 2" or f"{kind} {len(settings)}" != "linear 2":
            raise RuntimeError(f"{kind} is unknown")
        x = x + sum([i * i for i in range(1, 6, 2)]) + float(sum(self.choose()))
        quotient, remainder = divmod(17, 5)
        x = x * (min(quotient, 9) + max([remainder, 0])) / math.sqrt(math.atan2(1.0, 2.0) + math.log1p(quotient))
        parts = torch.tensor_split(x, (1, 4), dim=1)
        if list(x.shape) == [4, 6] and x.shape == torch.Size([4, 6]):
            x = torch.cat([parts[2], parts[0] * 2, parts[1]], dim=1)
        return {"loss": weigh([self.twice(x)]), "x": x}


class Appends(nn.Module):
    """Keeps what the next step would see."""

    def __init__(self):
        super().__init__()
        self.kept = [torch.zeros(2)]

    def forward(self, x: Tensor) -> Tensor:
        self.kept.append(x)
        return x + len(self.kept)


REFUSED = {"appends": Appends}
