#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derives the polynomials of lib/codegen/math/Math*.cpp and lib/ir/nn. Needs mpmath.

A fit finds the coefficients of sum(c[i] * t(x)**i) closest to f(x) on [lo, hi] under the weight
w(x), by Lawson's reweighted least squares. Coefficients are rounded to the working type one after
the other, lowest power first, and the rest is fitted again after each, so that later ones make up
for the rounding of earlier ones. The error printed is log2 of the weighted error of the rounded
polynomial, in exact arithmetic. Of f64, where a fit takes too long, interpolations at Chebyshev's nodes are
almost as close.

    minimax.py            every polynomial
    minimax.py exp2 erf   these
    minimax.py erf=5      this, of degree 5
"""

import struct
import sys

from mpmath import (asin, atan, cos, erf, erfc, euler, exp, expm1, hyperu, linspace, log, log1p, loggamma, lu_solve,
                    matrix, mp, mpf, pi, sin, sqrt, tan, tanh)

mp.dps = 40


def round_to(x, fmt):
    return mpf(struct.unpack(fmt, struct.pack(fmt, float(x)))[0])


def best(f, w, t, lo, hi, first, count, lawson=30):
    """c[first..first+count) with the least max |w * (f - sum c[i] * t**i)| on [lo, hi]."""
    n = 16 * count
    xs = [(lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (i + mpf(1) / 2) / n) for i in range(n)]
    goal = [w(x) * f(x) for x in xs]
    basis = [[w(x) * t(x) ** (first + j) for j in range(count)] for x in xs]
    weight, coefficients, least = [mpf(1)] * n, None, mp.inf
    for _ in range(lawson):
        a, b = matrix(count, count), matrix(count, 1)
        for row, g, v in zip(basis, goal, weight):
            for i in range(count):
                b[i] += v * row[i] * g
                for j in range(i + 1):
                    a[i, j] += v * row[i] * row[j]
        for i in range(count):
            for j in range(i):
                a[j, i] = a[i, j]
        c = lu_solve(a, b)
        error = [abs(g - sum(ci * r for ci, r in zip(c, row))) for row, g in zip(basis, goal)]
        if max(error) < least:
            coefficients, least = list(c), max(error)
        total = sum(v * e for v, e in zip(weight, error))
        weight = [v * e / total for v, e in zip(weight, error)]
    return coefficients


def fit(name, f, w, lo, hi, degree, t=lambda x: x, fixed=(), fmt="f"):
    """Prints c[0..degree], of which the first len(fixed) are given."""
    lo, hi = mpf(lo), mpf(hi)
    # A removable singularity at zero is stepped around.
    eps = mpf(2) ** -30
    safe = lambda g: lambda x: g(x if abs(x) > eps else eps)
    f, w = safe(f), safe(w)
    done = [mpf(c) for c in fixed]
    while len(done) <= degree:
        rest = lambda x: f(x) - sum(c * t(x) ** i for i, c in enumerate(done))
        done.append(round_to(best(rest, w, t, lo, hi, len(done), degree + 1 - len(done))[0], fmt))
    grid = linspace(lo, hi, 4000)
    worst = max(abs(w(x) * (f(x) - sum(c * t(x) ** i for i, c in enumerate(done)))) for x in grid)
    print(f"{name}: error 2^{float(log(worst, 2)):.2f}")
    digits = 9 if fmt == "f" else 17
    print("    " + ", ".join(f"{float(c):.{digits}g}" + ("f" if fmt == "f" else "") for c in done))


def interpolation(name, f, lo, hi, degree, t=lambda u: u):
    """Prints the polynomial in u that is f(t(u)) at Chebyshev's nodes of [lo, hi], in f64. The error is absolute."""
    count = degree + 1
    nodes = [cos(pi * (i + mpf(1) / 2) / count) for i in range(count)]
    middle, half = (mpf(lo) + hi) / 2, (mpf(hi) - lo) / 2
    values = [f(t(middle + half * x)) for x in nodes]
    c = lu_solve(matrix([[(middle + half * x) ** k for k in range(count)] for x in nodes]), matrix(values))
    c = [round_to(each, "d") for each in c]
    grid = linspace(middle - half, middle + half * mpf("0.999"), 1000)
    worst = max(abs(f(t(u)) - sum(ci * u**i for i, ci in enumerate(c))) for u in grid)
    print(f"{name}: error 2^{float(log(worst, 2)):.2f}")
    print("    " + ", ".join(f"{float(each):.17g}" for each in c))


def lgamma_without_zeros(u):
    """lgamma(2 + u) / (u (1 + u))."""
    return loggamma(2 + u) / (u * (1 + u)) if abs(u) > mpf(2) ** -60 else 1 - euler


def scaled_erfcx(x):
    """(1 + 2x) erfcx(x)."""
    erfcx = hyperu(mpf(1) / 2, mpf(1) / 2, x * x) / sqrt(pi) if x > 50 else exp(x * x) * erfc(x)
    return (1 + 2 * x) * erfcx


ln2 = log(2)
square = lambda x: x * x
third, half_ln2, quarter_pi = mpf(1) / 3, ln2 / 2 * mpf("1.001"), pi / 4 * mpf("1.01")

low = mpf("1e-3")

# name: the fit, by degree. What p is for stands beside the coefficients in the sources.
FITS = {
    # Weighted for expm1(r), which needs the most of it.
    "expm1": lambda d=4: fit("expm1", lambda r: (expm1(r) - r) / r**2, lambda r: r**2 / expm1(r),
                             -half_ln2, half_ln2, d, fixed=(0.5,)),
    "exp2": lambda d=5: fit("exp2", lambda r: expm1(r * ln2) / r, lambda r: r / exp(r * ln2),
                            -0.501, 0.501, d),
    "log": lambda d=8: fit("log", lambda f: (log1p(f) - f) / f**2, lambda f: f**2 / log1p(f),
                           -third, third, d, fixed=(-0.5,)),
    "log2": lambda d=9: fit("log2", lambda f: log1p(f) / ln2 / f, lambda f: f * ln2 / log1p(f),
                            -third, third, d),
    "log2_f64": lambda d=12: fit("log2_f64", lambda f: log1p(f) / ln2 / f,
                                 lambda f: f * ln2 / log1p(f), -third, third, d, fmt="d"),
    "sin": lambda d=2: fit("sin", lambda r: (sin(r) - r) / r**3, lambda r: r**3 / sin(r),
                           0, quarter_pi, d, square),
    "cos": lambda d=2: fit("cos", lambda r: (cos(r) - 1 + r**2 / 2) / r**4, lambda r: r**4 / cos(r),
                           low, quarter_pi, d, square),
    "tan": lambda d=6: fit("tan", lambda r: (tan(r) - r) / r**3, lambda r: r**3 / tan(r),
                           low, quarter_pi, d, square),
    "tanh": lambda d=3: fit("tanh", lambda x: (tanh(x) - x) / x**3, lambda x: x**3 / tanh(x),
                            low, 0.55, d, square),
    "asin": lambda d=4: fit("asin", lambda x: (asin(x) - x) / x**3, lambda x: x**3 / asin(x),
                            low, 0.5, d, square),
    "atan": lambda d=8: fit("atan", lambda x: (atan(x) - x) / x**3, lambda x: x**3 / atan(x),
                            low, 1, d, square),
    "erf": lambda d=6: fit("erf", lambda x: erf(x) / x - 1, lambda x: x / erf(x), 0, 1, d, square),
    # The error wanted is that of erf, absolute.
    "erfc": lambda d=7: fit("erfc", lambda x: erfc(x) ** (mpf(1) / 8),
                            lambda x: 8 * erfc(x) ** (mpf(7) / 8), 1, 4, d),
    "lgamma": lambda d=17: interpolation("lgamma", lgamma_without_zeros, -0.5, 0.5, d),
    "erfcx": lambda d=25: interpolation("erfcx", scaled_erfcx, -1, 1, d, lambda u: 4 * (1 + u) / (1 - u)),
}

if __name__ == "__main__":
    for arg in sys.argv[1:] or FITS:
        name, _, degree = arg.partition("=")
        FITS[name](*([int(degree)] if degree else []))
