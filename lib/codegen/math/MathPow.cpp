// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers. The polynomial comes from scripts/minimax.py, under the name given.

#include "codegen/math/MathFunctions.h"

#include <limits>

namespace accc::codegen::elementary {

// "log2_f64": log2(1 + f) = f p(f) on |f| <= 1/3, relative error 2^-35.7.
static constexpr double kLog2[] = {1.4426950408923223,   -0.72134751956930865, 0.48089834396701253,
                                   -0.36067397861574224, 0.28853944032436196,  -0.24043366051346143,
                                   0.20607604845840594,  -0.18080605868019192, 0.16088973976307228,
                                   -0.13746116931472649, 0.12357532494261535,  -0.16610450794687895,
                                   0.15750350978452277};

/// |x|^y, except where it is one by convention.
static Expr powOfAbs(Expr a, Expr y) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  // The exponent of the result is up to 2^7 and its error is the result's relative error: f64.
  auto [exponent, fraction] = decompose(a);
  Expr f = widen(fraction);
  Expr log2 = fma(f, polynomial(f, kLog2), widen(toFloat(exponent) * 0x1p-23f));
  log2 = select(a == 0, -inf, log2);
  log2 = select(a < inf, log2, widen(a));
  Expr power = atLeast(atMost(log2 * widen(y), 128), -151);
  Expr shifted = narrow(power) + kRoundToInt;
  Expr r = narrow(power - widen(shifted - kRoundToInt));
  return scale(exp2Fraction(r), bits(shifted) << 23);
}

Expr pow(Expr x, Expr y) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr int signBit = std::numeric_limits<int>::min();
  Expr a = abs(x), half = y * 0.5f;
  // From 2^24 on every float is an even integer, and so is infinity.
  Expr integer = roundEven(y) == y;
  Expr odd = integer & (roundEven(half) != half);
  Expr sign = bits(x) & select(odd, bits(x).constant(signBit), 0);
  Expr result = fromBits(bits(powOfAbs(a, y)) ^ sign);
  // Negative and finite to a fraction.
  Expr undefined = (x < 0) & (a < inf) & (roundEven(y) != y);
  result = select(undefined, nan, result);
  // x^0 and 1^y, also of NaN, and (-1)^inf.
  Expr one = (y == 0) | (x == 1) | ((a == 1) & (abs(y) == inf));
  return select(one, 1, result);
}

Expr rsqrt(Expr x) { return 1 / sqrt(x); }

} // namespace accc::codegen::elementary
