// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hyperbolic functions, their inverses, and erf. The polynomials come from scripts/minimax.py,
// under the names given.

#include "codegen/math/MathFunctions.h"

#include <limits>

namespace accc::codegen::elementary {

// "erf": erf(x) = x + x p(x^2) on |x| <= 1, relative error 2^-29.2.
static constexpr float kErf[] = {0.128379166f,   -0.37612626f,     0.112835787f,   -0.0268533491f,
                                 0.00518717151f, -0.000799798989f, 7.80758928e-05f};
// "erfc": erf(x) = 1 - p(x)^8 on [1, 4], absolute error 2^-28.
static constexpr float kErfc[] = {1.00037289f,      -0.142934695f,  -0.0655388385f,
                                  -0.00704381196f,  0.0102487989f,  -0.00149842922f,
                                  -4.15029681e-05f, 1.57817212e-05f};

Expr erf(Expr x) {
  Expr a = atMost(abs(x), 4); // erf(4) rounds to 1
  Expr inner = fma(a, polynomial(a * a, kErf), a);
  Expr p2 = polynomial(a, kErfc);
  p2 = p2 * p2;
  Expr p4 = p2 * p2;
  return copysign(select(a < 1, inner, fma(p4, -p4, 1)), x);
}

Expr tanh(Expr x) {
  // With u = expm1(2|x|) / 2: u / (u + 1), which rounds to 1 from 9.02 on.
  Expr a = abs(x);
  Expr u = expm1Scaled(atMost(a + a, 20), 1);
  return copysign(u / (u + 1), x);
}

// e^a overflows before sinh and cosh do; from here on they do, too.
static constexpr float kSinhEnd = 89.5f;

Expr sinh(Expr x) {
  // With t = expm1(|x|): (t + t / (t + 1)) / 2, where t may overflow and t / 2 not.
  Expr quarter = expm1Scaled(atMost(abs(x), kSinhEnd), 2);
  Expr half = quarter + quarter;
  Expr y = half + quarter / (half + 0.5f);
  return copysign(select(abs(x) < 0x1p-13f, abs(x), y), x);
}

Expr cosh(Expr x) {
  // With h = exp(|x|) / 4: 2 h + 1 / (8 h).
  Expr h = expm1Scaled(atMost(abs(x), kSinhEnd), 2) + 0.25f;
  return fma(h, 2, 0.125f / h);
}

// Beyond this the square of x says nothing that x does not, and would overflow soon.
static constexpr float kLarge = 0x1p30f, kLn2 = 0x1.62e43p-1f;

Expr asinh(Expr x) {
  // log1p(a + a^2 / (1 + sqrt(1 + a^2))), or log(2 a).
  Expr a = abs(x);
  Expr large = a > kLarge;
  Expr z = a * a;
  Expr y = log1p(select(large, a, a + z / (sqrt(z + 1) + 1)));
  return copysign(y + select(large, x.constant(kLn2), 0), x);
}

Expr acosh(Expr x) {
  // With t = x - 1: log1p(t + sqrt(t^2 + 2 t)), or log(2 x).
  Expr large = x > kLarge;
  Expr t = x - 1;
  Expr y = log1p(select(large, x, t + sqrt(fma(t, t, t + t))));
  y = y + select(large, x.constant(kLn2), 0);
  return select(x < 1, std::numeric_limits<float>::quiet_NaN(), y);
}

Expr atanh(Expr x) {
  Expr a = abs(x);
  return copysign(log1p((a + a) / (1 - a)) * 0.5f, x);
}

} // namespace accc::codegen::elementary
