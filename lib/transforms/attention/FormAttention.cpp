// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "ir/prim/Tensor.h"
#include "transforms/Passes.h"
#include "transforms/attention/KnownMasks.h"
#include "transforms/attention/Operands.h"

#include <limits>

namespace accc {
#define GEN_PASS_DEF_FORMATTENTIONPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using accc::prim::Tensor;

namespace {

/// Takes all weight from what it is added to, and every type but f16 has it. A library's kernels
/// subtract the greatest of a row, which -inf must not be.
constexpr double kHidden = -0x1p127;

/// Where queries may look, [B or 1, H or 1, T or 1, S].
struct Visible {
  Tensor where;
  /// A query that may look nowhere gives zeros; else it looks everywhere, at all keys alike.
  bool emptyGivesZero;
};

/// The mask with all of the scores' dimensions.
Tensor withAllDimensions(Tensor mask, int64_t keys) {
  SmallVector<int64_t> shape(4 - mask.rank(), 1);
  llvm::append_range(shape, mask.shape());
  Tensor all = mask.reshape(shape);
  shape[3] = keys;
  return all.broadcastTo(shape);
}

/// What a mask says if it says where to look, and no more.
std::optional<Visible> findVisible(nn::AttentionOp op, OpBuilder &b) {
  Tensor mask(b, op.getLoc(), op.getMask());
  int64_t keys = cast<RankedTensorType>(op.getK().getType()).getDimSize(2);
  if (mask.elementType().isInteger(1))
    return Visible{withAllDimensions(mask, keys), true};
  auto choice = op.getMask().getDefiningOp<prim::SelectOp>();
  if (!choice || numberOf(choice.getOnTrue()) != 0.0)
    return std::nullopt;
  std::optional<double> hidden = numberOf(choice.getOnFalse());
  if (!hidden || *hidden > kHides)
    return std::nullopt;
  return Visible{withAllDimensions(mask.wrap(choice.getPredicate()), keys),
                 *hidden == -std::numeric_limits<double>::infinity()};
}

/// Whether there is a key to look at, [B or 1, T or 1, H or 1, 1], as the result lies.
Tensor looksSomewhere(Visible visible, nn::AttentionOp op) {
  Tensor where = visible.where;
  if (op.getCausal()) {
    SmallVector<int64_t> shape(where.shape());
    shape[2] = cast<RankedTensorType>(op.getQ().getType()).getDimSize(2);
    auto plane = RankedTensorType::get({shape[2], shape[3]}, where.getBuilder().getI32Type());
    Tensor query = prim::iota(where.getBuilder(), where.getLoc(), plane, 0),
           key = prim::iota(where.getBuilder(), where.getLoc(), plane, 1);
    where = prim::bitAnd(where.broadcastTo(shape), (key <= query).broadcastTo(shape));
  }
  Tensor any = prim::reduce(prim::ReduceKind::any, where, {3}); // [B, H, T]
  return any.reshape({any.dim(0), any.dim(1), any.dim(2), 1}).transpose({0, 2, 1, 3});
}

/// What a query sees that looks at all keys alike, as the result lies.
Tensor meanOfValues(Tensor v, ArrayRef<int64_t> result) { // v [B, S, Hk, Dv]
  Tensor mean = prim::mean(prim::widen(v), {1}).convert(v.elementType());
  int64_t keyHeads = v.dim(2);
  SmallVector<int64_t> grouped = {result[0], result[1], keyHeads, result[2] / keyHeads, result[3]};
  return mean.broadcast(grouped, {0, 2, 4}).reshape(result);
}

/// Of a row whose keys are all hidden a library computes something, but no gradient: the
/// logarithm of its sum is lost beside kHidden. So the row is none of its.
Tensor withEmptyRows(Tensor y, Tensor v, Visible visible, nn::AttentionOp op) {
  Tensor looks = looksSomewhere(visible, op).broadcastTo(y.shape());
  return visible.emptyGivesZero ? prim::select(looks, y, 0.0)
                                : prim::select(looks, y, meanOfValues(v, y.shape()));
}

void form(nn::AttentionOp op) {
  OpBuilder b(op);
  auto positionsFirst = [&](Value heads) {
    return Tensor(b, op.getLoc(), heads).transpose({0, 2, 1, 3});
  };
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  std::optional<Visible> visible;
  if (op.getMask() && !element.isF16())
    visible = findVisible(op, b);
  // Behind a causal mask, where each query would look at keys of its own alike.
  bool isUneven = visible && !visible->emptyGivesZero && op.getCausal();
  if (op.getMask() && (!visible || isUneven))
    return;
  Tensor q = positionsFirst(op.getQ()), v = positionsFirst(op.getV());
  Value bias;
  if (visible) {
    auto type = RankedTensorType::get(visible->where.shape(), q.elementType());
    bias = prim::select(visible->where, q.full(type, 0.0), kHidden);
  }
  auto made =
      b.create<prim::AttentionOp>(op.getLoc(), q, positionsFirst(op.getK()), v, bias,
                                  b.getF64FloatAttr(op.getScale()), b.getBoolAttr(op.getCausal()));
  Tensor y = q.wrap(made.getResult());
  if (visible)
    y = withEmptyRows(y, v, *visible, op);
  op.replaceAllUsesWith(positionsFirst(y).get());
  op.erase();
}

/// A file's own gradient; the attention that it is of becomes this one, if it is in the file.
void form(nn::AttentionBackwardOp op) {
  OpBuilder b(op);
  auto turned = [&](Value x) { return Tensor(b, op.getLoc(), x).transpose({0, 2, 1, 3}); };
  Tensor q = turned(op.getQ()), k = turned(op.getK()), v = turned(op.getV());
  auto attention =
      b.create<prim::AttentionOp>(op.getLoc(), q, k, v, Value(), b.getF64FloatAttr(op.getScale()),
                                  b.getBoolAttr(op.getCausal()));
  auto made = b.create<prim::AttentionBackwardOp>(
      op.getLoc(), q, k, v, attention.getResult(), attention.getStats(), turned(op.getDy()),
      Value(), attention.getScaleAttr(), attention.getCausalAttr());
  for (auto [result, gradient] : llvm::zip_equal(op->getResults(), made->getResults()))
    result.replaceAllUsesWith(turned(gradient).get());
  op.erase();
}

struct FormAttentionPass : accc::impl::FormAttentionPassBase<FormAttentionPass> {
  using FormAttentionPassBase::FormAttentionPassBase;

  void runOnOperation() override {
    auto isAsked = [&](auto op) {
      return (!onlyHalf || prim::isHalf(op.getQ().getType().getElementType())) &&
             op.getK().getType().getDimSize(2) > 0 && op.getQ().getType().getDimSize(3) > 0;
    };
    SmallVector<nn::AttentionOp> whole;
    getOperation().walk([&](nn::AttentionOp op) {
      if (isAsked(op) && (!onlyUnmasked || !op.getMask()) && op.getSoftcap() <= 0.0)
        whole.push_back(op);
    });
    for (nn::AttentionOp op : whole)
      form(op);
    SmallVector<nn::AttentionBackwardOp> gradients;
    getOperation().walk([&](nn::AttentionBackwardOp op) {
      if (isAsked(op) && !op.getMask())
        gradients.push_back(op);
    });
    for (nn::AttentionBackwardOp op : gradients)
      form(op);
  }
};

} // namespace
