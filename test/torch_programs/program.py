# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of PyTorch's operators: source that PyTorch takes, whose values and gradients are ordinary numbers."""

import importlib
import random
import warnings

import torch
import torch.nn.functional as F

import chooser
import helpers
import rounding

for name in ("catalogue", "catalogue_types", "catalogue_views", "catalogue_indices", "catalogue_selections", "catalogue_writes", "catalogue_flow", "catalogue_products"):
    importlib.import_module(name)

MOST_ELEMENTS, GREATEST = 600, 50.0
SHAPES = [[4], [6], [3, 4], [4, 3], [2, 6], [2, 3, 4], [4, 4], [1, 5], [2, 2, 3, 3], [8, 8]]
RARE_SHAPES = [[], [1], [0], [3, 0], [1, 1], [2, 1, 3], [1, 4, 1]]


class Program:
    """Lines of source, each an assignment to a new name or a statement, and the values that it begins with.

    A line may have several lines of text; all but its first are loops, branches and what is in them.
    """

    def __init__(self, inputs, lines):
        self.inputs, self.lines = inputs, lines
        self.noise = None  # called with each new value

    def source(self):
        taken = ", ".join(self.inputs)
        body = [*self.statements(), f"return [{', '.join(self.results())}]"]
        return f"def function({taken}):\n    " + "\n    ".join(body) + "\n"

    def statements(self):
        body = [f"{name} = {name} * 1" if x.requires_grad else f"{name} = {name}.clone()" for name, x in self.leaves().items()]
        for line in self.lines:  # a leaf must not be written
            body += line.split("\n")
            if self.noise and (name := _defined(line)):
                body.append(f"noise({name})")
        return body

    def leaves(self):
        return {name: x.clone().requires_grad_(x.is_floating_point()) for name, x in self.inputs.items()}

    def results(self):
        """What no other line reads, and what begins the program: whether it was written shows."""
        defined = {name: line for line in self.lines if (name := _defined(line))}
        unread = [name for name, own in defined.items() if not any(_reads(_used(line), name) for line in self.lines if line is not own)]
        return [*self.inputs, *unread]

    def function(self):
        scope = _scope(noise=self.noise)
        exec(self.source(), scope)
        return scope["function"]

    def values(self):
        """All values by name, if this is a program that can be compared; else None."""
        leaves = self.leaves()
        scope = _scope(**{name: x * 1 if x.requires_grad else x for name, x in leaves.items()})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for line in self.lines:
                    exec(line, scope)
                results = [scope[name] for name in self.results()]
                if not all(isinstance(x, torch.Tensor) for x in results) or not _have_ordinary_gradients(leaves, results):
                    return None
                values = {name: x for name, x in scope.items() if isinstance(x, torch.Tensor)}
                return values if all(map(_is_ordinary, values.values())) else None
        except Exception:
            return None

    def without(self, index):
        return Program(self.inputs, self.lines[:index] + self.lines[index + 1 :])

    def moved(self, move):
        """The same with every value moved a little, where that can be."""

        def noise(x):
            try:
                x.data.copy_(move(x.data))
            except RuntimeError:  # elements that share their memory
                pass

        program = Program(self.inputs, self.lines)
        program.noise = noise
        return program


def _scope(**values):
    return {"torch": torch, "F": F, "helpers": helpers, **values}


def _defined(line):
    """The name to which a line assigns, if it does."""
    name = line.split(" = ")[0]
    return name if " = " in line and name.isidentifier() else None


def _used(line):
    """What may read a value: a line without the name that it begins with where that is a new one."""
    return line.split(" = ", 1)[-1] if _defined(line) else line


def _reads(text, name):
    rest = text
    while (at := rest.find(name)) >= 0:
        rest = rest[at + len(name) :]
        if not rest[:1].isdigit():
            return True
    return False


def _have_ordinary_gradients(leaves, results):
    found = [torch.view_as_real(x.resolve_conj()) if x.is_complex() else x for x in results if x.requires_grad]
    if not found:
        return False
    wanted = [x for x in leaves.values() if x.requires_grad]
    gradients = torch.autograd.grad(sum(x.double().sum() for x in found), wanted, allow_unused=True)
    return all(x is None or _is_ordinary(x) for x in gradients)


def _is_ordinary(x):
    if x.numel() > MOST_ELEMENTS or x.dim() > 5:
        return False
    if x.numel() == 0 or x.dtype == torch.bool:
        return True
    return bool(torch.isfinite(x).all() and x.detach().abs().max() < GREATEST)


def make_inputs(draw, generator, dtype):
    """Three tensors of floats, sometimes of unusual shapes, and often one of another type."""
    inputs = {f"v{i}": torch.randn(draw.choice(SHAPES if draw.random() < 0.9 else RARE_SHAPES), generator=generator).to(dtype) for i in range(3)}
    shape = draw.choice([list(x.shape) for x in inputs.values() if x.numel() > 0] or [[3]])
    kind = draw.randrange(6)
    if kind < 2:
        inputs["v3"] = torch.randint(-3, 6, shape, generator=generator)
    elif kind == 2:
        inputs["v3"] = torch.randint(-3, 6, shape, generator=generator, dtype=torch.int32)
    elif kind == 3:
        inputs["v3"] = torch.randn(shape, generator=generator) > 0
    return inputs


def generate(seed, count, dtype, fits=lambda program: True, products=0.0):
    """A program of about so many lines, each of which fits, whose first floats are of a type; that part of the lines are products."""
    draw = random.Random(seed)
    inputs = make_inputs(draw, torch.Generator().manual_seed(seed), dtype)
    program = Program(inputs, [])
    values = program.values() or dict(inputs)
    values = {name: x for name, x in values.items() if name[0] == "v"}
    for _ in range(4 * count):
        if len(program.lines) >= count:
            break
        lines = chooser.WRITES if draw.random() < 0.25 else chooser.LINES
        if products and draw.random() < products:
            lines = chooser.PRODUCTS
        try:
            text = draw.choice(lines)(chooser.Chooser(draw, values))
        except (LookupError, IndexError, ValueError):
            continue
        if lines is not chooser.WRITES:
            name = f"v{len(inputs) + len(program.lines)}"
            text = f"{name} = {text}".replace("NEW", name)
        longer = Program(inputs, [*program.lines, text])
        found = longer.values()
        if found is not None and fits(longer):
            program, values = longer, {name: x for name, x in found.items() if name[0] == "v"}
    return program
