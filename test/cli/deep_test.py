# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of tens of thousands of ops, deep and wide: no walk over them may take the stack, or memory, that grows with
their depth."""

import resource
import unittest

from command_line import CommandLineTest

OPS = 20000
STACK, MEMORY = 8 << 20, 1 << 30  # bytes

VECTOR, MATRIX = "tensor<4xf32>", "tensor<2x3xf32>"


def module(lines, result, operand=VECTOR, dimensions="0"):
    """loss = sum(result), of the lines and of %0 = w x."""
    shape = result.split(" : ")[1]
    return "\n  ".join(
        [
            f'func.func @forward(%w: {operand} {{accc.name = "w", accc.role = #prim.role<parameter>}}, '
            f'%x: {operand} {{accc.name = "x", accc.role = #prim.role<input>}}) -> '
            '(tensor<f32> {accc.name = "loss", accc.role = #prim.role<output>}) {',
            f"%0 = prim.mul %w, %x : ({operand}, {operand}) -> {operand}",
            *lines,
            f"%loss = prim.reduce sum {result.split(' : ')[0]} {{dimensions = array<i64: {dimensions}>}} : "
            f"({shape}) -> tensor<f32>",
            "return %loss : tensor<f32>\n}\n",
        ]
    )


def repeat(step, prefix="", ops=OPS):
    """Copies of the ops of `step`, whose A is what is before it, B what it gives, and S and T names of its own; with
    what the last gives."""
    length = ops // len(step)
    lines = []
    for i in range(length):
        for line in step:
            for name, value in (("A", i), ("B", i + 1), ("S", f"s{i}"), ("T", f"t{i}")):
                line = line.replace("%" + name, f"%{prefix}{value}")
            lines.append(line)
    return lines, f"%{prefix}{length}"


def chain(step, ops=OPS, operand=VECTOR, dimensions="0"):
    lines, last = repeat(step, ops=ops)
    return module(lines, f"{last} : {operand}", operand, dimensions)


def known(first, step, ops=OPS):
    """A chain that starts at `first` and not at an input."""
    lines, last = repeat(step, prefix="k", ops=ops)
    use = f"%used = prim.mul {last}, %0 : ({VECTOR}, {VECTOR}) -> {VECTOR}"
    return module([f"%k0 = {first}", *lines, use], f"%used : {VECTOR}")


def products(count):
    """%m<i> = i w"""
    for i in range(count):
        yield f"%c{i} = prim.constant dense<{i}.0> : {VECTOR}"
        yield f"%m{i} = prim.mul %c{i}, %w : ({VECTOR}, {VECTOR}) -> {VECTOR}"


def concatenation(count):
    joined = f"tensor<{4 * count}xf32>"
    names, types = (", ".join(each) for each in ((f"%m{i}" for i in range(count)), [VECTOR] * count))
    join = f"%all = prim.concatenate {names} {{dimension = 0 : i64}} : ({types}) -> {joined}"
    return module([*products(count), join], f"%all : {joined}")


def summands(count):
    adds = (f"%{i + 1} = prim.add %{i}, %m{i} : ({VECTOR}, {VECTOR}) -> {VECTOR}" for i in range(count))
    return module([*products(count), *adds], f"%{count} : {VECTOR}")


BROADCAST = [
    f"%S = prim.broadcast %A {{dimensions = array<i64: 0>}} : ({VECTOR}) -> tensor<4x2xf32>",
    "%T = prim.slice %S {starts = array<i64: 0, 1>, limits = array<i64: 4, 2>, strides = array<i64: 1, 1>} : "
    "(tensor<4x2xf32>) -> tensor<4x1xf32>",
    f"%B = prim.reshape %T : (tensor<4x1xf32>) -> {VECTOR}",
]


class Deep(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        _, most = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (STACK, most))

    def check(self, text):
        """Compiles it for training, up to machine code, which is made a kernel at a time."""
        (self.folder / "m.mlir").write_text(text)
        self.accc(
            *("compile", "m.mlir", "--loss", "output:loss", "--optimizer", "sgd"),
            *("--stop-after", "schedule", "-o", "out.mlir"),
        )
        kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # the most of any so far
        self.assertLess(kilobytes << 10, MEMORY)

    def test_arithmetic(self):
        self.check(chain([f"%B = prim.add %A, %w : ({VECTOR}, {VECTOR}) -> {VECTOR}"]))

    def test_composites(self):
        self.check(chain([f"%B = nn.relu %A : ({VECTOR}) -> {VECTOR}"]))

    def test_functions(self):
        self.check(chain([f"%B = prim.tanh %A : ({VECTOR}) -> {VECTOR}"], ops=OPS // 10))

    def test_reshapes(self):
        self.check(
            chain(
                [
                    f"%S = prim.reshape %A : ({VECTOR}) -> tensor<2x2xf32>",
                    f"%B = prim.reshape %S : (tensor<2x2xf32>) -> {VECTOR}",
                ]
            )
        )

    def test_transposes(self):
        self.check(
            chain(
                [
                    f"%S = prim.transpose %A {{permutation = array<i64: 1, 0>}} : ({MATRIX}) -> tensor<3x2xf32>",
                    f"%B = prim.reshape %S : (tensor<3x2xf32>) -> {MATRIX}",
                ],
                operand=MATRIX,
                dimensions="0, 1",
            )
        )

    def test_broadcasts(self):
        self.check(chain(BROADCAST, ops=OPS // 2))

    def test_views_of_what_every_kernel_computes(self):
        self.check(known(f"prim.iota {{dimension = 0 : i64}} : () -> {VECTOR}", BROADCAST, ops=OPS // 2))

    def test_constants(self):
        add = f"%B = prim.add %A, %A : ({VECTOR}, {VECTOR}) -> {VECTOR}"
        self.check(known(f"prim.constant dense<1.0> : {VECTOR}", [add]))

    def test_a_concatenation(self):
        self.check(concatenation(OPS // 2))

    def test_a_sum(self):
        self.check(summands(OPS // 8))


if __name__ == "__main__":
    unittest.main()
