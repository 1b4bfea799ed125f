// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas behind populateElementaryFunctionPatterns and populateHostPatterns: f32 to f32,
// scalar or vector, branch-free but for remainders. Bounds stand in MathBounds.def, derivations
// beside the code.

#ifndef ACCC_CODEGEN_MATH_MATHFUNCTIONS_H
#define ACCC_CODEGEN_MATH_MATHFUNCTIONS_H

#include "codegen/math/MathExpr.h"

namespace accc::codegen::elementary {

// MathExpLog.cpp
Expr exp(Expr x);
Expr exp2(Expr x);
Expr expm1(Expr x);
Expr log(Expr x);
Expr log2(Expr x);
Expr log10(Expr x);
Expr log1p(Expr x);

/// x = 2^(exponent / 2^23) * (1 + fraction), fraction in [-1/3, 1/3): for finite x > 0, subnormal
/// or not. `exponent` is an i32, a multiple of 2^23.
struct Decomposed {
  Expr exponent, fraction;
};
Decomposed decompose(Expr x);
/// x * 2^(exponent / 2^23), rounded once also where it is subnormal; x is in [0.5, 2) or NaN, the
/// power in [-151, 128].
Expr scale(Expr x, Expr exponent);
/// expm1(x) * 2^-down, for down in {1, 2} and 0 <= x < (127.5 + down) ln 2. A subnormal x loses
/// its last `down` bits.
Expr expm1Scaled(Expr x, int down);
/// 2^r for |r| <= 0.501.
Expr exp2Fraction(Expr r);
/// x + 1.5 * 2^23, whose low bits are the integer nearest to x, |x| < 2^22.
inline constexpr float kRoundToInt = 0x1.8p23f;

// MathTrig.cpp
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);

// MathArc.cpp
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);

// MathHyperbolic.cpp
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr erf(Expr x);

// MathPow.cpp
Expr pow(Expr x, Expr y);
Expr rsqrt(Expr x);

// MathRemainder.cpp
/// C's fmodf, which is exact.
Expr remainder(Expr x, Expr y);

} // namespace accc::codegen::elementary

// MathDevice.cpp
namespace accc::codegen::device {
Expr exp(Expr x);
Expr reciprocal(Expr x);
Expr rsqrt(Expr x);
Expr tanh(Expr x);
} // namespace accc::codegen::device

#endif // ACCC_CODEGEN_MATH_MATHFUNCTIONS_H
