// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"
#include "ir/prim/Pointwise.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Gamma.cpp.inc"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;

// B(2), B(4), ..., of which all asymptotic series here are made.
constexpr double kBernoulli[] = {
    1.0 / 6, -1.0 / 30,     1.0 / 42,      -1.0 / 30,       5.0 / 66,       -691.0 / 2730,
    7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

/// What the functions are computed of where 0 < x, and where x < 0 to reflect the result at 1/2.
Tensor reflected(Tensor x) { return select(x < 0.0, 1.0 - x, x); }
/// 0, -1, -2, ...
Tensor isPole(Tensor x) { return bitAnd(x <= 0.0, equal(x, floor(x))); }
/// pi times the distance to the nearest integer, with its sign: an angle whose sine is that of pi x
/// but for the sign, and whose tangent is that of pi x.
Tensor halfTurns(Tensor x) { return (x - roundEven(x)) * kPi; }

/// a^n
Tensor power(Tensor a, int64_t n) {
  if (n == 1)
    return a;
  Tensor half = power(a, n / 2);
  return n % 2 ? half * half * a : half * half;
}

Tensor polygamma(Tensor x, int64_t order) {
  return x.wrap(x.getBuilder().create<PolygammaOp>(x.getLoc(), x.type(), x, order));
}

// ---- lgamma ----

// "lgamma" of scripts/minimax.py: lgamma(2 + u) / (u (1 + u)) on |u| <= 1/2, error 2^-55.8.
constexpr double kLgamma[] = {
    0.42278433509846713,     -0.10031730167435392,    0.032965000621153588,
    -0.012384192193370211,   0.0049986411649353725,   -0.0021081308340694721,
    0.00091537691250878313,  -0.00040570739285611585, 0.00018255283839072259,
    -8.3095221469151262e-05, 3.8166605933399918e-05,  -1.7660586231652296e-05,
    8.2374766746362499e-06,  -3.8546221362515833e-06, 1.749054030806819e-06,
    -8.2476880829059134e-07, 5.2365685348413622e-07,  -2.4890295296503959e-07};

/// x > 0.
Tensor lgammaOfPositive(Tensor x) {
  constexpr double kLarge = 8;
  Tensor isLarge = x >= kLarge, isLess = x < 1.5, isLeast = x < 0.5;
  // x = 2 + u + some integer, where u is exact and factor = Gamma(x) / Gamma(2 + u) or, below 3/2,
  // its reciprocal.
  Tensor u = select(isLeast, x, select(isLess, x - 1.0, x - 2.0));
  Tensor factor = select(isLeast, x * (x + 1.0), select(isLess, x, x.full(1.0)));
  for (double end = 3.5; end <= kLarge + 0.5; ++end) {
    Tensor isBeyond = u >= 0.5;
    u = select(isBeyond, u - 1.0, u);
    factor = select(isBeyond, factor * (u + 2.0), factor);
  }
  Tensor logarithm = log(select(isLarge, x, factor));
  Tensor small = u * (u + 1.0) * polynomial(u, kLgamma) + select(isLess, -logarithm, logarithm);
  double stirling[10];
  for (int k = 1; k <= 10; ++k)
    stirling[k - 1] = kBernoulli[k - 1] / (2.0 * k * (2 * k - 1));
  Tensor r = 1.0 / max(x, kLarge);
  // (x - 1/2) log(x) - x + log(2 pi) / 2, which is infinite only where lgamma(x) is.
  Tensor large = (x - 0.5) * (logarithm - 1.0) + (0.5 * std::log(2 * kPi) - 0.5) +
                 r * polynomial(r * r, stirling);
  return select(isLarge, large, small);
}

// ---- polygamma ----

/// x > 0.
Tensor digammaOfPositive(Tensor x) {
  constexpr double kLarge = 10;
  // digamma(x) = digamma(x + 10) - (1 / x + ... + 1 / (x + 9)), the terms in pairs of equal sums.
  Tensor isSmall = x < kLarge;
  Tensor a = select(isSmall, x, 1.0), product = a * (a + 9.0);
  Tensor sum = 1.0 / product;
  for (int k = 1; k < 5; ++k)
    sum = sum + 1.0 / (product + k * (9.0 - k));
  double series[8];
  for (int k = 1; k <= 8; ++k)
    series[k - 1] = kBernoulli[k - 1] / (2 * k);
  Tensor b = select(isSmall, x + 10.0, x), r = 1.0 / b, squared = r * r;
  Tensor y = log(b) - 0.5 * r - squared * polynomial(squared, series);
  return select(isSmall, y - (2.0 * a + 9.0) * sum, y);
}

/// The terms up to this, and the rest by the formula of Euler and Maclaurin.
constexpr int kTerms = 10;

/// zeta(s, x), s > 1, x > 0.
Tensor zetaOfInteger(int64_t s, Tensor x) {
  Tensor r = 1.0 / x, sum = power(r, s);
  for (int k = 1; k < kTerms; ++k)
    sum = sum + power(1.0 / (x + k), s);
  double series[12], product = static_cast<double>(s); // s (s + 1) ... (s + 2j - 2) / (2j)!
  for (int j = 1; j <= 12; ++j) {
    product /= (2 * j - 1) * (2 * j);
    series[j - 1] = kBernoulli[j - 1] * product;
    product *= static_cast<double>((s + 2 * j - 1) * (s + 2 * j));
  }
  r = 1.0 / (x + kTerms);
  Tensor rest = 1.0 / static_cast<double>(s - 1) + r * (0.5 + r * polynomial(r * r, series));
  return sum + power(r, s - 1) * rest;
}

/// The derivative of this order of pi cot(pi x), a polynomial in the cotangent: that of cot^k is
/// -k pi (cot^(k - 1) + cot^(k + 1)).
Tensor cotangentDerivative(Tensor x, int64_t order) {
  SmallVector<double> coefficients = {0, kPi};
  for (int64_t i = 0; i < order; ++i) {
    SmallVector<double> next(coefficients.size() + 1, 0.0);
    for (size_t k = 1; k < coefficients.size(); ++k) {
      next[k - 1] -= static_cast<double>(k) * kPi * coefficients[k];
      next[k + 1] -= static_cast<double>(k) * kPi * coefficients[k];
    }
    coefficients = next;
  }
  Tensor angle = halfTurns(x);
  return polynomial(cos(angle) / sin(angle), coefficients);
}

} // namespace

// ---- lgamma ----

LogicalResult LgammaOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return defineInDouble(*this, builder, results, [](Tensor x) {
    Tensor y = lgammaOfPositive(reflected(x));
    // Gamma(x) Gamma(1 - x) = pi / sin(pi x)
    Tensor reflection = log(kPi / abs(sin(halfTurns(x)))) - y;
    return select(bitOr(isPole(x), equal(x, -kInfinity)), kInfinity,
                  select(x < 0.0, reflection, y));
  });
}

LogicalResult LgammaOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients,
                  [](Tensor x, Tensor y, Tensor dy) { return prim::chain(dy, polygamma(x, 0)); });
}

// ---- polygamma ----

LogicalResult PolygammaOp::verify() {
  // polygamma_c1
  auto order = static_cast<int64_t>(getOrder());
  if (order < 0 || order > 100)
    return emitOpError("order is ") << order << ", not in [0, 100]";
  return success();
}

// psi_n(1 - x) - (-1)^n psi_n(x) = (-1)^n (d/dx)^n pi cot(pi x)
LogicalResult PolygammaOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  int64_t n = getOrder();
  double sign = n % 2 ? -1 : 1;
  return defineInDouble(*this, builder, results, [&](Tensor x) {
    Tensor a = reflected(x);
    Tensor y = n == 0 ? digammaOfPositive(a)
                      : zetaOfInteger(n + 1, a) * (-sign * std::tgamma(static_cast<double>(n + 1)));
    y = select(x < 0.0, sign * y - cotangentDerivative(x, n), y);
    if (n > 0)
      return select(isPole(x), -sign * kInfinity, y);
    return select(equal(x, 0.0), -kInfinity / x, select(isPole(x), kNaN, y));
  });
}

LogicalResult PolygammaOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    return prim::chain(dy, polygamma(x, static_cast<int64_t>(getOrder()) + 1));
  });
}

// ---- zeta ----

namespace {
/// s > 1, q > 0.
Tensor zetaOfPositive(Tensor s, Tensor q) {
  Tensor sum = pow(q, -s);
  for (int k = 1; k < kTerms; ++k)
    sum = sum + pow(q + k, -s);
  Tensor end = q + kTerms, r = 1.0 / end;
  // s (s + 1) ... (s + 2j - 2) r^(2j) B(2j) / (2j)!
  Tensor product = s * r * r, rest = 1.0 / (s - 1.0) + 0.5 * r;
  double factorial = 1;
  for (int j = 1; j <= 12; ++j) {
    factorial *= (2 * j - 1) * (2 * j);
    rest = rest + product * (kBernoulli[j - 1] / factorial);
    if (j < 12)
      product = product * (s + (2 * j - 1)) * (s + 2 * j) * (r * r);
  }
  return sum + pow(end, 1.0 - s) * rest;
}
} // namespace

LogicalResult ZetaOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getS());
  Tensor s = x.convert(builder.getF64Type()), q = x.wrap(getQ()).convert(builder.getF64Type());
  // Below 0, with q = f - m: the negative terms are q, q + 1, ..., f - 1, whose absolute values are
  // the terms of zeta(s, 1 - f) up to -q.
  Tensor isNegative = q < 0.0, f = q - floor(q);
  Tensor positive = zetaOfPositive(s, select(isNegative, f, q));
  Tensor negative = zetaOfPositive(s, select(isNegative, 1.0 - f, 1.0)) -
                    zetaOfPositive(s, select(isNegative, 1.0 - q, 1.0));
  Tensor isOdd = notEqual(floor(s * 0.5) * 2.0, s);
  Tensor y = select(isNegative, positive + select(isOdd, -negative, negative), positive);
  y = select(bitAnd(isNegative, notEqual(s, floor(s))), kNaN, y);
  y = select(isPole(q), kInfinity, y);
  y = select(s < 1.0, kNaN, select(equal(s, 1.0), kInfinity, y));
  results.push_back(y.convert(x.elementType()));
  return success();
}

// d zeta(s, q) / dq = -s zeta(s + 1, q)
LogicalResult ZetaOp::differentiate(Gradients &gradients) {
  if (gradients.wants(getS()))
    return emitOpError("has no gradient with respect to s, the first argument; detach it");
  Tensor s(gradients.builder(), getLoc(), getS());
  Tensor q = s.wrap(getQ()), dy = s.wrap(gradients.of(getResult()));
  Tensor next = s.wrap(gradients.builder().create<ZetaOp>(getLoc(), s.type(), s + 1.0, q));
  gradients.add(q, prim::chain(dy, -s * next));
  return success();
}
