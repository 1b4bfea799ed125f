// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Reduction.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/ClassLosses.cpp.inc"

namespace {
int64_t classDimension(int64_t rank) { return rank == 1 ? 0 : 1; }

SmallVector<int64_t> positionsOf(ArrayRef<int64_t> scores) {
  SmallVector<int64_t> positions(scores);
  positions.erase(positions.begin() + classDimension(static_cast<int64_t>(scores.size())));
  return positions;
}

LogicalResult inferClassLoss(std::optional<Location> location, RankedTensorType scores,
                             RankedTensorType target, Value weight, Reduction reduction,
                             SmallVectorImpl<Type> &types) {
  // cross_entropy_c1
  if (scores.getRank() == 0)
    return emitOptionalError(location, "scores have rank 0");
  SmallVector<int64_t> positions = positionsOf(scores.getShape());
  bool probabilities = isa<FloatType>(target.getElementType());
  if (target.getShape() != (probabilities ? scores.getShape() : ArrayRef<int64_t>(positions)))
    return emitOptionalError(location, "target of type ", target, " does not fit scores of type ",
                             scores, ": expected ",
                             probabilities ? "the same shape" : "the shape without the classes");
  // cross_entropy_c2
  int64_t classes = scores.getDimSize(classDimension(scores.getRank()));
  if (weight && (shapeOf(weight) != ArrayRef<int64_t>(classes) ||
                 typeOf(weight).getElementType() != scores.getElementType()))
    return emitOptionalError(location, "weight of type ", weight.getType(), " is not one ",
                             scores.getElementType(), " for each of the ", classes, " classes");
  types.push_back(lossType(positions, scores.getElementType(), reduction));
  return success();
}

/// A loss against class indices: what each position looks at and how much it counts.
///
/// The score of the target is chosen by comparing the index with an iota along the classes, which
/// fuses with the passes over the scores; a gather of scores would not, nor would its derivative.
/// What checks that the index is in range is the gather of the class weight, which is of ones if
/// none are given: a vector of C elements read once a position. It must not be folded to a constant
/// for that reason.
struct Indexed {
  int64_t dimension;
  Tensor chosen;                 ///< [N, C, ...] i1: c is the position's target.
  std::optional<Tensor> ignored; ///< [N, ...] i1.
  Tensor weight;                 ///< [N, ...]: of the position's class, 0 where ignored.
  Tensor count;                  ///< Rank 0: what a mean divides by.

  Indexed(Tensor scores, Tensor target, std::optional<Tensor> classWeight,
          std::optional<int64_t> ignoreIndex)
      : dimension(classDimension(scores.rank())), chosen(scores), weight(scores), count(scores) {
    OpBuilder &builder = scores.getBuilder();
    auto indexType = RankedTensorType::get(scores.shape(), target.elementType());
    chosen = equal(prim::iota(builder, scores.getLoc(), indexType, dimension),
                   target.broadcastAlong(scores.shape(), {dimension}));
    if (ignoreIndex)
      ignored = equal(target, static_cast<double>(*ignoreIndex));
    auto weights = RankedTensorType::get({scores.dim(dimension)}, scores.elementType());
    Tensor table = classWeight ? *classWeight : scores.full(weights, 1.0);
    weight = masked(table.gather(ignored ? select(*ignored, 0.0, target) : target, 0));
    auto scalar = RankedTensorType::get({}, scores.elementType());
    count = classWeight || ignored ? sumAll(weight)
                                   : scores.full(scalar, static_cast<double>(weight.size()));
  }

  /// 0 where ignored, whatever x is there.
  Tensor masked(Tensor x) const { return ignored ? select(*ignored, 0.0, x) : x; }
  Tensor along(Tensor x, Tensor scores) const {
    return x.broadcastAlong(scores.shape(), {dimension});
  }
  /// The score of each position's target.
  Tensor pick(Tensor scores) const { return sum(select(chosen, scores, 0.0), {dimension}); }
};
} // namespace

// ---- cross_entropy ----

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // cross_entropy_c3
  double smoothing = adaptor.getLabelSmoothing();
  if (!(smoothing >= 0.0 && smoothing <= 1.0))
    return emitOptionalError(location, "label_smoothing ", smoothing, " is outside [0, 1]");
  return inferClassLoss(location, typeOf(adaptor.getLogits()), typeOf(adaptor.getTarget()),
                        adaptor.getWeight(), adaptor.getReduction(), types);
}

namespace {
/// The operands of a cross entropy in the precision it computes in.
struct CrossEntropyParts {
  Tensor x;
  Tensor target;
  std::optional<Tensor> weight; ///< [C].
  int64_t dimension;
  double smoothing;
  bool probabilities;

  CrossEntropyParts(CrossEntropyOp op, OpBuilder &builder)
      : x(widen(Tensor(builder, op.getLoc(), op.getLogits()))), target(x.wrap(op.getTarget())),
        dimension(classDimension(x.rank())), smoothing(op.getLabelSmoothing()),
        probabilities(isa<FloatType>(target.elementType())) {
    if (op.getWeight())
      weight = x.wrap(op.getWeight()).convert(x.elementType());
    if (probabilities)
      target = target.convert(x.elementType());
  }

  double classes() const { return static_cast<double>(x.dim(dimension)); }
  Tensor along(Tensor position) const { return position.broadcastAlong(x.shape(), {dimension}); }
  /// y times the weight of its class.
  Tensor weighted(Tensor y) const {
    return weight ? y * weight->broadcast(x.shape(), {dimension}) : y;
  }
  /// The probabilities with smoothing: (1 - e) target + e / C, weighted.
  Tensor smoothed() const {
    return weighted(smoothing == 0.0 ? target : target * (1.0 - smoothing) + smoothing / classes());
  }
  Indexed indexed(CrossEntropyOp op) const {
    return Indexed(x, target, weight, op.getIgnoreIndex());
  }
  /// sum_c weight[c], rank 0.
  Tensor weightTotal() const {
    return weight ? sumAll(*weight) : x.full(RankedTensorType::get({}, x.elementType()), classes());
  }
  /// What the mean over probabilities divides by: the number of positions.
  Tensor positionCount() const {
    double count = static_cast<double>(ShapedType::getNumElements(positionsOf(x.shape())));
    return x.full(RankedTensorType::get({}, x.elementType()), count);
  }
};
} // namespace

// With z = x - max x and S = sum e^z, -log softmax(x)[c] = log S - z[c]. The shift is subtracted
// from the chosen score before log S, so that a confident position's small loss keeps its digits.
LogicalResult CrossEntropyOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  CrossEntropyParts parts(*this, builder);
  int64_t d = parts.dimension;
  double e = parts.smoothing;
  SoftmaxTerms terms = softmaxTerms(parts.x, d);
  Tensor logTotal = log(terms.total);

  auto finish = [&](Tensor losses, Tensor count) {
    Tensor loss = reduceLoss(losses, getReduction(), count);
    results.push_back(loss.convert(getType().getElementType()));
    return success();
  };
  auto negativeLog = [&] { return parts.along(logTotal) - (parts.x - parts.along(terms.shift)); };
  if (parts.probabilities)
    return finish(sum(parts.smoothed() * negativeLog(), {d}), parts.positionCount());

  Indexed index = parts.indexed(*this);
  Tensor losses = index.weight * (logTotal - (index.pick(parts.x) - terms.shift));
  if (e != 0.0)
    losses = losses * (1.0 - e) + sum(parts.weighted(negativeLog()), {d}) * (e / parts.classes());
  return finish(index.masked(losses), index.count);
}

// With s = softmax(x), and g the cotangent of a position's loss:
//   probabilities: dx = g (s sum_c q[c] - q), dtarget = (1 - e) g weight (-log s), with q the
//   smoothed,
//     weighted target;
//   indices: the same with q[c] = (1 - e) weight[t] [c = t] + e / C weight[c], and g = 0 where
//   ignored.
LogicalResult CrossEntropyOp::differentiate(Gradients &gradients) {
  if (getWeight() && gradients.wants(getWeight()))
    return emitOpError("has no gradient with respect to its class weights");
  CrossEntropyParts parts(*this, gradients.builder());
  int64_t d = parts.dimension;
  double e = parts.smoothing;
  SoftmaxTerms terms = softmaxTerms(parts.x, d);
  Tensor s = terms.exps / parts.along(terms.total);
  Tensor dy = widen(parts.x.wrap(gradients.of(getResult())));
  SmallVector<int64_t> positions = positionsOf(parts.x.shape());

  if (parts.probabilities) {
    Tensor g = spreadLoss(dy, getReduction(), parts.positionCount(), positions);
    Tensor q = parts.smoothed();
    if (gradients.wants(getLogits()))
      addNarrowed(gradients, getLogits(), parts.along(g) * (s * parts.along(sum(q, {d})) - q));
    if (gradients.wants(getTarget())) {
      Tensor negativeLog = parts.along(log(terms.total)) - (parts.x - parts.along(terms.shift));
      addNarrowed(gradients, getTarget(), parts.weighted(parts.along(g * (1.0 - e)) * negativeLog));
    }
    return success();
  }
  if (!gradients.wants(getLogits()))
    return success();
  Indexed index = parts.indexed(*this);
  Tensor g = spreadLoss(dy, getReduction(), index.count, positions);
  Tensor chosenPart = index.masked(g * index.weight * (1.0 - e));
  Tensor dx = parts.along(chosenPart) * (s - index.chosen.convert(s.elementType()));
  if (e != 0.0) {
    Tensor rest = parts.along(index.masked(g * (e / parts.classes())));
    Tensor total = parts.weightTotal().broadcast(s.shape(), {});
    dx = dx + rest * (s * total - parts.weighted(s.full(1.0)));
  }
  addNarrowed(gradients, getLogits(), dx);
  return success();
}

// ---- nll_loss ----

LogicalResult NllLossOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // nll_loss_c1, nll_loss_c2
  return inferClassLoss(location, typeOf(adaptor.getLogProbs()), typeOf(adaptor.getTarget()),
                        adaptor.getWeight(), adaptor.getReduction(), types);
}

LogicalResult NllLossOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor p = widen(Tensor(builder, getLoc(), getLogProbs()));
  std::optional<Tensor> weight;
  if (getWeight())
    weight = p.wrap(getWeight()).convert(p.elementType());
  Indexed index(p, p.wrap(getTarget()), weight, getIgnoreIndex());
  Tensor loss =
      reduceLoss(index.masked(index.weight * -index.pick(p)), getReduction(), index.count);
  results.push_back(loss.convert(getType().getElementType()));
  return success();
}
