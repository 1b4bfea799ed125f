// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special functions, and what distributions make of them.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Tensor floatSelf(Node &node) { return asFloat(node, node.in("self")); }

template <typename Op> Entities function(Node &node) {
  Tensor x = floatSelf(node);
  return {node.make<Op>({x}, {}, {x.type()})};
}

Entities erf(Node &node) { return {prim::erf(floatSelf(node))}; }

/// The normal distribution's Phi, in double precision, for its tail multiplies the error of x /
/// sqrt 2.
Entities ndtr(Node &node) {
  Tensor x = floatSelf(node);
  Tensor t = x.convert(node.builder().getF64Type()) * (-1 / std::numbers::sqrt2);
  return {(0.5 * node.make<nn::ErfcOp>({t}, {}, {t.type()})).convert(x.elementType())};
}

template <int order, bool isScaled> Entities besselI(Node &node) {
  Tensor x = floatSelf(node);
  return {node.make<nn::BesselIOp>({x}, {node.i64("order", order), node.flag("scaled", isScaled)},
                                   {x.type()})};
}

// ---- the gamma function ----

Tensor polygammaOf(Node &node, int64_t order) {
  if (order < 0)
    fail("has no derivative of the negative order " + Twine(order));
  Tensor x = floatSelf(node);
  return node.make<nn::PolygammaOp>({x}, {node.i64("order", order)}, {x.type()});
}
Entities polygamma(Node &node) { return {polygammaOf(node, node.integer("n"))}; }
Entities digamma(Node &node) { return {polygammaOf(node, 0)}; }

/// The sum of lgamma(x - j / 2) over j < p, and p (p - 1) / 4 log(pi).
Entities multivariateLgamma(Node &node) {
  int64_t p = node.integer("p");
  if (p < 1)
    fail("'p' must be at least 1, not " + Twine(p));
  Tensor x = floatSelf(node);
  auto order = static_cast<double>(p);
  Tensor sum = x.full(order * (order - 1) / 4 * std::log(std::numbers::pi));
  for (int64_t j = 0; j < p; ++j)
    sum = sum + node.make<nn::LgammaOp>({x - 0.5 * static_cast<double>(j)}, {}, {x.type()});
  return {sum};
}

Entities zeta(Node &node) {
  auto [s, q] = floatOperands(node, "self", "other");
  return {node.make<nn::ZetaOp>({s, q})};
}

// ---- products with a logarithm ----

/// x log(y), or x log(1 + y); 0 where x is 0, unless y is NaN. Where the logarithm is finite, the
/// product alone is right, and so is its derivative, which is not 0 there.
template <bool addsOne> Entities timesLog(Node &node) {
  auto [x, y] = floatOperands(node, "self", "other");
  Tensor isFinite = bitAnd(y > (addsOne ? -1.0 : 0.0), prim::isFinite(y));
  Tensor isNumber = equal(y, y), isZero = bitAnd(equal(x, 0.0), isNumber);
  isZero = bitAnd(isZero, logicalNot(isFinite));
  Tensor safe = select(isZero, 1.0, y);
  return {select(isZero, 0.0, x * (addsOne ? log1p(safe) : log(safe)))};
}

} // namespace

ArrayRef<OpRow> accc::aten::specialOps() {
  static const OpRow rows[] = {
      {"erf(self)", erf},
      {"erfc(self)", function<nn::ErfcOp>},
      {"erfinv(self)", function<nn::ErfinvOp>},
      {"special_erf(self)", erf},
      {"special_erfc(self)", function<nn::ErfcOp>},
      {"special_erfcx(self)", function<nn::ErfcxOp>},
      {"special_erfinv(self)", function<nn::ErfinvOp>},
      {"special_ndtr(self)", ndtr},
      {"special_ndtri(self)", function<nn::NdtriOp>},
      {"special_log_ndtr(self)", function<nn::LogNdtrOp>},
      {"special_entr(self)", function<nn::EntrOp>},

      {"i0(self)", besselI<0, false>},
      {"special_i0(self)", besselI<0, false>},
      {"special_i0e(self)", besselI<0, true>},
      {"special_i1(self)", besselI<1, false>},
      {"special_i1e(self)", besselI<1, true>},
      {"special_modified_bessel_i0(self)", besselI<0, false>},
      {"special_modified_bessel_i1(self)", besselI<1, false>},

      {"lgamma(self)", function<nn::LgammaOp>},
      {"special_gammaln(self)", function<nn::LgammaOp>},
      {"digamma(self)", digamma},
      {"special_digamma(self)", digamma},
      {"special_psi(self)", digamma},
      {"polygamma(n, self)", polygamma},
      {"polygamma_(self, n)", polygamma}, // the other order
      {"special_polygamma(n, self)", polygamma},
      {"mvlgamma(self, p)", multivariateLgamma},
      {"special_multigammaln(self, p)", multivariateLgamma},
      {"special_zeta(self, other)", zeta},

      {"xlogy(self, other)", timesLog<false>},
      {"special_xlogy(self, other)", timesLog<false>},
      {"special_xlog1py(self, other)", timesLog<true>},
  };
  return rows;
}
