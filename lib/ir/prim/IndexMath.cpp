// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/IndexMath.h"

#include <numeric>

using namespace mlir;

namespace {

/// One summand of a linear index: expression * stride, with 0 <= expression < extent.
struct Term {
  AffineExpr expression;
  int64_t stride;
  int64_t extent;
};

/// An expression read as a digit of `base`: (base floordiv divisor) mod modulus; modulus 0 is none.
struct Digit {
  AffineExpr base;
  int64_t divisor = 1;
  int64_t modulus = 0;
};

/// `expression` as operation(operand, positive constant), if it is that.
std::optional<std::pair<AffineExpr, int64_t>> matchByConstant(AffineExpr expression,
                                                              AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant || constant.getValue() <= 0)
    return std::nullopt;
  return std::pair(binary.getLHS(), constant.getValue());
}

Digit readDigit(AffineExpr expression) {
  Digit digit{expression};
  if (auto mod = matchByConstant(expression, AffineExprKind::Mod)) {
    digit.base = mod->first;
    digit.modulus = mod->second;
  }
  while (auto div = matchByConstant(digit.base, AffineExprKind::FloorDiv)) {
    digit.base = div->first;
    digit.divisor *= div->second;
  }
  return digit;
}

AffineExpr writeDigit(const Digit &digit) {
  AffineExpr expression = digit.base;
  if (digit.divisor != 1)
    expression = expression.floorDiv(digit.divisor);
  return digit.modulus ? expression % digit.modulus : expression;
}

/// The two digits `outer`, `inner` of one number as a single digit, if they are that and
/// neighbours.
std::optional<AffineExpr> joinDigits(AffineExpr outer, AffineExpr inner, int64_t innerExtent) {
  Digit high = readDigit(outer), low = readDigit(inner);
  if (high.base != low.base || low.modulus != innerExtent ||
      high.divisor != low.divisor * low.modulus)
    return std::nullopt;
  return writeDigit({low.base, low.divisor, high.modulus * low.modulus});
}

/// Puts neighbouring terms together that an earlier reshape took apart.
void joinTerms(SmallVector<Term> &terms) {
  for (size_t i = 0; i + 1 < terms.size();) {
    Term &outer = terms[i], &inner = terms[i + 1];
    std::optional<AffineExpr> joined;
    if (outer.stride == inner.stride * inner.extent)
      joined = joinDigits(outer.expression, inner.expression, inner.extent);
    if (!joined) {
      ++i;
      continue;
    }
    outer = {*joined, inner.stride, outer.extent * inner.extent};
    terms.erase(terms.begin() + i + 1);
    i = i > 0 ? i - 1 : 0; // the longer digit may join the one before it
  }
}

/// ((sum of terms) floordiv stride) mod extent, where the terms' extents bound the sum.
AffineExpr extract(MLIRContext *context, ArrayRef<Term> terms, int64_t stride, int64_t extent) {
  // Terms that the stride divides pass through the floordiv one by one; the rest form a remainder.
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr whole = zero, rest = zero;
  int64_t wholeMax = 0, restMax = 0, divisor = stride;
  for (const Term &term : terms)
    if (term.stride % stride != 0)
      divisor = std::gcd(divisor, term.stride);
  for (const Term &term : terms) {
    int64_t most = term.extent - 1;
    if (term.stride % stride != 0) {
      rest = rest + term.expression * (term.stride / divisor);
      restMax += most * (term.stride / divisor);
    } else if (term.stride / stride % extent != 0) {
      whole = whole + term.expression * (term.stride / stride);
      wholeMax += most * (term.stride / stride);
    } // a multiple of stride * extent vanishes under the mod
  }
  int64_t restDivisor = stride / divisor;
  if (restMax >= restDivisor) {
    whole = whole + rest.floorDiv(restDivisor);
    wholeMax += restMax / restDivisor;
  }
  return wholeMax >= extent ? whole % extent : whole;
}

/// Positions in `shape` of the extents that are not 1.
SmallVector<int64_t> properDimensions(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  for (auto [i, extent] : llvm::enumerate(shape))
    if (extent != 1)
      result.push_back(static_cast<int64_t>(i));
  return result;
}

} // namespace

SmallVector<AffineExpr> accc::prim::reshapeIndex(MLIRContext *context, ArrayRef<AffineExpr> index,
                                                 ArrayRef<int64_t> fromShape,
                                                 ArrayRef<int64_t> toShape) {
  SmallVector<AffineExpr> result(toShape.size(), getAffineConstantExpr(0, context));
  SmallVector<int64_t> from = properDimensions(fromShape), to = properDimensions(toShape);
  if (llvm::is_contained(fromShape, 0))
    return result;

  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    size_t firstFrom = i, firstTo = j;
    int64_t fromProduct = fromShape[from[i++]], toProduct = toShape[to[j++]];
    while (fromProduct != toProduct) {
      if (fromProduct < toProduct)
        fromProduct *= fromShape[from[i++]];
      else
        toProduct *= toShape[to[j++]];
    }

    SmallVector<Term> terms;
    int64_t stride = fromProduct;
    for (size_t k = firstFrom; k < i; ++k) {
      stride /= fromShape[from[k]];
      terms.push_back({index[from[k]], stride, fromShape[from[k]]});
    }
    joinTerms(terms);
    stride = toProduct;
    for (size_t k = firstTo; k < j; ++k) {
      stride /= toShape[to[k]];
      result[to[k]] = extract(context, terms, stride, toShape[to[k]]);
    }
  }
  return result;
}
