#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes SpecialPoints.inc: values and gradients of PyTorch where operators have poles, kinks and limits.

    special_points.py > SpecialPoints.inc

Each row is a graph of ONNX, its parameters, its result y, and the gradients of sum(y) for the parameters; zeros,
numbers whose squares underflow and overflow, infinities and NaN. PyTorch computes in float64 on numbers of float32,
and what overflows there is infinite.
"""

import math

import torch
import torch.nn.functional as F

INF, NAN = math.inf, math.nan
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 1e-30, -1e-30, 1e30, -1e30, 90.0, -90.0, INF, -INF]

UNARY = [
    ("Abs(x)", torch.abs), ("Exp(x)", torch.exp), ("Log(x)", torch.log), ("Sqrt(x)", torch.sqrt),
    ("Reciprocal(x)", torch.reciprocal), ("Tanh(x)", torch.tanh), ("Sigmoid(x)", torch.sigmoid),
    ("Erf(x)", torch.erf), ("Atan(x)", torch.atan), ("Asin(x)", torch.asin), ("Acos(x)", torch.acos),
    ("Sinh(x)", torch.sinh), ("Asinh(x)", torch.asinh), 
    ("Atanh(x)", torch.atanh), ("Relu(x)", torch.relu), ("Softplus(x)", F.softplus), ("Softsign(x)", F.softsign),
    ("Elu(x)", F.elu), ("Selu(x)", F.selu), ("Celu(x)", F.celu), ("HardSwish(x)", F.hardswish),
    ("HardSigmoid <alpha = 0.16666667> (x)", F.hardsigmoid), ("Mish(x)", F.mish), ("Gelu(x)", F.gelu),
    ("LeakyRelu <alpha = 0.1> (x)", lambda x: F.leaky_relu(x, 0.1)),
    ("ThresholdedRelu <alpha = 0.5> (x)", lambda x: F.threshold(x, 0.5, 0.0)),
    ("Mul(x, x)", lambda x: x * x), ("Div(x, x)", lambda x: x / x), ("Sub(x, x)", lambda x: x - x),
]  # fmt: skip


def where(condition, value):
    return lambda x: torch.where(condition(x), value(x), torch.zeros((), dtype=torch.double))


# Graphs in more than one node, or with points of their own.
VECTORS = [
    ("y = Cosh(x)", torch.cosh, [0.0, -0.0, 1.0, -3.0, 90.0, -90.0, INF, -INF, NAN]),
    ('y = Gelu <approximate = "tanh"> (x)', lambda x: F.gelu(x, approximate="tanh"),
     [0.0, -0.0, 1.0, -1.0, 1e-30, 3.0, 90.0, -90.0, INF]),
    ("y = Acosh(x)", torch.acosh, [1.0, 1.5, 90.0, 1e30, INF, 0.5, NAN]),
    ("zero = Constant <value = float {0}> () c = Greater(x, zero) s = Sqrt(x) y = Where(c, s, zero)",
     where(lambda x: x > 0, torch.sqrt), POINTS),
    ("zero = Constant <value = float {0}> () one = Constant <value = float {1}> () c = Greater(x, zero) "
     "s = Where(c, x, one) l = Log(s) y = Where(c, l, zero)",
     lambda x: torch.where(x > 0, torch.log(torch.where(x > 0, x, torch.ones((), dtype=torch.double))), torch.zeros((), dtype=torch.double)), POINTS),
    ("low = Constant <value = float {-1}> () high = Constant <value = float {1}> () y = Clip(x, low, high)",
     lambda x: torch.clamp(x, -1, 1), POINTS),
    ("a = Constant <value = int64[1] {0}> () y = ReduceL2 <axes = [0], keepdims = 0> (x)",
     lambda x: torch.linalg.vector_norm(x), [0.0, 0.0, -0.0]),
    ("y = ReduceSumSquare <axes = [0], keepdims = 0> (x)", lambda x: (x * x).sum(), [3.0, 0.0, -4.0]),
    ("y = ReduceL2 <axes = [0], keepdims = 0> (x)", lambda x: torch.linalg.vector_norm(x), [3.0, 0.0, -4.0]),
    ("y = ReduceL1 <axes = [0], keepdims = 0> (x)", lambda x: torch.linalg.vector_norm(x, 1), [3.0, 0.0, -4.0]),
    ("y = ReduceLogSumExp <axes = [0], keepdims = 0> (x)", lambda x: torch.logsumexp(x, 0), [1e4, 1e4, -1e4]),
    ("y = ReduceLogSumExp <axes = [0], keepdims = 0> (x)", lambda x: torch.logsumexp(x, 0), [0.0, -INF, 1.0]),
    ("y = ReduceProd <axes = [0], keepdims = 0> (x)", lambda x: torch.prod(x), [2.0, 0.0, 3.0]),
    ("y = ReduceProd <axes = [0], keepdims = 0> (x)", lambda x: torch.prod(x), [0.0, 0.0, 3.0]),
    ("y = ReduceMin <axes = [0], keepdims = 0> (x)", lambda x: torch.amin(x, 0), [INF, INF, INF]),
    ("y = Softmax <axis = 0> (x)", lambda x: torch.softmax(x, 0), [1e4, -1e4, 1e4]),
    ("y = Softmax <axis = 0> (x)", lambda x: torch.softmax(x, 0), [0.0, NAN, 1.0]),
    ("y = Softmax <axis = 0> (x)", lambda x: torch.softmax(x, 0), [0.0, INF, 1.0]),
    ("y = LogSoftmax <axis = 0> (x)", lambda x: torch.log_softmax(x, 0), [1e4, -1e4, 1e4]),
    ("y = LogSoftmax <axis = 0> (x)", lambda x: torch.log_softmax(x, 0), [0.0, -INF, 1.0]),
    ("s = Sigmoid(x) y = Log(s)", F.logsigmoid, [-1e4, -90.0, 0.0, 90.0, 1e4, INF]),
    ("zero = Constant <value = int64 {0}> () y = CumSum(x, zero)", lambda x: torch.cumsum(x, 0), [1.0, INF, 2.0, -INF, 3.0]),
]  # fmt: skip

BASES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 1e-30, INF, NAN]
EXPONENTS = [0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0]
PAIRS = [0.0, -0.0, 1.0, -2.0, 1e30, 1e-30, INF, -INF]
BINARY = [
    ("Pow(a, b)", torch.pow, BASES, EXPONENTS),
    ("Div(a, b)", torch.div, PAIRS, PAIRS),
    ("Mul(a, b)", torch.mul, PAIRS, PAIRS),
    ("Max(a, b)", torch.maximum, PAIRS, PAIRS),
    ("Min(a, b)", torch.minimum, PAIRS, PAIRS),
    ("PRelu(a, b)", lambda a, b: torch.where(a > 0, a, a * b), [-1.0, 0.0, 2.0, INF], [0.0, 0.25, -1.0]),
    ("Mod <fmod = 1> (a, b)", torch.fmod, [5.5, -5.5, 0.0, 1e30], [2.0, -2.0, 0.75]),
]


def number(value):
    if math.isnan(value):
        return "kNaN"
    if math.isinf(value):
        return "kInfinity" if value > 0 else "-kInfinity"
    return repr(value)


def rounded(values):
    """Numbers of float32, to compute with in float64."""
    return torch.tensor(values).double()


def numbers(tensor):
    tensor = tensor.float()
    return "{" + ", ".join(number(value) for value in tensor.flatten().tolist()) + "}"


def row(graph, parameters, y):
    gradients = torch.autograd.grad(y.sum(), parameters, allow_unused=True)
    columns = [numbers(p.detach()) for p in parameters] + [numbers(y.detach())]
    columns += [numbers(torch.zeros_like(p) if g is None else g) for p, g in zip(parameters, gradients)]
    return "{" + f'R"({graph})", ' + "{" + ", ".join(columns) + "}},"


def main():
    print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    print(f"// Made by special_points.py with PyTorch {torch.__version__.split('+')[0]}.")
    print("// clang-format off")
    for body, function in UNARY:
        x = rounded(POINTS).requires_grad_()
        print(row(f"y = {body}", [x], function(x)))
    for body, function, points in VECTORS:
        x = rounded(points).requires_grad_()
        print(row(body, [x], function(x)))
    for body, function, left, right in BINARY:
        a = rounded([x for x in left for _ in right]).requires_grad_()
        b = rounded([y for _ in left for y in right]).requires_grad_()
        print(row(f"y = {body}", [a, b], function(a, b)))


main()
