// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention and its gradient: their values, and what they are made of.
#include "ir/prim/Infer.h"
#include "ir/prim/ReverseWalk.h"
#include "ir/prim/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Attention.cpp.inc"

namespace {

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The extents of an attention by the letters of its description; a query head is one of `shared`
/// that read the same key head.
struct Extents {
  explicit Extents(AttentionLike op) : Extents(op.getQ(), op.getK(), op.getV()) {}
  Extents(Value q, Value k, Value v)
      : batch(tensorType(q).getDimSize(0)), queries(tensorType(q).getDimSize(1)),
        heads(tensorType(q).getDimSize(2)), features(tensorType(q).getDimSize(3)),
        keys(tensorType(k).getDimSize(1)), keyHeads(tensorType(k).getDimSize(2)),
        valueFeatures(tensorType(v).getDimSize(3)), shared(keyHeads ? heads / keyHeads : 0) {}
  int64_t batch, queries, heads, features, keys, keyHeads, valueFeatures, shared;
};

// attention_c1, attention_c2, attention_c3
template <typename Op>
LogicalResult checkFactors(std::optional<Location> loc, Value q, Value k, Value v, Value bias) {
  for (Value factor : {q, k, v})
    if (tensorType(factor).getRank() != 4)
      return inferError<Op>(loc, "q, k and v must have rank 4, but one is ", factor.getType());
  Extents e(q, k, v);
  RankedTensorType type = tensorType(q);
  if (tensorType(k) != type.clone({e.batch, e.keys, e.keyHeads, e.features}) ||
      tensorType(v) != type.clone({e.batch, e.keys, e.keyHeads, e.valueFeatures}) ||
      e.keyHeads < 1 || e.heads % e.keyHeads != 0)
    return inferError<Op>(loc, "q ", q.getType(), ", k ", k.getType(), " and v ", v.getType(),
                          " do not fit together");
  if (e.keys < 1 || e.features < 1)
    return inferError<Op>(loc, "there is no key, or no feature: k is ", k.getType());
  if (!bias)
    return success();
  RankedTensorType added = tensorType(bias);
  int64_t scores[] = {e.batch, e.heads, e.queries, e.keys};
  bool fits = added.getRank() == 4 && added.getElementType() == type.getElementType() &&
              added.getDimSize(3) == e.keys;
  for (int64_t d = 0; fits && d < 3; ++d)
    fits = added.getDimSize(d) == 1 || added.getDimSize(d) == scores[d];
  if (!fits)
    return inferError<Op>(loc, "bias ", added, " does not fit q ", q.getType(), " and k ",
                          k.getType());
  return success();
}

/// Of the result and of the statistics.
std::pair<RankedTensorType, RankedTensorType> resultTypes(Value q, Value k, Value v) {
  Extents e(q, k, v);
  Type element = tensorType(q).getElementType();
  return {tensorType(q).clone({e.batch, e.queries, e.heads, e.valueFeatures}),
          RankedTensorType::get({e.batch, e.heads, e.queries},
                                isHalf(element) ? Float32Type::get(q.getContext()) : element)};
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

  Extents e;
  Tensor q, k, v, grouped, scores, greatest, exps, total, weights;
  Tensor rounded; // the weights as their products read them
};

/// The op's derivative through what it decomposes into, which is built again for it.
LogicalResult pullBackThroughParts(Operation *op, Gradients &gradients) {
  OpBuilder &builder = gradients.builder();
  Operation *before = &*std::prev(builder.getInsertionPoint());
  SmallVector<Value> values;
  if (failed(cast<Decomposable>(op).decompose(builder, values)))
    return failure();
  SmallVector<Operation *> parts;
  for (Operation *part = &*std::prev(builder.getInsertionPoint()); part != before;
       part = part->getPrevNode())
    parts.push_back(part); // the last one first
  ReverseWalk walk(
      [&](Value value) {
        return llvm::is_contained(parts, value.getDefiningOp()) ||
               (llvm::is_contained(op->getOperands(), value) && gradients.wants(value));
      },
      builder);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (gradients.has(result))
      walk.seed(value, gradients.of(result));
  for (Operation *part : parts)
    if (isa<Differentiable>(part) &&
        llvm::any_of(part->getResults(), [&](Value result) { return walk.has(result); }) &&
        failed(walk.visit(part)))
      return failure();
  llvm::SmallSetVector<Value, 6> operands(op->operand_begin(), op->operand_end());
  for (Value operand : operands)
    if (Value cotangent = walk.find(operand))
      gradients.add(operand, cotangent);
  return success();
}

// ---- as numbers ----

/// The weights of one query head at one position, and the logarithm of what they were divided by.
struct Weights {
  std::vector<double> of; // keys
  double logSum = 0;
};

/// Calls body(b, t, h, weights) for each.
template <typename Body>
void forEachQuery(AttentionLike op, const ReferenceArray &q, const ReferenceArray &k,
                  const ReferenceArray *bias, Body body) {
  Extents e(op);
  auto added = [&](int64_t b, int64_t h, int64_t t, int64_t s) {
    auto within = [&](int64_t d, int64_t index) { return bias->shape[d] == 1 ? 0 : index; };
    return bias ? bias->at({within(0, b), within(1, h), within(2, t), s}) : 0.0;
  };
  double scale = cast<FloatAttr>(op->getAttr("scale")).getValueAsDouble();
  ReferenceArray::forEachIndex({e.batch, e.queries, e.heads}, [&](ArrayRef<int64_t> at) {
    int64_t b = at[0], t = at[1], h = at[2], group = h / e.shared;
    int64_t seen = op.getCausal() ? std::min(t + 1, e.keys) : e.keys;
    Weights weights;
    weights.of.assign(static_cast<size_t>(e.keys), 0.0);
    double greatest = -std::numeric_limits<double>::infinity();
    for (int64_t s = 0; s < seen; ++s) {
      double score = 0;
      for (int64_t d = 0; d < e.features; ++d)
        score += q.at({b, t, h, d}) * k.at({b, s, group, d});
      score = score * scale + added(b, h, t, s);
      weights.of[static_cast<size_t>(s)] = score;
      greatest = std::max(greatest, score);
    }
    double total = 0;
    for (int64_t s = 0; s < seen; ++s) {
      double &weight = weights.of[static_cast<size_t>(s)];
      total += weight = std::exp(weight - greatest);
    }
    for (double &weight : weights.of)
      weight /= total;
    weights.logSum = greatest + std::log(total);
    body(b, t, h, weights);
  });
}

} // namespace

// ---- attention ----

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkFactors<AttentionOp>(location, adaptor.getQ(), adaptor.getK(), adaptor.getV(),
                                       adaptor.getBias())))
    return failure();
  auto [result, stats] = resultTypes(adaptor.getQ(), adaptor.getK(), adaptor.getV());
  types.append({result, stats});
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
    return pullBackThroughParts(*this, gradients);
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
  const ReferenceArray &v = operands[2];
  Extents e(*this);
  ReferenceArray y(getResult().getType().getShape()), stats(getStats().getType().getShape());
  forEachQuery(*this, operands[0], operands[1], getBias() ? &operands[3] : nullptr,
               [&](int64_t b, int64_t t, int64_t h, const Weights &weights) {
                 for (int64_t s = 0; s < e.keys; ++s)
                   for (int64_t d = 0; d < e.valueFeatures; ++d)
                     y.at({b, t, h, d}) +=
                         weights.of[static_cast<size_t>(s)] * v.at({b, s, h / e.shared, d});
                 stats.at({b, h, t}) = weights.logSum;
               });
  results.push_back(std::move(y));
  results.push_back(std::move(stats));
  return success();
}

// ---- attention_backward ----

LogicalResult AttentionBackwardOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Value q = adaptor.getQ(), k = adaptor.getK(), v = adaptor.getV();
  if (failed(checkFactors<AttentionBackwardOp>(location, q, k, v, adaptor.getBias())))
    return failure();
  // attention_backward_c1
  auto [y, stats] = resultTypes(q, k, v);
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
  return pullBackThroughParts(*this, gradients);
}

LogicalResult AttentionBackwardOp::evaluate(ArrayRef<ReferenceArray> operands,
                                            SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &q = operands[0], &k = operands[1], &v = operands[2], &dy = operands[5];
  Extents e(*this);
  double scale = getScale().convertToDouble();
  ReferenceArray dq(q.shape), dk(k.shape), dv(v.shape);
  const ReferenceArray *bias = getBias() ? &operands[6] : nullptr;
  forEachQuery(*this, q, k, bias, [&](int64_t b, int64_t t, int64_t h, const Weights &weights) {
    int64_t group = h / e.shared;
    std::vector<double> dweights(weights.of.size());
    double mean = 0;
    for (int64_t s = 0; s < e.keys; ++s) {
      double weight = weights.of[static_cast<size_t>(s)], &dweight = dweights[size_t(s)];
      for (int64_t d = 0; d < e.valueFeatures; ++d) {
        dweight += dy.at({b, t, h, d}) * v.at({b, s, group, d});
        dv.at({b, s, group, d}) += weight * dy.at({b, t, h, d});
      }
      mean += weight * dweight;
    }
    for (int64_t s = 0; s < e.keys; ++s) {
      double dscore =
          scale * weights.of[static_cast<size_t>(s)] * (dweights[static_cast<size_t>(s)] - mean);
      for (int64_t d = 0; d < e.features; ++d) {
        dq.at({b, t, h, d}) += dscore * k.at({b, s, group, d});
        dk.at({b, s, group, d}) += dscore * q.at({b, t, h, d});
      }
    }
  });
  results.append({std::move(dq), std::move(dk), std::move(dv)});
  return success();
}
