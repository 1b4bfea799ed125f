// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sin, cos and tan. The polynomials come from scripts/minimax.py, under the names given.

#include "codegen/math/MathFunctions.h"

namespace accc::codegen::elementary {

// On |r| <= 1.01 pi / 4: "sin" r + r^3 p(r^2) to 2^-27.8, "cos" 1 - r^2 / 2 + r^4 p(r^2) to
// 2^-32.6, "tan" r + r^3 p(r^2) to 2^-28.7.
static constexpr float kSin[] = {-0.166666538f, 0.00833210815f, -0.000195082932f};
static constexpr float kCos[] = {0.0416666456f, -0.00138872978f, 2.443017e-05f};
static constexpr float kTan[] = {0.333333522f,  0.133325711f,     0.0540709645f, 0.0212227926f,
                                 0.0109947892f, -0.000117479729f, 0.00448075961f};

namespace {
/// x = quadrant * pi/2 + r modulo 2 pi, for x >= 0; r is NaN for infinity and NaN.
struct Quarter {
  Expr r, quadrant;
};

/// 2/pi modulo multiples of 4 * 2^-shift, as high + low. A float of at least `from` = 2^(shift +
/// 23) is a multiple of 2^shift, so that what is left out makes full turns only; and because it is
/// left out, the product with a float below the next `from` stays below 2^44.6: its integer part
/// fits an f64, its fraction is right to 2^-60, and no float but zero is nearer than 2^-30 to a
/// multiple of pi/2.
struct TwoOverPi {
  double from, high, low;
};
} // namespace

static constexpr TwoOverPi kTwoOverPi[] = {
    {0, 0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55},
    {0x1p43, 0x1.b727220a94fe1p-23, 0x1.d5f47d4d37703p-78},
    {0x1p64, 0x1.1054a7f09d5f4p-42, 0x1.f534ddc0db629p-96},
    {0x1p86, 0x1.fc2757d1f534ep-64, -0x1.1f924eb53361ep-119},
    {0x1p107, 0x1.7d1f534ddc0dbp-84, 0x1.8a5664f10e410p-138},
};

static Quarter reduceByHalfPi(Expr x) {
  constexpr double roundToInt = 0x1.8p52, halfPi = 0x1.921fb54442d18p0;
  Expr wide = widen(x);
  Expr high = wide.constant(kTwoOverPi[0].high), low = wide.constant(kTwoOverPi[0].low);
  for (const TwoOverPi &next : llvm::ArrayRef(kTwoOverPi).drop_front()) {
    Expr in = x >= next.from;
    high = select(in, next.high, high);
    low = select(in, next.low, low);
  }
  Expr shifted = fma(wide, high, roundToInt);
  Expr r = fma(wide, low, fma(wide, high, roundToInt - shifted)) * halfPi;
  return {narrow(r), low32(bits(shifted))};
}

/// sin or cos of |x|, sin(y + quarters * pi/2).
static Expr sinOfAbs(Expr x, int quarters) {
  auto [r, quadrant] = reduceByHalfPi(abs(x));
  if (quarters)
    quadrant = quadrant + quarters;
  Expr z = r * r;
  Expr sine = fma(r * z, polynomial(z, kSin), r);
  Expr cosine = fma(z, fma(z, polynomial(z, kCos), -0.5f), 1);
  Expr y = select((quadrant & 1) != 0, cosine, sine);
  return flipSign(y, fromBits(quadrant << 30)); // bit 1 of the quadrant
}

Expr sin(Expr x) { return flipSign(sinOfAbs(x, 0), x); }
Expr cos(Expr x) { return sinOfAbs(x, 1); }

Expr tan(Expr x) {
  auto [r, quadrant] = reduceByHalfPi(abs(x));
  Expr z = r * r;
  Expr t = fma(r * z, polynomial(z, kTan), r);
  Expr odd = (quadrant & 1) != 0;
  return flipSign(select(odd, -1, t) / select(odd, t, 1), x);
}

} // namespace accc::codegen::elementary
