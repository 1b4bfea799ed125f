// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remainders of floats.

#include "codegen/math/MathFunctions.h"

#include <cmath>

namespace accc::codegen::elementary {

/// Quotients of floats below 2^28 have the right integer part in f64: it is wrong only where a
/// quotient is rounded up to an integer, and of two significands of 24 bits one that is no integer
/// is 2^-24 from it or more, while the spacing of f64 there is 2^-25 or less. Its product with the
/// divisor has 52 bits, and what is left has 24 again, in units of the lesser of both operands'.
static constexpr int kBitsOfStep = 28;

/// a - b * floor(a / b), exact for 0 <= a < 2^28 b.
static Expr nearRemainder(Expr a, Expr b) { return a - floor(a / b) * b; }

/// The remainder of `a` by 2^28 b, as if by hand: the first digits of the quotient first. The
/// greatest quotient of floats is below 2^(128 + 149), ten such digits.
static Expr farRemainder(Expr a, Expr b) {
  for (int step = 9; step > 0; --step)
    a = nearRemainder(a, b * std::ldexp(1.0, step * kBitsOfStep));
  return a;
}

Expr remainder(Expr x, Expr y) {
  Expr a = widen(abs(x)), b = widen(abs(y));
  Expr isFar = a >= b * std::ldexp(1.0, kBitsOfStep);
  Expr r = nearRemainder(ifAny(isFar, [&] { return farRemainder(a, b); }, a), b);
  // Of an infinite y, 0 * y would be NaN.
  return flipSign(select(abs(x) < abs(y), abs(x), narrow(r)), x);
}

} // namespace accc::codegen::elementary
