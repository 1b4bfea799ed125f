// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations, in stages: the normalisation itself, then its scale, then its bias.
#include "frontend/common/Match.h"
#include "frontend/common/Raise.h"

using namespace mlir;
using namespace accc;

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// x / d or x (1 / d) with d a root of a mean plus epsilon, taken along trailing dimensions of x.
struct Normalized {
  Value numerator, meanSquareOf;
  int64_t axis;
  double epsilon;
};

/// The value whose root `root` is, where `inverse` says that it is 1 over a root.
Value underRoot(Value value, bool inverse) {
  if (!inverse) {
    auto root = value.getDefiningOp<prim::SqrtOp>();
    return root ? root.getOperand() : Value();
  }
  if (auto root = value.getDefiningOp<prim::RsqrtOp>())
    return root.getOperand();
  auto quotient = value.getDefiningOp<prim::DivOp>();
  if (!quotient || !match::isAbout(match::number(quotient.getLhs()), 1.0))
    return Value();
  return underRoot(quotient.getRhs(), /*inverse=*/false);
}

/// value = mean(v v) + epsilon along trailing dimensions.
std::optional<Normalized> meanSquare(Value value) {
  auto sum =
      match::either<prim::AddOp>(value, [](Value side) { return match::number(side).has_value(); });
  if (!sum)
    return std::nullopt;
  auto mean = match::mean(sum->second);
  if (!mean || mean->dimensions.empty())
    return std::nullopt;
  int64_t rank = static_cast<int64_t>(shapeOf(mean->operand).size());
  int64_t count = static_cast<int64_t>(mean->dimensions.size());
  for (auto [i, d] : llvm::enumerate(mean->dimensions))
    if (d != rank - count + static_cast<int64_t>(i))
      return std::nullopt;
  auto square = mean->operand.getDefiningOp<prim::MulOp>();
  if (!square || square.getLhs() != square.getRhs())
    return std::nullopt;
  return Normalized{Value(), square.getLhs(), rank - count, *match::number(sum->first)};
}

std::optional<Normalized> matchNormalized(Operation *op) {
  if (!isa<prim::MulOp, prim::DivOp>(op) || op->getNumOperands() != 2)
    return std::nullopt;
  bool inverse = isa<prim::MulOp>(op);
  for (int side = 0; side < (inverse ? 2 : 1); ++side) {
    Value numerator = op->getOperand(side), divisor = op->getOperand(1 - side);
    auto broadcast = divisor.getDefiningOp<prim::BroadcastOp>();
    Value inner = broadcast ? underRoot(broadcast.getOperand(), inverse) : Value();
    auto found = inner ? meanSquare(inner) : std::nullopt;
    if (!found)
      continue;
    SmallVector<int64_t> dimensions;
    for (int64_t d = found->axis, e = static_cast<int64_t>(shapeOf(numerator).size()); d < e; ++d)
      dimensions.push_back(d);
    if (!match::repeatedAlong(divisor, shapeOf(numerator), dimensions) ||
        found->meanSquareOf.getType() != numerator.getType())
      continue;
    found->numerator = numerator;
    return found;
  }
  return std::nullopt;
}

/// d = x - mean(x) along all dimensions from `axis` on: gives x.
Value centred(Value d, int64_t axis) {
  auto difference = d.getDefiningOp<prim::SubOp>();
  if (!difference)
    return Value();
  SmallVector<int64_t> dimensions;
  for (int64_t i = axis, e = static_cast<int64_t>(shapeOf(d).size()); i < e; ++i)
    dimensions.push_back(i);
  Value kept = match::repeatedAlong(difference.getRhs(), shapeOf(d), dimensions);
  auto mean = kept ? match::mean(kept) : std::nullopt;
  bool same = mean && mean->operand == difference.getLhs() &&
              ArrayRef(mean->dimensions) == ArrayRef(dimensions);
  return same ? difference.getLhs() : Value();
}

bool sameCentred(Value a, Value b, int64_t axis) {
  return a == b || (centred(a, axis) && centred(a, axis) == centred(b, axis));
}

Value raiseNormalization(Operation *op, OpBuilder &builder) {
  auto found = matchNormalized(op);
  if (!found)
    return Value();
  Type type = op->getResult(0).getType();
  auto axis = builder.getI64IntegerAttr(found->axis);
  auto epsilon = builder.getF64FloatAttr(found->epsilon);
  if (Value x = centred(found->meanSquareOf, found->axis);
      x && sameCentred(found->numerator, found->meanSquareOf, found->axis))
    return builder.create<nn::LayerNormOp>(op->getLoc(), type, x, Value(), Value(), axis, epsilon);
  if (found->numerator == found->meanSquareOf)
    return builder.create<nn::RmsNormOp>(op->getLoc(), type, found->numerator, Value(), axis,
                                         epsilon);
  return Value();
}

/// A normalisation that nothing else needs, times what repeats over its leading dimensions.
Value raiseScale(Operation *op, OpBuilder &builder) {
  if (!isa<prim::MulOp>(op))
    return Value();
  for (int side = 0; side < 2; ++side) {
    Value y = op->getOperand(side), factor = op->getOperand(1 - side);
    if (!y.hasOneUse())
      continue;
    if (auto norm = y.getDefiningOp<nn::LayerNormOp>(); norm && !norm.getScale() && !norm.getBias())
      if (Value scale = match::repeatedOverLeading(factor, norm.getAxis(), builder))
        return builder.create<nn::LayerNormOp>(op->getLoc(), y.getType(), norm.getX(), scale,
                                               Value(), norm.getAxisAttr(), norm.getEpsilonAttr());
    if (auto norm = y.getDefiningOp<nn::RmsNormOp>(); norm && !norm.getScale())
      if (Value scale = match::repeatedOverLeading(factor, norm.getAxis(), builder))
        return builder.create<nn::RmsNormOp>(op->getLoc(), y.getType(), norm.getX(), scale,
                                             norm.getAxisAttr(), norm.getEpsilonAttr());
  }
  return Value();
}

Value raiseBias(Operation *op, OpBuilder &builder) {
  if (!isa<prim::AddOp>(op))
    return Value();
  for (int side = 0; side < 2; ++side) {
    Value y = op->getOperand(side), term = op->getOperand(1 - side);
    auto norm = y.getDefiningOp<nn::LayerNormOp>();
    if (!norm || !norm.getScale() || norm.getBias() || !y.hasOneUse())
      continue;
    if (Value bias = match::repeatedOverLeading(term, norm.getAxis(), builder))
      return builder.create<nn::LayerNormOp>(op->getLoc(), y.getType(), norm.getX(),
                                             norm.getScale(), bias, norm.getAxisAttr(),
                                             norm.getEpsilonAttr());
  }
  return Value();
}

} // namespace

ArrayRef<RaiseRule> accc::raiseNormalizations() {
  static const RaiseRule rules[] = {raiseNormalization, raiseScale, raiseBias};
  return rules;
}
