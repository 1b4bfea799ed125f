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
#include "ir/nn/Special.cpp.inc"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInvSqrtPi = std::numbers::inv_sqrtpi;

/// Another op of this family on x.
template <typename Op, typename... Attributes> Tensor make(Tensor x, Attributes... attributes) {
  return x.wrap(x.getBuilder().create<Op>(x.getLoc(), x.type(), x, attributes...));
}

} // namespace

// ---- erfc, erfcx ----

namespace {
// "erfcx" of scripts/minimax.py: (1 + 2x) erfcx(x) = p((x - 4) / (x + 4)) for x >= 0, error
// 2^-53.9.
constexpr double kErfcx[] = {
    1.2329951186255526,      -0.1396211168405625,     0.015379652102619591,
    0.0680970542546913,      -0.1010390660362999,     0.093732834998410494,
    -0.066330365812199046,   0.03716751553632399,     -0.016197734059683291,
    0.0050319699895242515,   -0.00075777326203091497, -0.00019925676026410458,
    0.00015062149237837335,  -2.4398994455762101e-05, -1.1221292615314274e-05,
    5.7093141135324919e-06,  2.9198219084548256e-07,  -8.2507833868124502e-07,
    7.7460686356819796e-08,  1.1025271999000152e-07,  -2.0554531369859299e-08,
    -1.4806988146925795e-08, 3.1672611119361695e-09,  1.8256951189539071e-09,
    -2.6557266163125751e-10, -1.4311318470928162e-10};

/// erfcx(|x|). The fraction of infinity is that of a number almost as large.
Tensor erfcxOfAbs(Tensor x) {
  Tensor a = abs(x), finite = min(a, 1e300);
  return polynomial((finite - 4.0) / (finite + 4.0), kErfcx) / (1.0 + 2.0 * a);
}

/// e^(-factor x^2), where the square of a number of 24 bits is exact and the rest is small.
Tensor gaussian(Tensor x, double factor) {
  Builder &builder = x.getBuilder();
  Tensor a = min(abs(x), 100.0);
  Tensor high = a.convert(builder.getF32Type()).convert(builder.getF64Type());
  return exp(high * high * -factor) * exp((high - a) * (high + a) * factor);
}
} // namespace

LogicalResult ErfcOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return defineInDouble(*this, builder, results, [](Tensor x) {
    Tensor y = gaussian(x, 1) * erfcxOfAbs(x);
    return select(x < 0.0, 2.0 - y, y);
  });
}

LogicalResult ErfcOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    return dy * (-2.0 * kInvSqrtPi) * exp(-(x * x));
  });
}

LogicalResult ErfcxOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return defineInDouble(*this, builder, results, [](Tensor x) {
    Tensor y = erfcxOfAbs(x);
    Tensor isLess = x < 0.0;
    return select(isLess, 2.0 / gaussian(select(isLess, x, 0.0), 1) - y, y);
  });
}

// 2 x erfcx(x) - 2 / sqrt(pi), which cancels for large x: in double precision.
LogicalResult ErfcxOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    Tensor wide = x.convert(x.getBuilder().getF64Type());
    Tensor slope = 2.0 * wide * make<ErfcxOp>(wide) - 2.0 * kInvSqrtPi;
    return prim::chain(dy, slope.convert(x.elementType()));
  });
}

// ---- erfinv, ndtri ----

namespace {
struct Rational {
  double numerator[8], denominator[8];
  Tensor at(Tensor x) const { return polynomial(x, numerator) / polynomial(x, denominator); }
};
// PPND16 of AS 241: of 0.180625 - q^2, for |q| <= 0.425 ...
constexpr Rational kCentral = {
    {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727},
    {1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
     39307.895800092710610, 28729.085735721942674, 5226.4952788528545610}};
// ... of r - 1.6, for r = sqrt(-log(1/2 - |q|)) <= 5 ...
constexpr Rational kTail = {
    {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833,
     7.74545014278341407640e-4},
    {1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
     0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
// ... and of r - 5 beyond.
constexpr Rational kFarTail = {
    {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
     0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/// The inverse of the normal distribution's Phi at 1/2 + q, where `tail` is 1/2 - |q|.
Tensor normalQuantile(Tensor q, Tensor tail) {
  Tensor isCentral = abs(q) <= 0.425;
  Tensor central = q * kCentral.at(0.180625 - q * q);
  Tensor r = sqrt(-log(select(isCentral, 0.25, tail)));
  Tensor beyond = select(r <= 5.0, kTail.at(r - 1.6), kFarTail.at(r - 5.0));
  beyond = select(equal(tail, 0.0), kInfinity, beyond);
  Tensor y = select(isCentral, central, select(q < 0.0, -beyond, beyond));
  return select(tail < 0.0, kNaN, y);
}
} // namespace

LogicalResult ErfinvOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return defineInDouble(*this, builder, results, [](Tensor x) {
    return normalQuantile(x * 0.5, (1.0 - abs(x)) * 0.5) * (1 / std::numbers::sqrt2);
  });
}

// sqrt(pi) / 2 e^(y^2)
LogicalResult ErfinvOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    return prim::chain(dy, (0.5 / kInvSqrtPi) * exp(y * y));
  });
}

LogicalResult NdtriOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return defineInDouble(*this, builder, results,
                        [](Tensor x) { return normalQuantile(x - 0.5, min(x, 1.0 - x)); });
}

// sqrt(2 pi) e^(y^2 / 2)
LogicalResult NdtriOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    return prim::chain(dy, (std::numbers::sqrt2 / kInvSqrtPi) * exp(0.5 * (y * y)));
  });
}

// ---- log_ndtr ----

// Phi(x) = erfc(-x / sqrt 2) / 2
LogicalResult LogNdtrOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return defineInDouble(*this, builder, results, [](Tensor x) {
    Tensor tail = erfcxOfAbs(x * (1 / std::numbers::sqrt2));
    Tensor least = log(0.5 * tail) - 0.5 * (x * x);
    Tensor half = 0.5 * gaussian(x, 0.5) * tail; // that of what lies beyond |x|
    Tensor y = log1p(-select(x < 0.0, 1.0 - half, half));
    return select(x < -1.0, least, y);
  });
}

// phi(x) / Phi(x) = sqrt(2 / pi) / erfcx(-x / sqrt 2)
LogicalResult LogNdtrOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    Tensor tail = make<ErfcxOp>(x * (-1 / std::numbers::sqrt2));
    return dy * (std::numbers::sqrt2 * kInvSqrtPi) / tail;
  });
}

// ---- entr ----

LogicalResult EntrOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [](Tensor x) {
    Tensor isZero = equal(x, 0.0);
    Tensor y = select(isZero, 0.0, -x * log(select(isZero, 1.0, x)));
    return select(x < 0.0, -kInfinity, y);
  });
}

LogicalResult EntrOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients,
                  [](Tensor x, Tensor y, Tensor dy) { return prim::chain(dy, -1.0 - log(x)); });
}

// ---- bessel_i ----

LogicalResult BesselIOp::verify() {
  // bessel_i_c1
  auto order = static_cast<int64_t>(getOrder());
  if (order < 0 || order > 8)
    return emitOpError("order is ") << order << ", not in [0, 8]";
  return success();
}

LogicalResult BesselIOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  constexpr double kLarge = 20;
  int order = static_cast<int>(getOrder());
  // (x / 2)^n times the sum of (x / 2)^(2k) / (k! (n + k)!), and e^x / sqrt(2 pi x) times that of
  // (-1)^k (4n^2 - 1) (4n^2 - 9) ... (4n^2 - (2k - 1)^2) / (k! 8^k) / x^k.
  double series[40], expansion[32];
  series[0] = 1 / std::tgamma(order + 1);
  for (int k = 1; k < 40; ++k)
    series[k] = series[k - 1] / (k * (k + order));
  expansion[0] = 1;
  for (int k = 1; k < 32; ++k)
    expansion[k] = expansion[k - 1] * -(4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k);
  return defineInDouble(*this, builder, results, [&](Tensor x) {
    Tensor a = abs(x), isLarge = a >= kLarge, half = 0.5 * select(isLarge, 0.0, a);
    Tensor small = polynomial(half * half, series);
    for (int i = 0; i < order; ++i)
      small = half * small;
    Tensor r = 1.0 / max(a, kLarge);
    Tensor large = polynomial(r, expansion) * sqrt(r * (0.5 / std::numbers::pi));
    Tensor y = large;
    if (getScaled()) {
      y = select(isLarge, large, small * exp(-2.0 * half));
    } else {
      Tensor root = exp(0.5 * a); // e^a overflows before the product does
      y = select(isLarge, large * root * root, small);
    }
    return order % 2 ? select(x < 0.0, -y, y) : y;
  });
}

// I_n' = (I_(n-1) + I_(n+1)) / 2, I_0' = I_1; (e^-|x| I_n)' = e^-|x| (I_n' - sign(x) I_n)
LogicalResult BesselIOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    int64_t order = static_cast<int64_t>(getOrder());
    auto ofOrder = [&](int64_t n) { return make<BesselIOp>(x, n, getScaled()); };
    Tensor slope = order == 0 ? ofOrder(1) : 0.5 * (ofOrder(order - 1) + ofOrder(order + 1));
    return prim::chain(dy, getScaled() ? slope - sign(x) * y : slope);
  });
}
