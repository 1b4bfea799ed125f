// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Reduction.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/ElementLosses.cpp.inc"

namespace {
template <typename Adaptor>
LogicalResult inferElementLoss(Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto x = typeOf(adaptor.getX());
  types.push_back(lossType(x.getShape(), x.getElementType(), adaptor.getReduction()));
  return success();
}

/// Weights, if there are any, broadcast to x.
template <typename Op>
LogicalResult checkWeights(std::optional<Location> location, typename Op::Adaptor adaptor) {
  auto x = typeOf(adaptor.getX());
  for (Value weight : adaptor.getOperands().drop_front(2))
    if (!broadcastsTo(shapeOf(weight), x.getShape()))
      return prim::inferError<Op>(location, "a weight of type ", weight.getType(),
                                  " does not broadcast to x of type ", x);
  return success();
}

/// The operands of an element loss in the precision it computes in.
template <typename Op> struct Parts {
  Op op;
  Tensor x, target;

  Parts(Op op, OpBuilder &builder)
      : op(op), x(widen(Tensor(builder, op.getLoc(), op.getX()))), target(wide(op.getTarget())) {}

  Tensor wide(Value value) const { return x.wrap(value).convert(x.elementType()); }
  Tensor spread(Value weight) const { return wide(weight).broadcastTo(x.shape()); }
  Tensor count() const {
    return x.full(RankedTensorType::get({}, x.elementType()), static_cast<double>(x.size()));
  }
  LogicalResult finish(Tensor losses, SmallVectorImpl<Value> &results) {
    Tensor loss = reduceLoss(losses, op.getReduction(), count());
    results.push_back(loss.convert(typeOf(op.getX()).getElementType()));
    return success();
  }
  /// The cotangent of every position's loss.
  Tensor cotangent(Gradients &gradients) {
    return spreadLoss(wide(gradients.of(op.getResult())), op.getReduction(), count(), x.shape());
  }
  /// For a loss of d = x - target: dx = g, dtarget = -g.
  void addDifference(Gradients &gradients, Tensor g) {
    if (gradients.wants(op.getX()))
      addNarrowed(gradients, op.getX(), g);
    if (gradients.wants(op.getTarget()))
      addNarrowed(gradients, op.getTarget(), -g);
  }
};
} // namespace

// ---- mse_loss ----

LogicalResult MseLossOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferElementLoss(adaptor, types);
}

LogicalResult MseLossOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts parts(*this, builder);
  Tensor d = parts.x - parts.target;
  return parts.finish(d * d, results);
}

LogicalResult MseLossOp::differentiate(Gradients &gradients) {
  Parts parts(*this, gradients.builder());
  parts.addDifference(gradients, parts.cotangent(gradients) * ((parts.x - parts.target) * 2.0));
  return success();
}

// ---- l1_loss ----

LogicalResult L1LossOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferElementLoss(adaptor, types);
}

LogicalResult L1LossOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts parts(*this, builder);
  return parts.finish(abs(parts.x - parts.target), results);
}

LogicalResult L1LossOp::differentiate(Gradients &gradients) {
  Parts parts(*this, gradients.builder());
  parts.addDifference(gradients, parts.cotangent(gradients) * sign(parts.x - parts.target));
  return success();
}

// ---- smooth_l1_loss ----

LogicalResult SmoothL1LossOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (!(adaptor.getBeta() >= 0.0))
    return prim::inferError<SmoothL1LossOp>(location, "beta is negative");
  return inferElementLoss(adaptor, types);
}

LogicalResult SmoothL1LossOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts parts(*this, builder);
  double beta = getBeta();
  Tensor d = abs(parts.x - parts.target);
  if (beta == 0.0)
    return parts.finish(d, results);
  return parts.finish(select(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), results);
}

// d / beta within beta, else the sign of d.
LogicalResult SmoothL1LossOp::differentiate(Gradients &gradients) {
  Parts parts(*this, gradients.builder());
  double beta = getBeta();
  Tensor d = parts.x - parts.target;
  Tensor slope = beta == 0.0 ? sign(d) : select(abs(d) < beta, d * (1.0 / beta), sign(d));
  parts.addDifference(gradients, parts.cotangent(gradients) * slope);
  return success();
}

// ---- huber_loss ----

LogicalResult HuberLossOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (!(adaptor.getDelta() > 0.0))
    return prim::inferError<HuberLossOp>(location, "delta is not positive");
  return inferElementLoss(adaptor, types);
}

LogicalResult HuberLossOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts parts(*this, builder);
  double delta = getDelta();
  Tensor d = abs(parts.x - parts.target);
  return parts.finish(select(d <= delta, d * d * 0.5, delta * (d - 0.5 * delta)), results);
}

// d within delta, else delta times the sign of d: d clamped to [-delta, delta].
LogicalResult HuberLossOp::differentiate(Gradients &gradients) {
  Parts parts(*this, gradients.builder());
  Tensor slope = min(max(parts.x - parts.target, -getDelta()), getDelta());
  parts.addDifference(gradients, parts.cotangent(gradients) * slope);
  return success();
}

// ---- bce_with_logits ----

LogicalResult BceWithLogitsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // bce_with_logits_c1
  if (failed(checkWeights<BceWithLogitsOp>(location, adaptor)))
    return failure();
  return inferElementLoss(adaptor, types);
}

namespace {
/// -log logistic(x) = log1p(e^-|x|) + max(-x, 0).
Tensor negativeLogLogistic(Tensor x) { return log1p(exp(-abs(x))) + max(-x, 0.0); }

/// The loss before `weight`: (1 - z) x + (1 + (p - 1) z) (-log logistic(x)), p = pos_weight.
Tensor unweightedBce(Parts<BceWithLogitsOp> &parts) {
  Tensor x = parts.x, z = parts.target;
  Tensor n = negativeLogLogistic(x);
  if (Value p = parts.op.getPosWeight())
    n = n * (1.0 + (parts.spread(p) - 1.0) * z);
  return (1.0 - z) * x + n;
}
} // namespace

LogicalResult BceWithLogitsOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts parts(*this, builder);
  Tensor losses = unweightedBce(parts);
  return parts.finish(getWeight() ? losses * parts.spread(getWeight()) : losses, results);
}

// With s = logistic(x), n = -log s, and g the position's cotangent times its weight:
//   dx = g ((1 - z + p z) s - p z), dz = g (-x + (p - 1) n), dp = g z n, dweight = cotangent *
//   loss.
LogicalResult BceWithLogitsOp::differentiate(Gradients &gradients) {
  Parts parts(*this, gradients.builder());
  Tensor x = parts.x, z = parts.target;
  Tensor cotangent = parts.cotangent(gradients);
  Tensor g = getWeight() ? cotangent * parts.spread(getWeight()) : cotangent;
  Value p = getPosWeight();
  if (gradients.wants(getX())) {
    Tensor s = logistic(x);
    Tensor pz = p ? parts.spread(p) * z : z;
    addNarrowed(gradients, getX(), g * (p ? (1.0 - z + pz) * s - pz : s - z));
  }
  if (gradients.wants(getTarget())) {
    Tensor slope = p ? (parts.spread(p) - 1.0) * negativeLogLogistic(x) - x : -x;
    addNarrowed(gradients, getTarget(), g * slope);
  }
  if (p && gradients.wants(p))
    addNarrowed(gradients, p, sumTo(g * z * negativeLogLogistic(x), shapeOf(p)));
  if (getWeight() && gradients.wants(getWeight()))
    addNarrowed(gradients, getWeight(),
                sumTo(cotangent * unweightedBce(parts), shapeOf(getWeight())));
  return success();
}

// ---- bce ----

LogicalResult BceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // bce_c1
  if (failed(checkWeights<BceOp>(location, adaptor)))
    return failure();
  return inferElementLoss(adaptor, types);
}

namespace {
// PyTorch's bounds: of a logarithm, and of x (1 - x) where the derivative divides by it.
constexpr double kLeastLog = -100.0;
constexpr double kLeastVariance = 1e-12;

Tensor unweightedBce(Parts<BceOp> &parts) {
  Tensor x = parts.x, z = parts.target;
  return -(z * max(log(x), kLeastLog) + (1.0 - z) * max(log1p(-x), kLeastLog));
}
} // namespace

LogicalResult BceOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Parts parts(*this, builder);
  Tensor losses = unweightedBce(parts);
  return parts.finish(getWeight() ? losses * parts.spread(getWeight()) : losses, results);
}

// dx = g (x - z) / max(x (1 - x), 1e-12), dz = g (log(1 - x) - log x).
LogicalResult BceOp::differentiate(Gradients &gradients) {
  Parts parts(*this, gradients.builder());
  Tensor x = parts.x, z = parts.target;
  Tensor cotangent = parts.cotangent(gradients);
  Tensor g = getWeight() ? cotangent * parts.spread(getWeight()) : cotangent;
  if (gradients.wants(getX()))
    addNarrowed(gradients, getX(), g * ((x - z) / max(x * (1.0 - x), kLeastVariance)));
  if (gradients.wants(getTarget()))
    addNarrowed(gradients, getTarget(), g * (max(log1p(-x), kLeastLog) - max(log(x), kLeastLog)));
  if (getWeight() && gradients.wants(getWeight()))
    addNarrowed(gradients, getWeight(),
                sumTo(cotangent * unweightedBce(parts), shapeOf(getWeight())));
  return success();
}
