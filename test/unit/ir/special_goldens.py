#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of special functions, computed by mpmath with 60 digits.

Writes SpecialGoldens.inc beside this file: ops, arguments that single precision holds, and values. Needs mpmath.
"""
import os
import random
import struct

from mpmath import besseli, erfc, erfinv, exp, hyperu, inf, log, loggamma, mp, mpf, pi, psi, sqrt, zeta

mp.dps = 60
random.seed(7)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def between(low, high, count=60):
    return [single(random.uniform(low, high)) for _ in range(count)]


def magnitudes(low, high, count=40, signs=(1,)):
    return [single(random.choice(signs) * 10 ** random.uniform(low, high)) for _ in range(count)]


def scaled_erfc(x):
    return hyperu(mpf(1) / 2, mpf(1) / 2, x * x) / sqrt(pi) if x > 50 else exp(x * x) * erfc(x)


def log_normal_cdf(x):
    t = -x / sqrt(mpf(2))
    return log(scaled_erfc(t) / 2) - t * t if t > 50 else log(erfc(t) / 2)


def normal_quantile(p):
    # Newton's method from a double's accuracy.
    x = sqrt(mpf(2)) * erfinv(2 * p - 1) if p > 1e-20 else -sqrt(-2 * log(p))
    for _ in range(60):
        change = (erfc(-x / sqrt(mpf(2))) / 2 - p) * sqrt(2 * pi) * exp(x * x / 2)
        x -= change
        if abs(change) < mpf(10) ** -50 * abs(x):
            break
    return x


POSITIVE = between(0, 12, 120) + magnitudes(-37, 37) + [1 + 2.0**-20, 1 - 2.0**-20, 2 + 2.0**-20, 2 - 2.0**-20, 8, 10]
NEGATIVE = [-x for x in between(0, 12, 120) + magnitudes(-6, 2)]
ANY = between(-12, 12) + magnitudes(-30, 1.2, signs=(1, -1))

FUNCTIONS = [
    ("lgamma", "", lambda x: loggamma(x).real, POSITIVE, 6e-16, 0),
    ("lgamma", "", lambda x: loggamma(x).real, NEGATIVE, 2e-15, 1),
    ("polygamma", "{order = 0 : i64}", lambda x: psi(0, x), POSITIVE + NEGATIVE, 2e-15, 1),
    *(("polygamma", f"{{order = {n} : i64}}", lambda x, n=n: psi(n, x), between(0, 20, 60), 2e-15, 0) for n in (1, 2, 3, 8)),
    *(("polygamma", f"{{order = {n} : i64}}", lambda x, n=n: psi(n, x), NEGATIVE, 4e-15, 1) for n in (1, 3)),
    ("erfc", "", erfc, [x for x in ANY if x < 9] + between(8, 9.1), 1e-15, 0),
    ("erfcx", "", scaled_erfc, between(-5, 30) + magnitudes(-20, 20), 4e-15, 0),
    ("log_ndtr", "", log_normal_cdf, [x for x in between(-40, 10) + magnitudes(-20, 4, signs=(-1, 1)) if x < 12], 2e-15, 0),
    ("erfinv", "", erfinv, [single(x) for x in between(-1, 1)] + [1 - 2.0**-24, 2.0**-24 - 1] + magnitudes(-30, -1), 1e-15, 0),
    ("ndtri", "", normal_quantile, between(0, 0.45) + between(0.55, 1) + magnitudes(-37, -2), 2e-15, 0),
    *(("bessel_i", f"{{order = {n} : i64, scaled = true}}", lambda x, n=n: besseli(n, x) * exp(-abs(x)), between(-40, 40) + magnitudes(-3, 3), 2e-15, 0) for n in (0, 1, 2, 3)),
    *(("bessel_i", f"{{order = {n} : i64, scaled = false}}", lambda x, n=n: besseli(n, x), between(-80, 80) + magnitudes(-3, 1.9), 4e-15, 0) for n in (0, 1)),
]


def number(x):
    return "INFINITY" if x == inf else repr(float(x))


path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "SpecialGoldens.inc")
with open(path, "w") as out:
    out.write("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Written by special_goldens.py.\n// clang-format off\n")
    for op, attributes, exact, arguments, bound, scale in FUNCTIONS:
        values = [exact(mpf(x)) for x in arguments]
        arguments = ", ".join(number(x) for x in arguments)
        out.write(f'{{"{op}", "{attributes}", {bound}, {scale},\n {{{arguments}}},\n {{{", ".join(number(y) for y in values)}}}}},\n')
