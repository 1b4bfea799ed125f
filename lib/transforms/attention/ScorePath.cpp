// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transforms/attention/ScorePath.h"

#include "transforms/attention/KnownMasks.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::transforms;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// More ops than any model has between a product and its softmax.
constexpr int kGreatestLength = 16;

bool isHalfOrF32(Type type) { return prim::isHalf(type) || type.isF32(); }

bool isNumber(Value value, double number) { return numberOf(value) == number; }

/// Follows scores from the softmax back to their product. `element` is the type of the values that
/// the weights meet; scores have it, or f32 for a 16-bit one.
class BackwardWalk {
public:
  BackwardWalk(ScorePath &path, Type element) : path(path), element(element) {}

  bool reachesProduct(Value value, int length = 0) {
    Type type = typeOf(value).getElementType();
    if (!value.hasOneUse() || length > kGreatestLength ||
        (type != element && !(prim::isHalf(element) && type.isF32())))
      return false;
    path.shapes.push_back(typeOf(value).getShape());
    Operation *op = value.getDefiningOp();
    if (std::optional<BatchedProduct> product = asBatchedProduct(op)) {
      path.scores = *product;
      // 16-bit floats that are converted first are other factors than those of nn.attention.
      path.roundsScores |= prim::isHalf(type);
      return typeOf(product->lhs).getElementType() == element;
    }
    auto next = [&](Value operand) { return reachesProduct(operand, length + 1); };
    if (auto reshape = dyn_cast_or_null<prim::ReshapeOp>(op))
      return keepsMatrices(reshape) && next(reshape.getOperand());
    if (auto convert = dyn_cast_or_null<prim::ConvertOp>(op)) {
      path.roundsScores |= prim::isHalf(type);
      return next(convert.getOperand());
    }
    if (auto scaled = asScaled(value)) {
      path.scale *= scaled->number;
      isScaled = true;
      return next(scaled->x);
    }
    // nn.attention scales first.
    if (isScaled)
      return false;
    if (auto add = dyn_cast_or_null<prim::AddOp>(op))
      return masked({add.getRhs(), {}, false}, add.getLhs(), length) ||
             masked({add.getLhs(), {}, false}, add.getRhs(), length);
    if (auto select = dyn_cast_or_null<prim::SelectOp>(op)) {
      auto hidden = numberOf(select.getOnFalse()), shown = numberOf(select.getOnTrue());
      if (hidden && *hidden <= kHides)
        return masked({select.getPredicate(), hidden, false}, select.getOnTrue(), length);
      if (shown && *shown <= kHides)
        return masked({select.getPredicate(), shown, true}, select.getOnFalse(), length);
    }
    return false;
  }

private:
  /// Scores with one mask more, if they are scores.
  bool masked(MaskPart mask, Value scores, int length) {
    ScorePath before = path;
    bool wasScaled = isScaled;
    path.masks.push_back(mask);
    if (reachesProduct(scores, length + 1))
      return true;
    path = before;
    isScaled = wasScaled;
    return false;
  }

  ScorePath &path;
  Type element;
  bool isScaled = false;
};

/// What stands for weights behind the guard against rows without anything to look at, 0 where they
/// are no number; else null. nn.softmax gives 0 there itself, and no other row of numbers needs it.
Value behindGuard(Value weights) {
  prim::SelectOp guard;
  for (Operation *user : weights.getUsers())
    if (auto select = dyn_cast<prim::SelectOp>(user))
      guard = select;
  if (!guard || guard.getOnFalse() != weights || !isNumber(guard.getOnTrue(), 0.0))
    return Value();
  auto isNan = guard.getPredicate().getDefiningOp<prim::CompareOp>();
  if (!isNan || !isNan->hasOneUse() || isNan.getDirection() != prim::Direction::ne ||
      isNan.getLhs() != isNan.getRhs())
    return Value();
  // Compared as they are, or as f32.
  auto isComparison = [&](Operation *user) { return user == isNan; };
  Value compared = isNan.getLhs();
  Operation *reader = isNan;
  if (compared != weights) {
    auto convert = compared.getDefiningOp<prim::ConvertOp>();
    if (!convert || convert.getOperand() != weights ||
        !isa<FloatType>(typeOf(compared).getElementType()) ||
        !llvm::all_of(convert->getUsers(), isComparison))
      return Value();
    reader = convert;
  }
  auto mayRead = [&](Operation *user) { return user == reader || user == guard; };
  return llvm::all_of(weights.getUsers(), mayRead) ? guard.getResult() : Value();
}

/// Follows weights from the softmax to their product with values.
bool reachesOutput(ScorePath &path, Value weights) {
  // The 16-bit type that they have been rounded to: once, however often they are converted to it.
  Type rounded;
  for (int length = 0; length < kGreatestLength; ++length) {
    RankedTensorType type = typeOf(weights);
    Type element = type.getElementType();
    if (prim::isHalf(element) && rounded && rounded != element)
      return false;
    if (prim::isHalf(element))
      rounded = element;
    if (Value guarded = behindGuard(weights)) {
      weights = guarded;
      continue;
    }
    if (!weights.hasOneUse())
      return false;
    Operation *user = *weights.user_begin();
    if (auto product = asBatchedProduct(user)) {
      path.output = *product;
      path.weightsAreLhs = product->lhs == weights;
      // The product reads them as [leading, T, S], and gives their type.
      const Extents &order = path.weightsAreLhs ? product->lhsOrder : product->rhsOrder;
      return llvm::is_sorted(order) && (!rounded || rounded == element) &&
             product->leading() == type.getShape().drop_back(2) &&
             product->type().getElementType() == element;
    }
    auto reshape = dyn_cast<prim::ReshapeOp>(user);
    auto convert = dyn_cast<prim::ConvertOp>(user);
    if (reshape
            ? !keepsMatrices(reshape)
            : !convert || !isHalfOrF32(element) || !isHalfOrF32(convert.getType().getElementType()))
      return false;
    weights = user->getResult(0);
  }
  return false;
}

} // namespace

std::optional<ScorePath> transforms::findScorePath(nn::SoftmaxOp softmax) {
  RankedTensorType type = typeOf(softmax.getX());
  if (type.getRank() < 2 || static_cast<int64_t>(softmax.getDimension()) != type.getRank() - 1)
    return std::nullopt;
  ScorePath path;
  if (!reachesOutput(path, softmax.getResult()))
    return std::nullopt;
  Type element = path.output.type().getElementType();
  if (!BackwardWalk(path, element).reachesProduct(softmax.getX()))
    return std::nullopt;
  return path;
}
