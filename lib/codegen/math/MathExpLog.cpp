// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponentials and logarithms. The polynomials come from scripts/minimax.py, under the names given.

#include "codegen/math/MathFunctions.h"

#include <cmath>
#include <limits>

namespace accc::codegen::elementary {

static constexpr float kInf = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
static constexpr float kMinNormal = std::numeric_limits<float>::min();

// ln 2 = kLn2 + kLn2Low.
static constexpr float kLog2E = 0x1.715476p+0f, kLn2 = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;
static constexpr int kOne = 0x3f800000;               // the bits of 1.0f
static constexpr int kExponentMask = int(0xff800000); // sign and exponent
static constexpr int kMinNormalBits = 0x00800000, k2To23Bits = 0x4b000000, kInfBits = 0x7f800000;
static constexpr float kPerExponent = 0x1p-23f; // exponent field to exponent

// "expm1": expm1(r) = r + r^2 p(r) on |r| <= ln2 / 2, relative error 2^-26.1.
static constexpr float kExpm1[] = {0.5f, 0.16666548f, 0.0416668393f, 0.00836611819f,
                                   0.00138991349f};
// "exp2": 2^r = 1 + r p(r) on |r| <= 1/2, relative error 2^-28.2.
static constexpr float kExp2[] = {0.693147182f,   0.240226477f,   0.0555035919f,
                                  0.00961849652f, 0.00133911835f, 0.000153312474f};
// "log": log1p(f) = f + f^2 p(f) on |f| <= 1/3, relative error 2^-27.7.
static constexpr float kLog[] = {-0.5f,         0.333332151f,  -0.249998003f,
                                 0.20010446f,   -0.166803747f, 0.140053153f,
                                 -0.121857613f, 0.139868274f,  -0.128854647f};
// "log2": log2(1 + f) = f p(f) on |f| <= 1/3, relative error 2^-26.2.
static constexpr float kLog2[] = {1.44269502f,  -0.721347511f, 0.480901748f, -0.360674381f,
                                  0.288475811f, -0.240503579f, 0.204987392f, -0.177708387f,
                                  0.189032987f, -0.177827641f};

static Expr lesser(Expr i, int j) { return select(i < j, i, j); }
static Expr greater(Expr i, Expr j) { return select(i > j, i, j); }

namespace {
/// x = k ln 2 + r with |r| <= ln2 / 2: expm1(r), and k << 23.
struct Reduced {
  Expr expm1, exponent;
};
} // namespace

static Reduced reduceByLn2(Expr x) {
  Expr shifted = fma(x, kLog2E, kRoundToInt);
  Expr k = shifted - kRoundToInt;
  Expr r = fma(k, -kLn2Low, fma(k, -kLn2, x));
  return {fma(r * r, polynomial(r, kExpm1), r), bits(shifted) << 23};
}

Expr scale(Expr x, Expr exponent) {
  // On integers: where a product is subnormal, or vanishes, many CPUs take a hundred times as long,
  // and a masked softmax is full of exp(-inf).
  Expr i = bits(x) + exponent;
  // Counted in the smallest float, 2^-149, a subnormal is an integer: that integer is its bits.
  Expr count = fromBits(lesser(i, kMinNormalBits) + (149 << 23));
  Expr subnormal = bits(count + 0x1p23f) - k2To23Bits;
  Expr y = fromBits(greater(subnormal, lesser(i, kInfBits)));
  return select(x == x, y, x);
}

Expr exp(Expr x) {
  // Beyond these the result is 0 or infinite.
  auto [expm1, exponent] = reduceByLn2(atLeast(atMost(x, 89), -104));
  return scale(expm1 + 1, exponent);
}

Expr exp2Fraction(Expr r) { return fma(r, polynomial(r, kExp2), 1); }

Expr exp2(Expr x) {
  x = atLeast(atMost(x, 128), -151);
  Expr shifted = x + kRoundToInt;
  return scale(exp2Fraction(x - (shifted - kRoundToInt)), bits(shifted) << 23);
}

Expr expm1Scaled(Expr x, int down) {
  // 2^k (1 + e) - 1 = 2^k e + (2^k - 1)
  auto [e, exponent] = reduceByLn2(x);
  Expr power = fromBits(exponent + (kOne - (down << 23)));
  return fma(power, e, power - std::ldexp(1.0f, -down));
}

Expr expm1(Expr x) {
  Expr half = expm1Scaled(atLeast(atMost(x, 89), -18), 1);
  return select(abs(x) < 0x1p-26f, x, half + half);
}

Decomposed decompose(Expr x) {
  // A subnormal is scaled by 2^23 first.
  Expr subnormal = x < kMinNormal;
  Expr i = bits(select(subnormal, x * 0x1p23f, x));
  Expr exponent = (i - 0x3f2aaaab) & kExponentMask; // the bits of 2/3
  Expr fraction = fromBits(i - exponent) - 1;
  return {exponent - select(subnormal, i.constant(23 << 23), 0), fraction};
}

static Expr log1pFraction(Expr f) { return fma(f * f, polynomial(f, kLog), f); }

/// `y`, which holds where 0 < x < inf; `atZero`, a NaN below, and `x` itself at infinity and NaN.
static Expr logSpecial(Expr x, float zero, Expr y) {
  y = select(x > zero, y, select(x == zero, x.constant(-kInf), kNaN));
  return select(x == kInf, x, y);
}

Expr log(Expr x) {
  auto [exponent, f] = decompose(x);
  return logSpecial(x, 0, fma(toFloat(exponent), kLn2 * kPerExponent, log1pFraction(f)));
}

Expr log2(Expr x) {
  auto [exponent, f] = decompose(x);
  return logSpecial(x, 0, fma(f, polynomial(f, kLog2), toFloat(exponent) * kPerExponent));
}

Expr log10(Expr x) {
  // Both constants are off by most of an ulp as floats.
  constexpr float log10Of2 = 0x1.344136p-2f, log10Of2Low = -0x1.ec10cp-27f;
  constexpr float log10OfE = 0x1.bcb7b2p-2f, log10OfELow = -0x1.5b235ep-27f;
  auto [exponent, f] = decompose(x);
  Expr k = toFloat(exponent) * kPerExponent, r = log1pFraction(f);
  Expr low = fma(r, log10OfELow, k * log10Of2Low);
  return logSpecial(x, 0, fma(k, log10Of2, fma(r, log10OfE, low)));
}

Expr log1p(Expr x) {
  // 1 + x = 2^k (1 + f). The rounded sum gives k; f = 2^-k x + (2^-k - 1) is then right to one
  // rounding. Four times 2^-k, because 2^-128 is subnormal.
  Expr exponent = (bits(x + 1) - 0x3f2aaaab) & kExponentMask;
  Expr inverse = fromBits(kOne + (2 << 23) - exponent);
  Expr f = fma(x * 0.25f, inverse, fma(inverse, 0.25f, -1.0f));
  Expr y = fma(toFloat(exponent), kLn2 * kPerExponent, log1pFraction(f));
  return select(abs(x) < 0x1p-26f, x, logSpecial(x, -1, y));
}

} // namespace accc::codegen::elementary
