# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, branches, lists, dicts and calls of functions: assignments of several lines, whose first line names the value."""

from chooser import line, write

CALLS = ("computed_sizes", "halved", "written", "nested", "counted_backwards", "early", "chosen", "of_pair")


@line
def call(c):
    a = c.x(1)
    return c.one(
        f"helpers.early({a}, {c.one(0.5, 1.5)})",
        f"helpers.listed({a}, {c.dim(a)})",
        f"helpers.mapped({a}, {c.like(a)})",
        f"helpers.tupled({a}{c.one('', ', 0.5')})[{c.below(2)}]",
        f"helpers.of_pair({a}, {c.one('True', 'False')})",
        f"helpers.halved({a})",
        f"helpers.recurrent({a}, {c.one(1, 3)})",
        f"helpers.written({a})",
        f"helpers.broken_off({a}, {c.one(1, 3)})",
        f"helpers.computed_sizes({a})",
        f"helpers.zipped({a}, {c.like(a)})",
        f"helpers.nested({a})",
        f"helpers.counted_backwards({a})",
        f"helpers.chosen({a}, '{c.one('mean', 'sum', 'first')}')",
        f"torch.stack(helpers.moments({a}))",
        f"helpers.gradual({a}, {c.number()}{c.one('', ', 2', ', bias=False')})",
    )


@line
def loop(c):
    a = c.x(1)
    b = c.like(a)
    return c.one(
        f"{a} * 1\nfor i in range({c.one(2, 3)}):\n    NEW = NEW * {c.number()} + {b} / (i + 1)",
        f"torch.zeros_like({a})\nfor i in range({a}.shape[0]):\n    NEW[i] = {a}[i] * (i + 1)",
        f"{a}.clone()\nfor i in range(1, {a}.shape[0]):\n    NEW[i] += NEW[i - 1] * 0.5",
        f"{a}.clone()\nfor i in range({a}.shape[0]):\n    NEW[i].mul_({c.number()})",
        f"{b}.sum()\nfor part in {a}.unbind({c.dim(a)}):\n    NEW = NEW.tanh() + part.mean()",
        f"torch.zeros_like({a}[0])\nfor i in range({a}.shape[0]):\n    if i == 1:\n        continue\n    NEW = NEW + {a}[-i]",
        f"{a}\nwhile NEW.dim() > 1:\n    NEW = NEW.sum({c.one(0, -1)})",
        f"{a}.clone()\nfor i in range(2):\n    NEW[..., i:] += {c.number()}\n    NEW = NEW.flip(0)",
    )


@line
def branch(c):
    a = c.x(1)
    return c.one(
        f"{a}\nif {a}.shape[0] {c.one('>', '<')} 3:\n    NEW = NEW * 2\nelse:\n    NEW = NEW.sin()",
        f"{a}.clone()\nif {a}.dim() == 2 and {a}.shape[-1] > 2:\n    NEW[..., :2] = 0.5\nelif {a}.dim() == 3:\n    NEW *= 2",
        f"{a} * (1 if {a}.numel() > 10 else -1)",
        f"{a}\nif not {a}.requires_grad or {a}.shape[0] % 2 == 0:\n    NEW = NEW + 1",
    )


@line
def collected(c):
    a = c.x(1)
    return c.one(
        f"torch.stack([x * i for i, x in enumerate({a}.unbind(0))])",
        f"torch.cat([x.reshape(-1) for x in {a}.split(2)] + [{c.like(a)}.reshape(-1)])",
        f"sum([x.tanh() for x in {a}.unbind(-1)])",
        f"torch.stack([{a}[i] for i in range({a}.shape[0]) if i != 1])",
        f"[{a}, {a} * 2][{c.below(2)}]",
        f"({a}, {a}.sin())[-1]",
        f"{{'a': {a}, 'b': {a}.cos()}}['{c.one('a', 'b')}']",
        f"max({a}.reshape(-1)[0], {a}.reshape(-1)[-1])" if c.below(9) == 0 else f"torch.max({a}.reshape(-1)[0], {a}.reshape(-1)[-1])",
    )


@write
def by_function(c):
    a = c.x()
    return c.one(f"helpers.doubled_in_place({a})", f"for i in range(2):\n    {a}.mul_({c.number()})", f"if {a}.dim() > 1:\n    {a}[0] *= 2\nelse:\n    {a}.neg_()")
