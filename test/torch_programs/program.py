# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of PyTorch's operators: source that PyTorch takes, whose values and gradients are ordinary numbers."""

import random
import warnings

import torch
import torch.nn.functional as F

import catalogue

MOST_ELEMENTS, GREATEST = 600, 50.0
SHAPES = [[4], [6], [3, 4], [4, 3], [2, 6], [2, 3, 4], [4, 4], [1, 5], [2, 2, 3, 3], [8, 8]]


class Program:
    """Lines of source, each an assignment to a new name or a statement, and the values that it begins with."""

    def __init__(self, inputs, lines):
        self.inputs, self.lines = inputs, lines
        self.noise = None  # called with each new value

    def source(self):
        taken = ", ".join(self.inputs)
        body = [f"{name} = {name} * 1" for name in self.inputs]  # a leaf must not be written
        for line in self.lines:
            body.append(line)
            if self.noise and (name := _defined(line)):
                body.append(f"noise({name})")
        return f"def function({taken}):\n    " + "\n    ".join([*body, f"return [{', '.join(self.results())}]"]) + "\n"

    def results(self):
        """What no line reads, and what begins the program: whether it was written shows."""
        defined = [name for line in self.lines if (name := _defined(line))]
        text = "\n".join(line.split(" = ", 1)[-1] for line in self.lines)
        unread = [name for name in defined if not _reads(text, name)]
        return [*self.inputs, *unread]

    def function(self):
        scope = {"torch": torch, "F": F, "noise": self.noise}
        exec(self.source(), scope)
        return scope["function"]

    def values(self):
        """All values by name, if this is a program that can be compared; else None."""
        scope = {"torch": torch, "F": F, **{name: x.clone() for name, x in self.inputs.items()}}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for line in self.lines:
                    exec(line, scope)
                if not self._has_ordinary_gradients():
                    return None
        except Exception:
            return None
        values = {name: x for name, x in scope.items() if isinstance(x, torch.Tensor)}
        return values if all(map(_is_ordinary, values.values())) else None

    def _has_ordinary_gradients(self):
        leaves = [x.clone().requires_grad_() for x in self.inputs.values()]
        found = [x for x in self.function()(*leaves) if x.requires_grad]
        if not found:
            return False
        gradients = torch.autograd.grad(sum(x.double().sum() for x in found), leaves, allow_unused=True)
        return all(x is None or _is_ordinary(x) for x in gradients)

    def without(self, index):
        return Program(self.inputs, self.lines[:index] + self.lines[index + 1 :])

    def moved(self, seed):
        """The same with every value some units in the last place away, where that can be: so are those of another compiler."""
        generator = torch.Generator().manual_seed(seed)

        def noise(x):
            if x.is_floating_point() and x.dtype == torch.float32:
                try:
                    x.data.mul_(1 + 3e-7 * torch.randn(x.shape, generator=generator))
                except RuntimeError:  # elements that share their memory
                    pass

        program = Program(self.inputs, self.lines)
        program.noise = noise
        return program


def _defined(line):
    """The name to which a line assigns, if it does."""
    name = line.split(" = ")[0]
    return name if " = " in line and name.isidentifier() else None


def _reads(text, name):
    rest = text
    while (at := rest.find(name)) >= 0:
        rest = rest[at + len(name) :]
        if not rest[:1].isdigit():
            return True
    return False


def _is_ordinary(x):
    if x.numel() > MOST_ELEMENTS or x.dim() > 5 or x.is_complex():
        return False
    return x.numel() == 0 or not x.is_floating_point() or bool(torch.isfinite(x).all() and x.detach().abs().max() < GREATEST)


def generate(seed, count):
    """A program of about so many lines."""
    draw = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    inputs = {f"v{i}": torch.randn(draw.choice(SHAPES), generator=generator) for i in range(3)}
    program = Program(inputs, [])
    values = dict(inputs)
    for _ in range(4 * count):
        if len(program.lines) >= count:
            break
        lines = catalogue.WRITES if draw.random() < 0.15 else catalogue.LINES
        try:
            text = draw.choice(lines)(catalogue.Chooser(draw, values))
        except (LookupError, IndexError, ValueError):
            continue
        if lines is catalogue.LINES:
            text = f"v{len(inputs) + len(program.lines)} = {text}"
        longer = Program(inputs, [*program.lines, text])
        found = longer.values()
        if found is not None:
            program, values = longer, {name: x for name, x in found.items() if name[0] == "v"}
    return program
