// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention and its gradient: their values, and what they are made of.
#include "ir/prim/AttentionRules.h"
#include "ir/prim/Infer.h"
#include "ir/prim/ReverseWalk.h"
#include "ir/prim/Tensor.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Attention.cpp.inc"

namespace {

// attention_c1, attention_c2, attention_c3
template <typename Op>
LogicalResult checkFactors(std::optional<Location> loc, Value q, Value k, Value v, Value bias) {
  auto why = whyNoAttention(tensorType(q), tensorType(k), tensorType(v),
                            bias ? tensorType(bias) : RankedTensorType());
  return why ? inferError<Op>(loc, *why) : success();
}

// ---- as contractions ----

/// The parts of an attention; scores and weights are [B, Hk, T, H / Hk, S].
struct Parts {
  Parts(OpBuilder &builder, AttentionLike op)
      : e(op), q(builder, op.getLoc(), op.getQ()), k(q.wrap(op.getK())), v(q.wrap(op.getV())),
        grouped(byGroups(q)), scores(maskedScores(op)),
        greatest(reduce(ReduceKind::max, scores, {4})),
        exps(exp(scores - greatest.broadcastAlong(scores.shape(), {4}))), total(sum(exps, {4})),
        weights(exps / total.broadcastAlong(scores.shape(), {4})),
        rounded(weights.convert(q.elementType())) {}

  /// [B, T, H, D] as [B, T, Hk, H / Hk, D].
  Tensor byGroups(Tensor x) const {
    return x.reshape({x.dim(0), x.dim(1), e.keyHeads, e.shared, x.dim(3)});
  }

  /// [B, H, T, S], or with extents of 1, as [B, Hk, T, H / Hk, S].
  Tensor biasOf(Tensor bias) const {
    bool one = bias.dim(1) == 1;
    return bias
        .reshape({bias.dim(0), one ? 1 : e.keyHeads, one ? 1 : e.shared, bias.dim(2), bias.dim(3)})
        .transpose({0, 1, 3, 2, 4});
  }

  Tensor maskedScores(AttentionLike op) const {
    double scale = cast<FloatAttr>(op->getAttr("scale")).getValueAsDouble();
    Tensor s = wideDotGeneral(grouped, k, {0, 2}, {0, 2}, {4}, {3}) * scale;
    if (Value added = op.getBias())
      s = s + biasOf(q.wrap(added).convert(s.elementType())).broadcastTo(s.shape());
    if (!op.getCausal())
      return s;
    auto plane = RankedTensorType::get({e.queries, e.keys}, q.getBuilder().getI32Type());
    Tensor query = iota(q.getBuilder(), q.getLoc(), plane, 0),
           key = iota(q.getBuilder(), q.getLoc(), plane, 1);
    return select((key <= query).broadcast(s.shape(), {2, 4}), s,
                  -std::numeric_limits<double>::infinity());
  }

  AttentionExtents e;
  Tensor q, k, v, grouped, scores, greatest, exps, total, weights;
  Tensor rounded; // the weights as their products read them
};

// ---- as numbers ----

/// A bias is the last operand.
template <typename Op> ReferenceAttention valuesOf(Op op, ArrayRef<ReferenceArray> operands) {
  return {operands[0],
          operands[1],
          operands[2],
          op.getBias() ? &operands.back() : nullptr,
          op.getScale().convertToDouble(),
          op.getCausal()};
}

} // namespace

// ---- attention ----

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Value q = adaptor.getQ(), k = adaptor.getK(), v = adaptor.getV();
  if (failed(checkFactors<AttentionOp>(location, q, k, v, adaptor.getBias())))
    return failure();
  AttentionTypes made = attentionTypes(tensorType(q), tensorType(k), tensorType(v));
  types.append({made.result, made.stats});
  return success();
}

LogicalResult AttentionOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts p(builder, *this);
  Tensor y = dotGeneral(p.rounded, p.v, {0, 1}, {0, 2}, {4}, {1}); // [B, Hk, T, H / Hk, Dv]
  results.push_back(y.transpose({0, 2, 1, 3, 4}).reshape(getResult().getType().getShape()));
  Tensor stats = p.greatest + log(p.total); // [B, Hk, T, H / Hk]
  results.push_back(stats.transpose({0, 1, 3, 2}).reshape(getStats().getType().getShape()));
  return success();
}

LogicalResult AttentionOp::differentiate(Gradients &gradients) {
  if (gradients.has(getStats()) || (getBias() && gradients.wants(getBias())))
    return differentiateParts(*this, gradients);
  auto made = gradients.builder().create<AttentionBackwardOp>(
      getLoc(), getQ(), getK(), getV(), getResult(), getStats(), gradients.of(getResult()),
      getBias(), getScaleAttr(), getCausalAttr());
  gradients.add(getQ(), made.getDq());
  gradients.add(getK(), made.getDk());
  gradients.add(getV(), made.getDv());
  return success();
}

LogicalResult AttentionOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  auto [y, stats] = valuesOf(*this, operands).forward();
  results.append({std::move(y), std::move(stats)});
  return success();
}

// ---- attention_backward ----

LogicalResult AttentionBackwardOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Value q = adaptor.getQ(), k = adaptor.getK(), v = adaptor.getV();
  if (failed(checkFactors<AttentionBackwardOp>(location, q, k, v, adaptor.getBias())))
    return failure();
  // attention_backward_c1
  auto [y, stats] = attentionTypes(tensorType(q), tensorType(k), tensorType(v));
  if (adaptor.getY().getType() != y || adaptor.getDy().getType() != y ||
      adaptor.getStats().getType() != stats)
    return inferError<AttentionBackwardOp>(
        location, "y, stats and dy are ", adaptor.getY().getType(), ", ",
        adaptor.getStats().getType(), " and ", adaptor.getDy().getType(),
        ", but the attention gives ", y, " and ", stats);
  types.append({q.getType(), k.getType(), v.getType()});
  return success();
}

// Computes the weights again from q and k: where a forward pass has computed them, these are they.
LogicalResult AttentionBackwardOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts p(builder, *this);
  Tensor dy = p.byGroups(p.q.wrap(getDy()));
  // [B, Hk, S, D] to [B, S, Hk, D]
  auto positionsFirst = [](Tensor x) { return x.transpose({0, 2, 1, 3}); };

  Tensor dv = dotGeneral(p.rounded, dy, {0, 1}, {0, 2}, {2, 3}, {1, 3});
  Tensor dweights = wideDotGeneral(dy, p.v, {0, 2}, {0, 2}, {4}, {3});
  Tensor mean = sum(dweights * p.weights, {4}).broadcastAlong(dweights.shape(), {4});
  double scale = getScale().convertToDouble();
  Tensor dscores = (p.weights * (dweights - mean) * scale).convert(p.q.elementType());
  Tensor dq = dotGeneral(dscores, p.k, {0, 1}, {0, 2}, {4}, {1}); // [B, Hk, T, H / Hk, D]
  Tensor dk = dotGeneral(dscores, p.grouped, {0, 1}, {0, 2}, {2, 3}, {1, 3});
  results.push_back(dq.transpose({0, 2, 1, 3, 4}).reshape(getDq().getType().getShape()));
  results.push_back(positionsFirst(dk));
  results.push_back(positionsFirst(dv));
  return success();
}

LogicalResult AttentionBackwardOp::differentiate(Gradients &gradients) {
  return differentiateParts(*this, gradients);
}

LogicalResult AttentionBackwardOp::evaluate(ArrayRef<ReferenceArray> operands,
                                            SmallVectorImpl<ReferenceArray> &results) {
  auto [dq, dk, dv] = valuesOf(*this, operands).backward(operands[5]);
  results.append({std::move(dq), std::move(dk), std::move(dv)});
  return success();
}
