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

template <typename Op>
LogicalResult inferClassLoss(std::optional<Location> location, RankedTensorType scores,
                             RankedTensorType target, Value weight, Reduction reduction,
                             SmallVectorImpl<Type> &types) {
  // cross_entropy_c1
  if (scores.getRank() == 0)
    return prim::inferError<Op>(location, "scores have rank 0");
  SmallVector<int64_t> positions = positionsOf(scores.getShape());
  bool probabilities = isa<FloatType>(target.getElementType());
  if (target.getShape() != (probabilities ? scores.getShape() : ArrayRef<int64_t>(positions)))
    return prim::inferError<Op>(location, "target of type ", target,
                                " does not fit scores of type ", scores, ": expected ",
                                probabilities ? "the same shape" : "the shape without the classes");
  // cross_entropy_c2
  int64_t classes = scores.getDimSize(classDimension(scores.getRank()));
  if (weight && (shapeOf(weight) != ArrayRef<int64_t>(classes) ||
                 typeOf(weight).getElementType() != scores.getElementType()))
    return prim::inferError<Op>(location, "weight of type ", weight.getType(), " is not one ",
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
  /// The same for what each class has, [N, C, ...]: scores that are ignored may be anything, and
  /// zero times NaN is NaN.
  Tensor maskedAlong(Tensor y) const { return ignored ? select(along(*ignored, y), 0.0, y) : y; }
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
    return prim::inferError<CrossEntropyOp>(location, "label_smoothing ", smoothing,
                                            " is outside [0, 1]");
  return inferClassLoss<CrossEntropyOp>(location, typeOf(adaptor.getLogits()),
                                        typeOf(adaptor.getTarget()), adaptor.getWeight(),
                                        adaptor.getReduction(), types);
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
  /// The probabilities with smoothing: (1 - e) target + e / C.
  Tensor smoothed() const {
    return smoothing == 0.0 ? target : target * (1.0 - smoothing) + smoothing / classes();
  }
  /// -log softmax(x) of every class.
  Tensor negativeLog(const SoftmaxTerms &terms) const {
    return along(log(terms.total)) - (x - along(terms.shift));
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

  auto finish = [&](Tensor losses, Tensor count) {
    Tensor loss = reduceLoss(losses, getReduction(), count);
    results.push_back(loss.convert(getType().getElementType()));
    return success();
  };
  if (parts.probabilities)
    return finish(sum(parts.weighted(parts.smoothed()) * parts.negativeLog(terms), {d}),
                  parts.positionCount());

  Indexed index = parts.indexed(*this);
  Tensor losses = index.weight * (log(terms.total) - (index.pick(parts.x) - terms.shift));
  if (e != 0.0)
    losses = losses * (1.0 - e) +
             sum(parts.weighted(parts.negativeLog(terms)), {d}) * (e / parts.classes());
  return finish(index.masked(losses), index.count);
}

// With s = softmax(x), n = -log s, and g the cotangent of a position's loss (0 where ignored),
// every loss is sum_c q[c] n[c], where q[c] = weight[c] r[c] and
//   probabilities: r[c] = (1 - e) target[c] + e / C,
//   indices:       r[c] = (1 - e) [c = t] + e / C.
// Hence dx = g (s sum_c q[c] - q), dtarget = g (1 - e) weight n, dweight[c] = sum g r[c] n[c]; and
// a mean over indices, L = sum / W, also depends on weight through W = sum weight[t].
LogicalResult CrossEntropyOp::differentiate(Gradients &gradients) {
  CrossEntropyParts parts(*this, gradients.builder());
  int64_t d = parts.dimension;
  double e = parts.smoothing, share = e / parts.classes();
  SoftmaxTerms terms = softmaxTerms(parts.x, d);
  Tensor s = terms.exps / parts.along(terms.total);
  Tensor dy = widen(parts.x.wrap(gradients.of(getResult())));
  SmallVector<int64_t> positions = positionsOf(parts.x.shape()), others = allBut(s.rank(), d);
  bool wantsWeight = getWeight() && gradients.wants(getWeight());
  auto negativeLog = [&] { return parts.negativeLog(terms); };

  if (parts.probabilities) {
    Tensor g = spreadLoss(dy, getReduction(), parts.positionCount(), positions);
    Tensor r = parts.smoothed(), q = parts.weighted(r);
    if (gradients.wants(getLogits()))
      addNarrowed(gradients, getLogits(), parts.along(g) * (s * parts.along(sum(q, {d})) - q));
    if (gradients.wants(getTarget()))
      addNarrowed(gradients, getTarget(),
                  parts.weighted(parts.along(g * (1.0 - e)) * negativeLog()));
    if (wantsWeight)
      addNarrowed(gradients, getWeight(), sum(parts.along(g) * r * negativeLog(), others));
    return success();
  }

  Indexed index = parts.indexed(*this);
  Tensor g = spreadLoss(dy, getReduction(), index.count, positions);
  Tensor oneHot = index.chosen.convert(s.elementType());
  if (gradients.wants(getLogits())) {
    Tensor dx = parts.along(g * index.weight * (1.0 - e)) * (s - oneHot);
    if (e != 0.0) {
      Tensor total = parts.weightTotal().broadcast(s.shape(), {});
      dx = dx + parts.along(g * share) * (s * total - parts.weighted(s.full(1.0)));
    }
    addNarrowed(gradients, getLogits(), index.maskedAlong(dx));
  }
  if (wantsWeight) {
    Tensor r = e == 0.0 ? oneHot : oneHot * (1.0 - e) + share;
    Tensor dw = sum(index.maskedAlong(parts.along(g) * r * negativeLog()), others);
    if (getReduction() == Reduction::mean) {
      Tensor counts = sum(parts.along(index.masked(index.weight.full(1.0))) * oneHot, others);
      dw = dw - counts * (dy * widen(parts.x.wrap(getResult())) / index.count);
    }
    addNarrowed(gradients, getWeight(), dw);
  }
  return success();
}

// ---- nll_loss ----

LogicalResult NllLossOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // nll_loss_c1, nll_loss_c2
  return inferClassLoss<NllLossOp>(location, typeOf(adaptor.getLogProbs()),
                                   typeOf(adaptor.getTarget()), adaptor.getWeight(),
                                   adaptor.getReduction(), types);
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
