# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What draws the parts of a line of a random program, and the lists of what a line can be."""

LINES = []  # functions of a Chooser that give the right side of an assignment, or None
WRITES = []  # the same for statements that change a value
PRODUCTS = []  # the same as LINES, of products


class Chooser:
    """Draws the parts of a line: values that are there, by kind, and numbers that fit them."""

    def __init__(self, random, values):
        self.random, self.values = random, values

    def named(self, fits=lambda x: True):
        """The name of a value; later ones more often."""
        names = [name for name, x in self.values.items() if fits(x)]
        if not names:
            raise LookupError
        return names[max(self.random.randrange(len(names)), self.random.randrange(len(names)))]

    def x(self, rank=0):
        """A float of at least this rank."""
        return self.named(lambda x: x.is_floating_point() and x.dim() >= rank)

    def like(self, name, rank=0):
        """Another float of the type of a value, of the same shape if there is one."""
        value = self.values[name]
        same = lambda x: x.dtype == value.dtype and x.dim() >= rank  # noqa: E731
        alike = [n for n, x in self.values.items() if same(x) and x.shape == value.shape and n != name]
        return self.random.choice(alike) if alike and self.random.random() < 0.7 else self.named(same)

    def integer(self, rank=0):
        """An integer of at least this rank."""
        return self.named(lambda x: is_integer(x) and x.dim() >= rank)

    def integer_like(self, name):
        """Another integer, of the same shape if there is one."""
        alike = [n for n, x in self.values.items() if is_integer(x) and x.shape == self.values[name].shape and n != name]
        return self.random.choice(alike) if alike and self.random.random() < 0.7 else self.integer()

    def boolean(self, rank=0):
        return self.named(lambda x: str(x.dtype) == "torch.bool" and x.dim() >= rank)

    def complex(self, rank=0):
        return self.named(lambda x: x.is_complex() and x.dim() >= rank)

    def any(self, rank=0):
        """A value of any type."""
        return self.named(lambda x: x.dim() >= rank)

    def mask(self, name):
        alike = [n for n, x in self.values.items() if str(x.dtype) == "torch.bool" and x.shape == self.values[name].shape]
        return self.random.choice(alike) if alike else f"({name} > {self.number()})"

    def shape(self, name):
        return list(self.values[name].shape)

    def dim(self, name):
        """A dimension, from either end."""
        rank = len(self.shape(name))
        return self.random.randrange(-rank, rank)

    def extent(self, name, dim):
        return self.values[name].shape[dim]

    def number(self, low=-1.5, high=1.5):
        return round(self.random.uniform(low, high), 2)

    def one(self, *choices):
        return self.random.choice(choices)

    def below(self, bound):
        return self.random.randrange(bound)

    def indices(self, shape, bound):
        """A tensor of indices as source; often with repetitions."""
        return f"torch.tensor({nested(self.random, list(shape), bound)})"

    def factors(self, count):
        """Some extents whose product is `count`."""
        shape = []
        while count > 1 and len(shape) < 3 and self.random.random() < 0.7:
            divisors = [d for d in range(1, count + 1) if count % d == 0]
            shape.append(self.random.choice(divisors))
            count //= shape[-1]
        shape.insert(self.random.randrange(len(shape) + 1), count)
        return shape

    def subscript(self, name):
        """Slices, indices, None and ... of a value."""
        parts = []
        for extent in self.shape(name)[: self.random.randrange(1, len(self.shape(name)) + 1)]:
            kind = self.random.randrange(8)
            if kind == 0 and extent:
                parts.append(str(self.random.randrange(-extent, extent)))
            elif kind == 1:
                parts.append(f"::{self.random.randrange(1, 4)}")
            elif kind == 2:
                parts.append(f"{self.random.randrange(-extent - 1, extent + 1)}:")
            elif kind == 3:
                parts.append(f":{self.random.randrange(-extent, extent + 2)}")
            elif kind == 4:
                first = self.random.randrange(extent + 1)
                parts.append(f"{first}:{first + self.random.randrange(4)}:{self.one(1, 1, 2)}")
            else:
                parts.append(":")
        if self.random.random() < 0.1:
            parts.insert(self.random.randrange(len(parts) + 1), "None")
        if self.random.random() < 0.1:
            parts.insert(0, "...")
        return ", ".join(parts)


def is_integer(x):
    return not x.is_floating_point() and not x.is_complex() and str(x.dtype) != "torch.bool"


def nested(random, shape, bound):
    if not shape:
        return random.randrange(bound)
    return [nested(random, shape[1:], bound) for _ in range(shape[0])]


def line(function):
    LINES.append(function)
    return function


def write(function):
    WRITES.append(function)
    return function


def product(function):
    PRODUCTS.append(function)
    return function


