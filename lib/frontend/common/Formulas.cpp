// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Formulas.h"
#include "frontend/common/Indexing.h"

#include <cmath>
#include <limits>

using namespace mlir;
using accc::prim::Tensor;

/// f(-x) = -f(x), of a formula that holds for x >= 0. Chosen, not multiplied by the sign, which has
/// no derivative at 0.
static Tensor odd(Tensor x, llvm::function_ref<Tensor(Tensor)> f) {
  Tensor isNegative = x < 0.0;
  Tensor y = f(accc::prim::select(isNegative, -x, x));
  return accc::prim::select(isNegative, -y, y);
}

Tensor accc::frontend::commonScale(Tensor a, Tensor b) {
  Tensor greater = detach(prim::max(prim::abs(a), prim::abs(b)));
  Tensor isInfinite = prim::equal(greater, std::numeric_limits<double>::infinity());
  return prim::select(isInfinite, 1.0, prim::select(greater > 0.0, greater, 1.0));
}
Tensor accc::frontend::hypot(Tensor a, Tensor b) {
  Tensor scale = commonScale(a, b);
  a = a / scale;
  b = b / scale;
  return scale * prim::sqrt(a * a + b * b);
}

Tensor accc::frontend::reciprocal(Tensor x) { return 1.0 / x; }
Tensor accc::frontend::tan(Tensor x) { return prim::sin(x) / prim::cos(x); }

/// sinh and cosh of half of x, whose powers are finite where those of x are not. Of s = e^(x/2) - 1
/// and r = e^(-x/2) - 1 they are (s - r) / 2 and 1 + (s + r) / 2, and so are their derivatives
/// exact near 0.
static std::pair<Tensor, Tensor> hyperbolicOfHalf(Tensor x) {
  Tensor s = accc::prim::expm1(x * 0.5), r = accc::prim::expm1(x * -0.5);
  return {(s - r) * 0.5, (s + r) * 0.5 + 1.0};
}
Tensor accc::frontend::sinh(Tensor x) {
  auto [sinhOfHalf, coshOfHalf] = hyperbolicOfHalf(x);
  return 2.0 * sinhOfHalf * coshOfHalf;
}
Tensor accc::frontend::cosh(Tensor x) {
  Tensor sinhOfHalf = hyperbolicOfHalf(x).first;
  return 2.0 * sinhOfHalf * sinhOfHalf + 1.0;
}

/// `f`, which squares its operand, below 1e9, and beyond log(2 x), which it is near there.
static Tensor areaFunction(Tensor x, llvm::function_ref<Tensor(Tensor)> f) {
  constexpr double kLarge = 1e9, kLogTwo = 0.693147180559945309;
  Tensor isLarge = x > kLarge;
  Tensor y = f(accc::prim::select(isLarge, 1.0, x));
  return accc::prim::select(
      isLarge, accc::prim::log(accc::prim::select(isLarge, x, x.full(1.0))) + kLogTwo, y);
}

// log(x + sqrt(x^2 + 1)), exact near 0.
Tensor accc::frontend::asinh(Tensor x) {
  return odd(x, [](Tensor positive) {
    return areaFunction(positive, [](Tensor a) {
      return prim::log1p(a + a * a / (1.0 + prim::sqrt(a * a + 1.0)));
    });
  });
}
// log(x + sqrt(x^2 - 1)), with x - 1 for x, exact near 1. Two roots, for the derivative of one of a
// product is inf 0 at 1.
Tensor accc::frontend::acosh(Tensor x) {
  return areaFunction(x, [](Tensor a) {
    Tensor above = a - 1.0;
    return prim::log1p(above + prim::sqrt(above) * prim::sqrt(a + 1.0));
  });
}
Tensor accc::frontend::atanh(Tensor x) { return 0.5 * (prim::log1p(x) - prim::log1p(-x)); }

Tensor accc::frontend::floorQuotient(Tensor a, Tensor b) {
  Tensor remainder = prim::rem(a, b);
  Tensor below =
      prim::bitAnd(prim::notEqual(remainder, 0.0), prim::notEqual(remainder < 0.0, b < 0.0));
  bool isFloat = isa<FloatType>(a.elementType());
  Tensor quotient = isFloat ? (a - remainder) / b : a / b;
  quotient = prim::select(below, quotient - 1.0, quotient);
  if (!isFloat)
    return quotient;
  Tensor whole = prim::floor(quotient); // of almost an integer, which rounding may have missed
  whole = prim::select(quotient - whole > 0.5, whole + 1.0, whole);
  return prim::select(prim::equal(b, 0.0), prim::floor(a / b), whole);
}

// By squarings: no machine's power of floats is exact, and the cast to an integer drops a fraction.
// Half of the type's bits need them: of an odd a of w bits, u = a^(2^k) - 1 has the factor 2^(k +
// 2), so that u^2 is 0 from k = w/2 - 2 on, and (1 + u)^n is 1 + n u. Of an even one a^w is 0.
Tensor accc::frontend::integerPower(Tensor a, Tensor b) {
  auto isOdd = [](Tensor x) { return prim::notEqual(prim::bitAnd(x, x.full(1.0)), 0.0); };
  bool isUnsigned = b.elementType().isUnsignedInteger();
  unsigned bits = b.elementType().getIntOrFloatBitWidth() - (isUnsigned ? 0 : 1);
  unsigned squarings = std::max(a.elementType().getIntOrFloatBitWidth() / 2 - 2, 3u);
  if (std::optional<double> known = prim::splatNumber(b))
    bits = static_cast<unsigned>(std::log2(std::max(*known, 1.0))) + 1;
  Tensor power = a.full(1.0), square = a, rest = b;
  for (unsigned bit = 0; bit < bits && bit < squarings; ++bit) {
    power = prim::select(isOdd(rest), power * square, power);
    rest = rest / 2.0;
    square = bit + 1 < bits ? square * square : square;
  }
  if (bits > squarings) {
    Tensor odd = 1.0 + rest.convert(a.elementType()) * (square - 1.0);
    power = prim::select(prim::bitOr(isOdd(a), prim::equal(rest, 0.0)), power * odd, 0.0);
  }
  if (isUnsigned)
    return power;
  Tensor isUnit = prim::equal(a, 1.0);
  if (!a.elementType().isUnsignedInteger())
    isUnit = prim::bitOr(isUnit, prim::equal(a, -1.0));
  Tensor inverse = prim::select(isUnit, prim::select(isOdd(b), a, 1.0), 0.0);
  return prim::select(b < 0.0, inverse, power);
}

Tensor accc::frontend::rootOf(Tensor sum, double p) {
  Tensor isZero = prim::equal(sum, 0.0);
  Tensor positive = prim::select(isZero, 1.0, sum);
  return prim::select(isZero, 0.0, p == 2 ? prim::sqrt(positive) : prim::pow(positive, 1 / p));
}

Tensor accc::frontend::norm(Tensor x, double p, ArrayRef<int64_t> dims) {
  Tensor size = prim::abs(x);
  if (std::isinf(p))
    return prim::reduce(p > 0 ? prim::ReduceKind::max : prim::ReduceKind::min, size, dims);
  if (p == 0)
    return prim::sum(prim::notEqual(x, 0.0).convert(x.elementType()), dims);
  if (p == 1)
    return prim::sum(size, dims);
  return rootOf(prim::sum(p == 2 ? x * x : prim::pow(size, p), dims), p);
}

Tensor accc::frontend::clamp(Tensor x, std::optional<double> low, std::optional<double> high) {
  Tensor y = x;
  std::optional<Tensor> isInside;
  if (low) {
    y = prim::max(y, *low);
    isInside = x > *low;
  }
  if (high) {
    y = prim::min(y, *high);
    Tensor isBelow = x < *high;
    isInside = isInside ? prim::bitAnd(*isInside, isBelow) : isBelow;
  }
  return isInside ? prim::select(*isInside, x, detach(y)) : x;
}

Tensor accc::frontend::nanOf(Tensor x) {
  Tensor isNan = prim::notEqual(x, x);
  Tensor count = prim::sumAll(isNan.convert(x.elementType()));
  return prim::sumAll(prim::select(isNan, x, 0.0)) / prim::max(count, 1.0);
}
