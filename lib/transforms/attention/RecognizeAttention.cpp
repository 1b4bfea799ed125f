// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "support/DeadCode.h"
#include "transforms/Passes.h"
#include "transforms/attention/KnownMasks.h"
#include "transforms/attention/ScorePath.h"

#include <cmath>
#include <limits>

namespace accc {
#define GEN_PASS_DEF_RECOGNIZEATTENTIONPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using accc::prim::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What is left of the masks of a path.
struct Masks {
  bool causal = false;
  SmallVector<MaskPart> parts;
};

/// Takes masks away that are known, where a flag or nothing does the same; nothing if no mask of
/// nn.attention does what they do together.
std::optional<Masks> simplified(ArrayRef<MaskPart> parts, KnownValues &values, int64_t queries,
                                int64_t keys) {
  Masks masks;
  SmallVector<MaskPart> causal;
  for (MaskPart part : parts) {
    auto known = findKnownMask(values, part.value, queries, keys, part.negated);
    if (known && known->hidesNothing)
      continue;
    if (known && known->isCausal) {
      // Below another mask, whose rows may hide all that this one shows, a number is not -inf.
      if (part.hidden == -kInfinity)
        masks.causal = true;
      else
        causal.push_back(part);
      continue;
    }
    // What a number that is hidden is does not matter where something else is seen.
    if (known && known->everyQuerySees && part.hidden && parts.size() == 1)
      part.hidden = -kInfinity;
    masks.parts.push_back(part);
  }
  // Several causal ones hide what each does.
  if (masks.parts.empty())
    masks.causal |= !causal.empty();
  else
    masks.parts.append(causal);
  auto isNumber = [](const MaskPart &part) { return part.hidden && *part.hidden != -kInfinity; };
  bool together = masks.parts.size() > 1 || (masks.causal && !masks.parts.empty());
  if (together && llvm::any_of(masks.parts, isNumber))
    return std::nullopt;
  return masks;
}

/// The mask without its repetition to the scores' shape, which nn.attention does itself: through
/// what is computed for each element.
Tensor unrepeated(Tensor mask) {
  Operation *op = mask.get().getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<prim::BroadcastOp>(op)) {
    Tensor inner = mask.wrap(broadcast.getOperand());
    Extents shape(mask.rank(), 1);
    for (auto [d, extent] : llvm::zip_equal(broadcast.getDimensions(), inner.shape()))
      shape[d] = extent;
    return reshaped(inner, shape);
  }
  auto convert = dyn_cast_or_null<prim::ConvertOp>(op);
  if (!convert)
    return mask;
  Tensor inner = mask.wrap(convert.getOperand()), less = unrepeated(inner);
  return less.get() == inner.get() ? mask : less.convert(mask.elementType());
}

/// The mask as [..., T, S] that repeats to the scores [B, H, T, S].
Tensor asMask(Tensor mask, ArrayRef<int64_t> scores) {
  Tensor less = unrepeated(mask);
  bool samePlanes = mask.shape() == scores;
  bool onePlane =
      llvm::all_of(less.shape().drop_back(2), [](int64_t extent) { return extent == 1; });
  if (samePlanes)
    return less;
  if (onePlane)
    return reshaped(less, less.shape().take_back(2));
  return reshaped(mask, scores);
}

/// The parts as the one mask that nn.attention has; null for none.
Value joined(OpBuilder &builder, Location loc, ArrayRef<MaskPart> parts, Type element,
             ArrayRef<int64_t> scores) {
  std::optional<Tensor> visible, added;
  double hidden = -kInfinity;
  for (const MaskPart &part : parts) {
    Tensor mask = asMask(Tensor(builder, loc, part.value), scores);
    // Parts that repeat differently meet at full size.
    if (parts.size() > 1)
      mask = mask.broadcastTo(scores);
    if (!part.hidden) {
      if (parts.size() > 1)
        mask = mask.convert(element);
      added = added ? *added + mask : mask;
      continue;
    }
    hidden = *part.hidden;
    if (part.negated)
      mask = prim::logicalNot(mask);
    visible = visible ? prim::bitAnd(*visible, mask) : mask;
  }
  if (!visible)
    return added ? added->get() : Value();
  if (!added && hidden == -kInfinity)
    return *visible;
  Tensor zero = visible->full(RankedTensorType::get(visible->shape(), element), 0.0);
  return prim::select(*visible, added ? *added : zero, hidden);
}

/// Batch and heads of the scores: as they are in four dimensions anywhere on the way.
std::pair<int64_t, int64_t> batchAndHeads(const ScorePath &path) {
  SmallVector<ArrayRef<int64_t>> shapes(path.shapes);
  shapes.push_back(path.output.type().getShape());
  for (ArrayRef<int64_t> shape : shapes)
    if (shape.size() == 4)
      return {shape[0], shape[1]};
  int64_t planes = 1;
  ArrayRef<int64_t> leading = path.scores.leading();
  for (int64_t extent : leading)
    planes *= extent;
  int64_t heads = leading.size() < 2 ? 1 : leading.back();
  return {heads == 0 ? 0 : planes / heads, heads};
}

/// A factor of an operand that the scale can take; 16-bit floats round their product with it.
Tensor takeFactors(Tensor x, double &scale) {
  while (!prim::isHalf(x.elementType())) {
    std::optional<Scaled> scaled = asScaled(x);
    if (!scaled)
      break;
    scale *= scaled->number;
    x = x.wrap(scaled->x);
  }
  return x;
}

bool recognize(nn::SoftmaxOp softmax, KnownValues &values,
               const RecognizeAttentionPassOptions &options) {
  std::optional<ScorePath> path = findScorePath(softmax);
  if (!path || (path->roundsScores && !options.widenScores) ||
      (options.onlyHalf && !prim::isHalf(path->output.type().getElementType())))
    return false;
  int64_t queries = path->scores.type().getShape().take_back(2)[0],
          keys = path->scores.type().getShape().back();
  std::optional<Masks> masks = simplified(path->masks, values, queries, keys);
  if (!masks || (options.onlyUnmasked && !masks->parts.empty()))
    return false;

  BatchedProduct &output = path->output, &scores = path->scores;
  OpBuilder builder(output.op);
  Location loc = output.op->getLoc();
  auto [batch, heads] = batchAndHeads(*path);
  double scale = path->scale;
  auto operand = [&](Value value, ArrayRef<int64_t> order, ArrayRef<int64_t> leading) {
    return asHeads(transposed(takeFactors(Tensor(builder, loc, value), scale), order), leading,
                   batch, heads);
  };
  Tensor q = operand(scores.lhs, scores.lhsOrder, scores.leading());
  Tensor k = operand(scores.rhs, scores.rhsOrder, scores.leading());
  // Values have the keys first.
  Value given = path->weightsAreLhs ? output.rhs : output.lhs;
  Extents order = path->weightsAreLhs ? output.rhsOrder : output.lhsOrder;
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  Tensor v = asHeads(transposed(q.wrap(given), order), output.leading(), batch, heads);
  Value sharedKeys = beforeSharing(k), sharedValues = beforeSharing(v);
  if (sharedKeys && sharedValues &&
      typeOf(sharedKeys).getDimSize(1) == typeOf(sharedValues).getDimSize(1)) {
    k = q.wrap(sharedKeys);
    v = q.wrap(sharedValues);
  }

  Type element = prim::isHalf(q.elementType()) ? builder.getF32Type() : q.elementType();
  Value mask = joined(builder, loc, masks->parts, element, {batch, heads, queries, keys});
  Tensor y = q.wrap(builder.create<nn::AttentionOp>(loc, q, k, v, mask, scale, masks->causal));
  if (!path->weightsAreLhs)
    y = y.transpose({0, 1, 3, 2});
  output.op->getResult(0).replaceAllUsesWith(reshaped(y, output.type().getShape()));
  return true;
}

/// Takes a mask away that is known, where a flag or nothing does the same.
template <typename Op> void simplifyMask(Op op, KnownValues &values) {
  if (!op.getMask())
    return;
  int64_t queries = typeOf(op.getQ()).getDimSize(2), keys = typeOf(op.getK()).getDimSize(2);
  Value mask = withoutIdleParts(values, op.getMask(), queries, keys);
  if (mask)
    if (auto known = findKnownMask(values, mask, queries, keys); known && known->isCausal) {
      op.setCausal(true);
      mask = Value();
    }
  if (mask)
    op.getMaskMutable().assign(mask);
  else
    op.getMaskMutable().clear();
}

struct RecognizeAttentionPass : accc::impl::RecognizeAttentionPassBase<RecognizeAttentionPass> {
  using RecognizeAttentionPassBase::RecognizeAttentionPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    KnownValues values;
    SmallVector<nn::SoftmaxOp> softmaxes;
    function.walk([&](nn::SoftmaxOp op) { softmaxes.push_back(op); });
    for (nn::SoftmaxOp op : softmaxes)
      recognize(op, values, {widenScores, onlyUnmasked, onlyHalf});
    function.walk([&](nn::AttentionOp op) { simplifyMask(op, values); });
    function.walk([&](nn::AttentionBackwardOp op) { simplifyMask(op, values); });
    for (Block &block : function.getBody())
      eraseDeadCode(block);
  }
};

} // namespace
