// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of views: that of the tensors which these are.
#include "ir/prim/AttentionRules.h"
#include "ir/prim/Infer.h"
#include "ir/prim/ReverseWalk.h"
#include "ir/prim/ViewedTensor.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/StridedAttention.cpp.inc"

namespace {

template <typename Op> StridedView viewOf(Op op, size_t i) {
  return StridedView::at(op.getViews(), i);
}

template <typename Op> RankedTensorType typeOf(Op op, size_t i) {
  StridedView view = viewOf(op, i);
  return tensorType(op.getQ()).clone(view.shape);
}

template <typename Op> SmallVector<RankedTensorType, 3> factorTypesOf(Op op) {
  return {typeOf(op, 0), typeOf(op, 1), typeOf(op, 2)};
}

/// The tensors that the views are of, in their order.
SmallVector<Value> viewedBy(StridedAttentionOp op) {
  return {op.getQ(), op.getK(), op.getV(), op.getResult()};
}
SmallVector<Value> viewedBy(StridedAttentionBackwardOp op) {
  SmallVector<Value> tensors = {op.getQ(), op.getK(), op.getV(), op.getY(), op.getDy()};
  for (int64_t place : op.getPlaces())
    tensors.push_back(op.getGradients()[static_cast<size_t>(place)]);
  return tensors;
}

// strided_attention_c1, strided_attention_backward_c1
template <typename Op> LogicalResult checkViews(Op op) {
  SmallVector<Value> tensors = viewedBy(op);
  if (op.getViews().size() != tensors.size())
    return op.emitOpError("has ") << op.getViews().size() << " views, not " << tensors.size();
  for (auto [attribute, tensor] : llvm::zip_equal(op.getViews(), tensors)) {
    auto view = StridedView::within(tensorType(tensor), attribute);
    if (!view || view->shape.size() != 4)
      return op.emitOpError("has a view ") << attribute << " of " << tensor.getType();
  }
  return success();
}

// strided_attention_c2, strided_attention_backward_c2
template <typename Op> LogicalResult checkAttention(Op op) {
  Value bias = op.getBias();
  if (auto why = whyNoAttention(typeOf(op, 0), typeOf(op, 1), typeOf(op, 2),
                                bias ? tensorType(bias) : RankedTensorType()))
    return op.emitOpError(*why);
  AttentionTypes made = attentionTypes(typeOf(op, 0), typeOf(op, 1), typeOf(op, 2));
  if (typeOf(op, 3) != made.result || op.getStats().getType() != made.stats)
    return op.emitOpError("has ") << typeOf(op, 3) << " and stats " << op.getStats().getType()
                                  << " where the attention gives " << made.result << " and "
                                  << made.stats;
  return success();
}

/// Of what no view has put anything into.
ReferenceArray nothing(Type type) {
  return ReferenceArray(cast<RankedTensorType>(type).getShape(),
                        std::numeric_limits<double>::quiet_NaN());
}

/// Gives `use` the attention of the views; a bias is the last operand.
template <typename Op, typename Use>
auto withValues(Op op, ArrayRef<ReferenceArray> operands, Use use) {
  ReferenceArray q = viewed(operands[0], viewOf(op, 0)), k = viewed(operands[1], viewOf(op, 1)),
                 v = viewed(operands[2], viewOf(op, 2));
  return use(ReferenceAttention{q, k, v, op.getBias() ? &operands.back() : nullptr,
                                op.getScale().convertToDouble(), op.getCausal()});
}

} // namespace

// ---- strided_attention ----

SmallVector<RankedTensorType, 3> StridedAttentionOp::getFactorTypes() {
  return factorTypesOf(*this);
}

LogicalResult StridedAttentionOp::verify() {
  if (failed(checkViews(*this)) || failed(checkAttention(*this)))
    return failure();
  if (viewOf(*this, 3).elements() != getResult().getType().getNumElements()) // c3
    return emitOpError("has a result ") << getResult().getType() << ", not all of which it writes";
  return success();
}

LogicalResult StridedAttentionOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  auto factor = [&](Value whole, size_t i) {
    return viewed(builder, getLoc(), whole, viewOf(*this, i)).get();
  };
  auto attention =
      builder.create<AttentionOp>(getLoc(), factor(getQ(), 0), factor(getK(), 1), factor(getV(), 2),
                                  getBias(), getScaleAttr(), getCausalAttr());
  Tensor y(builder, getLoc(), attention.getResult());
  results.push_back(put(y.full(getResult().getType(), 0.0), y, viewOf(*this, 3)).get());
  results.push_back(attention.getStats());
  return success();
}

LogicalResult StridedAttentionOp::differentiate(Gradients &gradients) {
  return differentiateParts(*this, gradients);
}

LogicalResult StridedAttentionOp::evaluate(ArrayRef<ReferenceArray> operands,
                                           SmallVectorImpl<ReferenceArray> &results) {
  auto [y, stats] = withValues(*this, operands, [](auto attention) { return attention.forward(); });
  results.push_back(nothing(getResult().getType()));
  put(results.back(), y, viewOf(*this, 3));
  results.push_back(std::move(stats));
  return success();
}

// ---- strided_attention_backward ----

SmallVector<RankedTensorType, 3> StridedAttentionBackwardOp::getFactorTypes() {
  return factorTypesOf(*this);
}

LogicalResult StridedAttentionBackwardOp::verify() {
  auto results = static_cast<int64_t>(getGradients().size());
  if (getPlaces().size() != 3 ||
      llvm::any_of(getPlaces(), [&](int64_t place) { return place < 0 || place >= results; }))
    return emitOpError("does not say for dq, dk and dv in which result each lies");
  if (failed(checkViews(*this)) || failed(checkAttention(*this)))
    return failure();
  for (size_t i : {0, 1, 2})
    if (typeOf(*this, 5 + i) != typeOf(*this, i))
      return emitOpError("has a gradient ") << typeOf(*this, 5 + i) << " of " << typeOf(*this, i);
  if (typeOf(*this, 4) != typeOf(*this, 3))
    return emitOpError("has a gradient ") << typeOf(*this, 4) << " of " << typeOf(*this, 3);
  // c3, but for views that share elements, which are found where numbers are computed.
  SmallVector<int64_t> written(getGradients().size(), 0);
  for (auto [i, place] : llvm::enumerate(getPlaces()))
    written[static_cast<size_t>(place)] += viewOf(*this, 5 + i).elements();
  for (auto [result, elements] : llvm::zip_equal(getGradients(), written))
    if (elements != tensorType(result).getNumElements())
      return emitOpError("has a result ")
             << result.getType() << " of which it writes " << elements << " elements";
  return success();
}

LogicalResult StridedAttentionBackwardOp::decompose(OpBuilder &builder,
                                                    SmallVectorImpl<Value> &results) {
  SmallVector<Value> tensors = viewedBy(*this);
  auto tensor = [&](size_t i) {
    return viewed(builder, getLoc(), tensors[i], viewOf(*this, i)).get();
  };
  auto attention = builder.create<AttentionBackwardOp>(getLoc(), tensor(0), tensor(1), tensor(2),
                                                       tensor(3), getStats(), tensor(4), getBias(),
                                                       getScaleAttr(), getCausalAttr());
  for (Value gradient : getGradients())
    results.push_back(full(builder, getLoc(), tensorType(gradient), 0.0).get());
  for (auto [i, place, part] : llvm::enumerate(getPlaces(), attention->getResults())) {
    Value &whole = results[static_cast<size_t>(place)];
    Tensor own(builder, getLoc(), part);
    whole = put(own.wrap(whole), own, viewOf(*this, 5 + i)).get();
  }
  return success();
}

LogicalResult StridedAttentionBackwardOp::differentiate(Gradients &gradients) {
  return differentiateParts(*this, gradients);
}

LogicalResult StridedAttentionBackwardOp::evaluate(ArrayRef<ReferenceArray> operands,
                                                   SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray dy = viewed(operands[5], viewOf(*this, 4));
  auto [dq, dk, dv] =
      withValues(*this, operands, [&](auto attention) { return attention.backward(dy); });
  for (Value gradient : getGradients())
    results.push_back(nothing(gradient.getType()));
  const ReferenceArray *parts[] = {&dq, &dk, &dv};
  for (auto [i, place] : llvm::enumerate(getPlaces()))
    put(results[static_cast<size_t>(place)], *parts[i], viewOf(*this, 5 + i));
  return success();
}
