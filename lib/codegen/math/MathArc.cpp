// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// asin, acos, atan and atan2. The polynomials come from scripts/minimax.py, under the names given.

#include "codegen/math/MathFunctions.h"

#include <limits>
#include <utility>

namespace accc::codegen::elementary {

// "asin": asin(s) = s + s^3 p(s^2) on [0, 1/2], relative error 2^-27.6.
static constexpr float kAsin[] = {0.166667521f, 0.0749530941f, 0.0454690456f, 0.0241859108f,
                                  0.042155318f};
// "atan": atan(t) = t + t^3 p(t^2) on [0, 1], relative error 2^-28.4.
static constexpr float kAtan[] = {-0.333332986f, 0.19998531f,   -0.142640546f,
                                  0.10951189f,   -0.08400473f,  0.0579053946f,
                                  -0.03112459f,  0.0108853653f, -0.00178694713f};

// pi = kPi + kPi * kPiLow, and so for its multiples by powers of two.
static constexpr float kPi = 0x1.921fb6p1f, kHalfPi = 0x1.921fb6p0f, kPiLow = -2.78275352e-8f;

/// |x| <= 1/2, or else sqrt((1 - |x|) / 2) for asin(|x|) = pi/2 - 2 asin(that): its arc sine, and
/// whether it is the latter. NaN beyond 1.
static std::pair<Expr, Expr> arcSine(Expr x) {
  Expr a = abs(x);
  Expr folded = a > 0.5f;
  Expr z = select(folded, fma(a, -0.5f, 0.5f), a * a);
  Expr s = select(folded, sqrt(z), a);
  return {fma(s * z, polynomial(z, kAsin), s), folded};
}

Expr asin(Expr x) {
  auto [p, folded] = arcSine(x);
  Expr rest = fma(p, -2, kHalfPi * kPiLow) + kHalfPi;
  return copysign(select(folded, rest, p), x);
}

Expr acos(Expr x) {
  // pi/2 - asin(x) in the middle, 2p at the right end, pi - 2p at the left.
  auto [p, folded] = arcSine(x);
  Expr atEnd = select(x < 0, x.constant(kPi), 0);
  Expr base = select(folded, atEnd, kHalfPi);
  Expr factor = flipSign(select(folded, x.constant(2), -1), x);
  return fma(factor, p, base * kPiLow) + base;
}

static Expr arcTangent(Expr t) {
  Expr z = t * t;
  return fma(t * z, polynomial(z, kAtan), t);
}

Expr atan(Expr x) {
  Expr a = abs(x);
  Expr inverted = a > 1;
  Expr p = arcTangent(select(inverted, 1, a) / select(inverted, a, 1));
  Expr rest = (kHalfPi - p) + kHalfPi * kPiLow;
  return copysign(select(inverted, rest, p), x);
}

Expr atan2(Expr y, Expr x) {
  constexpr int signBit = std::numeric_limits<int>::min();
  Expr a = abs(y), b = abs(x);
  Expr steep = a > b;
  Expr ratio = select(steep, b, a) / select(steep, a, b);
  // 0/0 is the angle of the axis, inf/inf that of the diagonal.
  ratio = select(a == b, select(a == 0, a, 1), ratio);
  Expr p = arcTangent(ratio);
  // x >= 0: p or pi/2 - p; x < 0: pi - p or pi/2 + p.
  Expr left = bits(x) & signBit;
  Expr base = select(steep, kHalfPi, select(left != 0, x.constant(kPi), 0));
  Expr sign = left ^ select(steep, left.constant(signBit), 0);
  return copysign((flipSign(p, fromBits(sign)) + base * kPiLow) + base, y);
}

} // namespace accc::codegen::elementary
