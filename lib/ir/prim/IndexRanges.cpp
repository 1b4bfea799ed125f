// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/IndexRanges.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace accc;

std::optional<std::pair<int64_t, int64_t>> prim::indexRange(AffineExpr expression,
                                                            const IndexExtents &extents) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return std::pair<int64_t, int64_t>(0, extents.dims[dim.getPosition()] - 1);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return std::pair<int64_t, int64_t>(0, extents.symbols[symbol.getPosition()] - 1);
  auto binary = cast<AffineBinaryOpExpr>(expression);
  auto lhs = indexRange(binary.getLHS(), extents), rhs = indexRange(binary.getRHS(), extents);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return std::pair(lhs->first + rhs->first, lhs->second + rhs->second);
  case AffineExprKind::Mul: {
    int64_t corners[] = {lhs->first * rhs->first, lhs->first * rhs->second,
                         lhs->second * rhs->first, lhs->second * rhs->second};
    return std::pair(*std::min_element(corners, corners + 4),
                     *std::max_element(corners, corners + 4));
  }
  case AffineExprKind::FloorDiv:
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    return std::pair(llvm::divideFloorSigned(lhs->first, rhs->first),
                     llvm::divideFloorSigned(lhs->second, rhs->first));
  case AffineExprKind::Mod:
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    if (lhs->first >= 0 && lhs->second < rhs->first)
      return lhs;
    return std::pair<int64_t, int64_t>(0, rhs->first - 1);
  default:
    return std::nullopt;
  }
}

bool prim::isMultipleOf(AffineExpr expression, int64_t n) {
  return expression.getLargestKnownDivisor() % n == 0;
}

namespace {
/// Splits a sum into its terms.
void addTerms(AffineExpr expression, SmallVectorImpl<AffineExpr> &terms) {
  if (expression.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expression);
    addTerms(sum.getLHS(), terms);
    addTerms(sum.getRHS(), terms);
  } else {
    terms.push_back(expression);
  }
}

/// `core` * `factor`.
struct Term {
  explicit Term(AffineExpr term) : core(term) {
    auto product = dyn_cast<AffineBinaryOpExpr>(term);
    if (!product || product.getKind() != AffineExprKind::Mul)
      return;
    if (auto constant = dyn_cast<AffineConstantExpr>(product.getRHS())) {
      core = product.getLHS();
      factor = constant.getValue();
    }
  }
  AffineExpr core;
  int64_t factor = 1;
};

/// The operand and the positive constant divisor of an op of this kind.
std::optional<std::pair<AffineExpr, int64_t>> dividedBy(AffineExpr expression,
                                                        AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor || divisor.getValue() <= 0)
    return std::nullopt;
  return std::pair(binary.getLHS(), divisor.getValue());
}

/// The sum of two terms where that is one:
///   (e mod n) k + (e floordiv n) n k = e k
///   (e mod n) k + ((e floordiv n) mod m) n k = (e mod n m) k
AffineExpr joinTerms(const Term &low, const Term &high) {
  auto remainder = dividedBy(low.core, AffineExprKind::Mod);
  if (!remainder || high.factor != low.factor * remainder->second)
    return {};
  if (dividedBy(high.core, AffineExprKind::FloorDiv) == remainder)
    return remainder->first * low.factor;
  auto outer = dividedBy(high.core, AffineExprKind::Mod);
  if (outer && dividedBy(outer->first, AffineExprKind::FloorDiv) == remainder)
    return remainder->first % (remainder->second * outer->second) * low.factor;
  return {};
}

/// A sum in which remainders and quotients of the same division, which a change of shape and one
/// back leave, are what was divided.
AffineExpr joinRemainders(AffineExpr sum) {
  SmallVector<AffineExpr> terms;
  addTerms(sum, terms);
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t j = 0; j < terms.size(); ++j) {
      AffineExpr joined = i == j ? AffineExpr() : joinTerms(Term(terms[i]), Term(terms[j]));
      if (!joined)
        continue;
      AffineExpr result = joined;
      for (size_t k = 0; k < terms.size(); ++k)
        if (k != i && k != j)
          result = result + terms[k];
      return joinRemainders(result);
    }
  return sum;
}
} // namespace

AffineExpr prim::simplifyIndex(AffineExpr expression, const IndexExtents &extents) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return expression;
  AffineExpr lhs = simplifyIndex(binary.getLHS(), extents),
             rhs = simplifyIndex(binary.getRHS(), extents);
  AffineExprKind kind = expression.getKind();
  if (kind == AffineExprKind::Add)
    return joinRemainders(lhs + rhs);
  if (kind == AffineExprKind::Mul)
    return lhs * rhs;
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  if (divisor && divisor.getValue() > 0 &&
      (kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod)) {
    int64_t n = divisor.getValue();
    SmallVector<AffineExpr> terms;
    addTerms(lhs, terms);
    AffineExpr multiple = getAffineConstantExpr(0, expression.getContext()), rest = multiple;
    for (AffineExpr term : terms) {
      AffineExpr &part = isMultipleOf(term, n) ? multiple : rest;
      part = part + term;
    }
    auto bounds = indexRange(rest, extents);
    if (bounds && bounds->first >= 0 && bounds->second < n)
      return kind == AffineExprKind::Mod ? rest : multiple.floorDiv(n);
  }
  if (kind == AffineExprKind::FloorDiv)
    return lhs.floorDiv(rhs);
  if (kind == AffineExprKind::Mod)
    return lhs % rhs;
  return lhs.ceilDiv(rhs);
}

std::optional<int64_t> accc::prim::coefficientOf(AffineExpr expression, unsigned dim) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expression)) {
    auto lhs = coefficientOf(sum.getLHS(), dim), rhs = coefficientOf(sum.getRHS(), dim);
    if (!lhs || !rhs)
      return std::nullopt;
    if (sum.getKind() == AffineExprKind::Add)
      return *lhs + *rhs;
    if (*lhs == 0 && *rhs == 0)
      return 0;
    if (sum.getKind() == AffineExprKind::Mul)
      if (auto factor = dyn_cast<AffineConstantExpr>(sum.getRHS()))
        return *lhs * factor.getValue();
    return std::nullopt;
  }
  auto variable = dyn_cast<AffineDimExpr>(expression);
  return variable && variable.getPosition() == dim ? 1 : 0;
}
