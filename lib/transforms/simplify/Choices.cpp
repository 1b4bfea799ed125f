// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Booleans, select, compare, convert, is_finite, and min and max of integers.
#include "ir/prim/IntegerBounds.h"
#include "transforms/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

bool isBoolean(Value value) { return tensorType(value).getElementType().isInteger(1); }

// ---- booleans ----

LogicalResult notOfNot(NotOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<NotOp>();
  return inner ? replace(op, rewriter, inner.getOperand()) : LogicalResult(failure());
}

// x and true, x and false, x and x; x or ... likewise
template <typename Op> LogicalResult simplifyLogic(Op op, PatternRewriter &rewriter) {
  if (op.getLhs() == op.getRhs())
    return replace(op, rewriter, op.getLhs());
  if (!isBoolean(op.getLhs()))
    return failure();
  double neutral = std::is_same_v<Op, AndOp> ? 1 : 0;
  for (auto [value, other] :
       {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (std::optional<double> known = splatNumber(value))
      return replace(op, rewriter, *known == neutral ? other : value);
  return failure();
}

// ---- select ----

LogicalResult simplifySelect(SelectOp op, PatternRewriter &rewriter) {
  Value predicate = op.getPredicate(), onTrue = op.getOnTrue(), onFalse = op.getOnFalse();
  if (std::optional<double> known = splatNumber(predicate))
    return replace(op, rewriter, *known != 0 ? onTrue : onFalse);
  if (onTrue == onFalse)
    return replace(op, rewriter, onTrue);
  if (auto inverse = predicate.getDefiningOp<NotOp>()) {
    rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), inverse.getOperand(), onFalse, onTrue);
    return success();
  }
  // A choice made once is not made again.
  auto innerTrue = onTrue.getDefiningOp<SelectOp>(), innerFalse = onFalse.getDefiningOp<SelectOp>();
  bool sameTrue = innerTrue && innerTrue.getPredicate() == predicate;
  bool sameFalse = innerFalse && innerFalse.getPredicate() == predicate;
  if (!sameTrue && !sameFalse)
    return failure();
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), predicate,
                                        sameTrue ? innerTrue.getOnTrue() : onTrue,
                                        sameFalse ? innerFalse.getOnFalse() : onFalse);
  return success();
}

// Derivative rules guard 0 * infinity by select(dy == 0, 0, dy * d): idle where d is a finite
// constant.
LogicalResult dropIdleGuard(SelectOp op, PatternRewriter &rewriter) {
  auto isZero = op.getPredicate().getDefiningOp<CompareOp>();
  auto product = op.getOnFalse().getDefiningOp<MulOp>();
  if (!isZero || !product || isZero.getDirection() != Direction::eq ||
      !isSplat(isZero.getRhs(), 0) || !isSplat(op.getOnTrue(), 0))
    return failure();
  std::optional<double> factor = splatNumber(product.getRhs());
  if (!factor || !std::isfinite(*factor) || product.getLhs() != isZero.getLhs())
    return failure();
  return replace(op, rewriter, product);
}

// ---- compare ----

LogicalResult simplifyCompare(CompareOp op, PatternRewriter &rewriter) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  bool isFloat = isa<FloatType>(tensorType(lhs).getElementType());
  if (lhs != rhs || isFloat) // NaN does not equal itself
    return failure();
  bool holds = op.getDirection() == Direction::eq || op.getDirection() == Direction::le ||
               op.getDirection() == Direction::ge;
  return replace(op, rewriter, tensor(rewriter, op, lhs).full(op.getType(), holds));
}

/// What the comparison gives wherever a and b lie between such numbers; nothing where that depends
/// on them.
std::optional<bool> decided(Direction direction, IntegerBounds a, IntegerBounds b) {
  auto isLess = [](IntegerBounds a, IntegerBounds b) -> std::optional<bool> {
    if (a.high < b.low)
      return true;
    return a.low >= b.high ? std::optional(false) : std::nullopt;
  };
  auto inverse = [](std::optional<bool> known) { return known ? std::optional(!*known) : known; };
  bool areApart = a.high < b.low || b.high < a.low;
  switch (direction) {
  case Direction::lt:
    return isLess(a, b);
  case Direction::gt:
    return isLess(b, a);
  case Direction::ge:
    return inverse(isLess(a, b));
  case Direction::le:
    return inverse(isLess(b, a));
  case Direction::eq:
    return areApart ? std::optional(false) : std::nullopt;
  case Direction::ne:
    return areApart ? std::optional(true) : std::nullopt;
  }
  return std::nullopt;
}

// The places that a sort gives are not negative, and need not be wrapped around.
LogicalResult decideCompare(CompareOp op, PatternRewriter &rewriter) {
  std::optional<IntegerBounds> a = boundsOf(op.getLhs()), b = a ? boundsOf(op.getRhs()) : a;
  std::optional<bool> known = a && b ? decided(op.getDirection(), *a, *b) : std::nullopt;
  if (!known)
    return failure();
  return replace(op, rewriter, tensor(rewriter, op, op.getLhs()).full(op.getType(), *known));
}

// ---- min, max ----

template <typename Op> LogicalResult decideExtreme(Op op, PatternRewriter &rewriter) {
  Direction wins = std::is_same_v<Op, MinOp> ? Direction::le : Direction::ge;
  std::optional<IntegerBounds> a = boundsOf(op.getLhs()), b = a ? boundsOf(op.getRhs()) : a;
  if (!a || !b)
    return failure();
  if (decided(wins, *a, *b) == true)
    return replace(op, rewriter, op.getLhs());
  if (decided(wins, *b, *a) == true)
    return replace(op, rewriter, op.getRhs());
  return failure();
}

// ---- convert ----

/// Every value of `narrow` is one of `wide`.
bool contains(Type wide, Type narrow) {
  if (wide == narrow)
    return true;
  auto wideFloat = dyn_cast<FloatType>(wide), narrowFloat = dyn_cast<FloatType>(narrow);
  if (wideFloat && narrowFloat)
    return wideFloat.getWidth() > narrowFloat.getWidth();
  if (narrow.isInteger(1))
    return true;
  auto wideInteger = dyn_cast<IntegerType>(wide), narrowInteger = dyn_cast<IntegerType>(narrow);
  if (narrowInteger && wideInteger)
    return !wide.isInteger(1) && wideInteger.isUnsigned() == narrowInteger.isUnsigned() &&
           wideInteger.getWidth() > narrowInteger.getWidth();
  return narrowInteger && wideFloat && narrowInteger.getWidth() < wideFloat.getFPMantissaWidth();
}

LogicalResult simplifyConvert(ConvertOp op, PatternRewriter &rewriter) {
  if (op.getOperand().getType() == op.getType())
    return replace(op, rewriter, op.getOperand());
  auto inner = op.getOperand().getDefiningOp<ConvertOp>();
  if (!inner)
    return failure();
  Type from = tensorType(inner.getOperand()).getElementType(),
       between = inner.getType().getElementType();
  if (!contains(between, from))
    return failure();
  // On the way through a float an integer saturates, at once it would wrap.
  Type to = op.getType().getElementType();
  if (isa<IntegerType>(from) && isa<FloatType>(between) && isa<IntegerType>(to) &&
      !to.isInteger(1) && !contains(to, from))
    return failure();
  rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getType(), inner.getOperand());
  return success();
}

// What gradients of 16 bits are asked, which an optimizer reads in f32.
LogicalResult isFiniteBeforeConvert(IsFiniteOp op, PatternRewriter &rewriter) {
  auto convert = op.getOperand().getDefiningOp<ConvertOp>();
  if (!convert)
    return failure();
  Type from = tensorType(convert.getOperand()).getElementType();
  if (!isa<FloatType>(from) || !contains(convert.getType().getElementType(), from))
    return failure();
  rewriter.replaceOpWithNewOp<IsFiniteOp>(op, op.getType(), convert.getOperand());
  return success();
}

} // namespace

void transforms::populateChoiceRules(RewritePatternSet &patterns) {
  patterns.add(notOfNot).add(simplifyLogic<AndOp>).add(simplifyLogic<OrOp>);
  patterns.add(simplifySelect).add(dropIdleGuard).add(simplifyCompare).add(decideCompare);
  patterns.add(decideExtreme<MinOp>).add(decideExtreme<MaxOp>).add(simplifyConvert);
  patterns.add(isFiniteBeforeConvert);
}
