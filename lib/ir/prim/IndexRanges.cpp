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
} // namespace

AffineExpr prim::simplifyIndex(AffineExpr expression, const IndexExtents &extents) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return expression;
  AffineExpr lhs = simplifyIndex(binary.getLHS(), extents),
             rhs = simplifyIndex(binary.getRHS(), extents);
  AffineExprKind kind = expression.getKind();
  if (kind == AffineExprKind::Add)
    return lhs + rhs;
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
