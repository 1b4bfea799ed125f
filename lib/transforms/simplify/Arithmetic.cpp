// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Algebra of numbers. Constants stand on the right of commutative ops: MLIR's folder puts them
// there.
#include "transforms/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

/// x of -x.
Value negated(Value value) {
  auto neg = value.getDefiningOp<NegOp>();
  return neg ? neg.getOperand() : Value();
}

// ---- neutral elements ----

LogicalResult simplifyAdd(AddOp op, PatternRewriter &rewriter) {
  Tensor a = tensor(rewriter, op, op.getLhs()), b = a.wrap(op.getRhs());
  if (isSplat(b, 0)) // -0 + 0 becomes -0: equal numbers
    return replace(op, rewriter, a);
  if (isSplat(a, 0))
    return replace(op, rewriter, b);
  if (Value x = negated(b))
    return replace(op, rewriter, a - a.wrap(x));
  if (Value x = negated(a))
    return replace(op, rewriter, b - a.wrap(x));
  return failure();
}

LogicalResult simplifySub(SubOp op, PatternRewriter &rewriter) {
  Tensor a = tensor(rewriter, op, op.getLhs()), b = a.wrap(op.getRhs());
  if (isSplat(b, 0))
    return replace(op, rewriter, a);
  if (isSplat(a, 0))
    return replace(op, rewriter, -b);
  if (Value x = negated(b))
    return replace(op, rewriter, a + a.wrap(x));
  return failure();
}

LogicalResult simplifyMul(MulOp op, PatternRewriter &rewriter) {
  Tensor a = tensor(rewriter, op, op.getLhs()), b = a.wrap(op.getRhs());
  if (splatNumber(a))
    std::swap(a, b);
  std::optional<double> c = splatNumber(b);
  if (c == 1.0)
    return replace(op, rewriter, a);
  if (c == -1.0)
    return replace(op, rewriter, -a);
  if (c == 0.0 && !isFloat(a)) // 0 * NaN is NaN
    return replace(op, rewriter, b);
  Value x = negated(a), y = negated(b);
  if (x && y)
    return replace(op, rewriter, a.wrap(x) * a.wrap(y));
  if (x && c && isFloat(a))
    return replace(op, rewriter, a.wrap(x) * -*c);
  // (x * c1) * c2 = x * (c1 * c2), unless a product leaves the range of the type
  auto inner = a.get().getDefiningOp<MulOp>();
  if (inner && c && isFloat(a))
    if (std::optional<double> c1 = splatNumber(inner.getRhs())) {
      double product = *c1 * *c, size = std::abs(product);
      if (size > 1e-4 && size < 1e4)
        return replace(op, rewriter, a.wrap(inner.getLhs()) * product);
    }
  return failure();
}

// Dividing by a power of two is exact as a product.
LogicalResult simplifyDiv(DivOp op, PatternRewriter &rewriter) {
  Tensor a = tensor(rewriter, op, op.getLhs()), b = a.wrap(op.getRhs());
  std::optional<double> c = splatNumber(b);
  if (c == 1.0)
    return replace(op, rewriter, a);
  int exponent;
  if (c && isFloat(a) && std::abs(std::frexp(*c, &exponent)) == 0.5 && std::abs(exponent) <= 14)
    return replace(op, rewriter, a * (1.0 / *c));
  return failure();
}

LogicalResult simplifyNeg(NegOp op, PatternRewriter &rewriter) {
  Tensor x = tensor(rewriter, op, op.getOperand());
  if (Value inner = negated(x))
    return replace(op, rewriter, inner);
  if (auto sub = x.get().getDefiningOp<SubOp>(); sub && sub->hasOneUse())
    return replace(op, rewriter, x.wrap(sub.getRhs()) - x.wrap(sub.getLhs()));
  if (auto mul = x.get().getDefiningOp<MulOp>(); mul && mul->hasOneUse() && isFloat(x))
    if (std::optional<double> c = splatNumber(mul.getRhs()))
      return replace(op, rewriter, x.wrap(mul.getLhs()) * -*c);
  return failure();
}

// ---- sums of updates ----

/// x + (updates added to zeros) is the updates added to x: the gradient of an embedding that is
/// also a weight, whose zeros and sum are as large as the weight. Not of 16-bit floats, where an
/// update that is far smaller than x is lost, and many are not their sum.
LogicalResult addToScattered(AddOp op, PatternRewriter &rewriter) {
  if (isHalf(op.getType().getElementType()))
    return failure();
  for (auto [sum, x] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    auto scatter = sum.getDefiningOp<ScatterOp>();
    if (!scatter || scatter.getKind() != ScatterKind::add || !scatter->hasOneUse() ||
        !isSplat(scatter.getData(), 0) || splatNumber(x))
      continue;
    Tensor data = tensor(rewriter, op, x);
    return replace(op, rewriter,
                   data.scatter(data.wrap(scatter.getIndices()), data.wrap(scatter.getUpdates()),
                                static_cast<int64_t>(scatter.getAxis()), ScatterKind::add));
  }
  return failure();
}

// ---- powers, as PyTorch computes them ----

LogicalResult simplifyPow(PowOp op, PatternRewriter &rewriter) {
  Tensor x = tensor(rewriter, op, op.getLhs());
  std::optional<double> exponent = splatNumber(op.getRhs());
  if (exponent == 0.0)
    return replace(op, rewriter, x.full(1.0));
  if (exponent == 1.0)
    return replace(op, rewriter, x);
  if (exponent == 2.0)
    return replace(op, rewriter, x * x);
  if (exponent == 3.0)
    return replace(op, rewriter, x * x * x);
  if (exponent == 0.5)
    return replace(op, rewriter, sqrt(x));
  if (exponent == -0.5)
    return replace(op, rewriter, rsqrt(x));
  if (exponent == -1.0)
    return replace(op, rewriter, 1.0 / x);
  if (exponent == -2.0)
    return replace(op, rewriter, 1.0 / (x * x));
  return failure();
}

// ---- max(x, x), max(max(x, c), c) ----

template <typename Op> LogicalResult simplifyExtreme(Op op, PatternRewriter &rewriter) {
  if (op.getLhs() == op.getRhs())
    return replace(op, rewriter, op.getLhs());
  for (auto [value, other] :
       {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (auto inner = value.template getDefiningOp<Op>())
      if (inner.getLhs() == other || inner.getRhs() == other)
        return replace(op, rewriter, inner);
  return failure();
}

} // namespace

void transforms::populateArithmeticRules(RewritePatternSet &patterns) {
  patterns.add(simplifyAdd).add(simplifySub).add(simplifyMul).add(simplifyDiv).add(simplifyNeg);
  patterns.add(addToScattered);
  patterns.add(simplifyPow).add(simplifyExtreme<MaxOp>).add(simplifyExtreme<MinOp>);
}
