// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"
#include "ir/prim/ReverseWalk.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Attention.cpp.inc"

// ---- attention ----

namespace {
// attention_c1, attention_c2
template <typename Op>
LogicalResult checkFactors(std::optional<Location> location, typename Op::Adaptor op) {
  auto q = typeOf(op.getQ()), k = typeOf(op.getK()), v = typeOf(op.getV());
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
    return prim::inferError<Op>(location, "q, k and v of types ", q, ", ", k, " and ", v,
                                " do not have rank 4");
  auto agree = [](RankedTensorType a, RankedTensorType b, int64_t d) {
    return a.getDimSize(d) == b.getDimSize(d);
  };
  int64_t groups = k.getDimSize(1);
  if (!agree(q, k, 0) || !agree(q, k, 3) || !agree(k, v, 0) || !agree(k, v, 1) || !agree(k, v, 2) ||
      groups < 1 || q.getDimSize(1) % groups != 0)
    return prim::inferError<Op>(location, "the extents of q ", q, ", k ", k, " and v ", v,
                                " do not agree");
  if (q.getElementType() != k.getElementType() || q.getElementType() != v.getElementType())
    return prim::inferError<Op>(location, "q, k and v have different element types");
  int64_t scores[] = {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), k.getDimSize(2)};
  if (op.getMask() && !broadcastsTo(shapeOf(op.getMask()), scores))
    return prim::inferError<Op>(location, "mask of type ", op.getMask().getType(),
                                " does not broadcast to the scores of q ", q, " and k ", k);
  return success();
}

template <typename Adaptor> RankedTensorType resultOf(Adaptor op) {
  auto q = typeOf(op.getQ());
  return q.clone(
      {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), typeOf(op.getV()).getDimSize(3)});
}
} // namespace

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkFactors<AttentionOp>(location, adaptor)))
    return failure();
  types.push_back(resultOf(adaptor));
  return success();
}

namespace {
/// Where the query at t may look at the key at s: s <= t.
Tensor causalMask(Tensor scores) {
  OpBuilder &builder = scores.getBuilder();
  auto type = RankedTensorType::get({scores.dim(2), scores.dim(3)}, builder.getI32Type());
  Tensor t = prim::iota(builder, scores.getLoc(), type, 0);
  Tensor s = prim::iota(builder, scores.getLoc(), type, 1);
  return (s <= t).broadcastTo(scores.shape());
}
} // namespace

// Masks choose (they do not multiply), before the softmax: a score that is hidden may be anything.
// Grouped heads are a dimension of the products, so that keys and values are not repeated.
LogicalResult AttentionOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor q(builder, getLoc(), getQ());
  Tensor k = q.wrap(getK()), v = q.wrap(getV());
  int64_t batch = q.dim(0), heads = q.dim(1), queries = q.dim(2), keys = k.dim(2),
          groups = k.dim(1);
  bool grouped = groups != heads;

  Tensor rows = grouped ? q.reshape({batch, groups, heads / groups, queries, q.dim(3)}) : q;
  Tensor scores = wideDotGeneral(rows, k, {0, 1}, {0, 1}, {rows.rank() - 1}, {3})
                      .reshape({batch, heads, queries, keys}) *
                  getScale();
  if (double cap = getSoftcap(); cap > 0.0)
    scores = cap * tanh(scores * (1.0 / cap));
  std::optional<Tensor> visible;
  if (getCausal())
    visible = causalMask(scores);
  if (getMask()) {
    Tensor mask = q.wrap(getMask());
    if (isa<FloatType>(mask.elementType())) {
      scores = scores + mask.convert(scores.elementType()).broadcastTo(scores.shape());
    } else {
      mask = mask.broadcastTo(scores.shape());
      visible = visible ? bitAnd(*visible, mask) : mask;
    }
  }
  if (visible)
    scores = select(*visible, scores, -std::numeric_limits<double>::infinity());

  Tensor weights = q.wrap(builder.create<SoftmaxOp>(getLoc(), scores, 3)).convert(q.elementType());
  if (grouped)
    weights = weights.reshape({batch, groups, heads / groups, queries, keys});
  Tensor sum = dotGeneral(weights, v, {0, 1}, {0, 1}, {weights.rank() - 1}, {2});
  results.push_back(sum.reshape(getType().getShape()));
  return success();
}

// ---- attention_backward ----

LogicalResult AttentionBackwardOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkFactors<AttentionBackwardOp>(location, adaptor)))
    return failure();
  RankedTensorType y = resultOf(adaptor);
  if (adaptor.getDy().getType() != y)
    return prim::inferError<AttentionBackwardOp>(location, "dy is ", adaptor.getDy().getType(),
                                                 ", but the attention gives ", y);
  types.append({adaptor.getQ().getType(), adaptor.getK().getType(), adaptor.getV().getType()});
  return success();
}

// As derivatives of the attention's parts.
LogicalResult AttentionBackwardOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  // The factors may be one value, of which each has a gradient of its own.
  SmallVector<Value> factors = {getQ(), getK(), getV()}, leaves;
  for (Value factor : factors)
    leaves.push_back(builder.create<prim::OptimizationBarrierOp>(getLoc(), factor)->getResult(0));
  auto attention =
      builder.create<AttentionOp>(getLoc(), leaves[0], leaves[1], leaves[2], getMask(),
                                  getScaleAttr(), getCausalAttr(), builder.getF64FloatAttr(0));
  ReverseWalk walk([&](Value value) { return llvm::is_contained(leaves, value); }, builder);
  walk.seed(attention.getResult(), getDy());
  if (failed(differentiateParts(attention, walk)))
    return failure();
  attention.erase();
  for (auto [factor, leaf] : llvm::zip_equal(factors, leaves)) {
    results.push_back(walk.find(leaf));
    leaf.replaceAllUsesWith(factor);
    leaf.getDefiningOp()->erase();
  }
  return success();
}

// ---- rotary_embedding ----

LogicalResult RotaryEmbeddingOp::verify() {
  auto x = typeOf(getX()), cos = typeOf(getCos()), sin = typeOf(getSin());
  // rotary_embedding_c1
  ArrayRef<int64_t> table = cos.getShape();
  bool fits = x.getRank() == 4 && (table.size() == 2 || table.size() == 3) && cos == sin &&
              (table.size() == 2 || table[0] == x.getDimSize(0)) &&
              table[table.size() - 2] == x.getDimSize(2) && 2 * table.back() <= x.getDimSize(3);
  if (!fits)
    return emitOpError("cos and sin of types ")
           << cos << " and " << sin << " do not fit x of type " << x;
  return success();
}

namespace {
/// The pairs (a, b) that are rotated, and the features that stay; see the op's description.
struct Pairs {
  Tensor a, b;
  std::optional<Tensor> rest;

  Pairs(RotaryEmbeddingOp op, Tensor x) : a(x), b(x) {
    int64_t half = shapeOf(op.getCos()).back(), rotated = 2 * half;
    if (op.getInterleaved()) {
      SmallVector<int64_t> starts(4, 0), limits(x.shape()), strides(4, 1);
      limits[3] = rotated;
      strides[3] = 2;
      a = x.slice(starts, limits, strides);
      starts[3] = 1;
      b = x.slice(starts, limits, strides);
    } else {
      a = x.sliceDim(3, 0, half);
      b = x.sliceDim(3, half, rotated);
    }
    if (rotated < x.dim(3))
      rest = x.sliceDim(3, rotated, x.dim(3));
  }

  Tensor joined(RotaryEmbeddingOp op, Tensor newA, Tensor newB) const {
    SmallVector<Tensor> parts{newA, newB};
    if (op.getInterleaved()) {
      SmallVector<int64_t> column(newA.shape());
      column.push_back(1);
      SmallVector<int64_t> flat(newA.shape());
      flat.back() *= 2;
      parts = {prim::concatenate({newA.reshape(column), newB.reshape(column)}, 4).reshape(flat)};
    }
    if (rest)
      parts.push_back(*rest);
    return prim::concatenate(parts, 3);
  }
};

/// cos or sin [B, T, R / 2] or [T, R / 2], repeated for every head.
Tensor perHead(Tensor table, Tensor half) {
  SmallVector<int64_t> dimensions =
      table.rank() == 3 ? SmallVector<int64_t>{0, 2, 3} : SmallVector<int64_t>{2, 3};
  return table.convert(half.elementType()).broadcast(half.shape(), dimensions);
}

Tensor rotate(RotaryEmbeddingOp op, Tensor x, Tensor cos, Tensor sin) {
  Pairs p(op, x);
  Tensor c = perHead(cos, p.a), s = perHead(sin, p.a);
  return p.joined(op, p.a * c - p.b * s, p.a * s + p.b * c);
}
} // namespace

LogicalResult RotaryEmbeddingOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX());
  results.push_back(rotate(*this, x, x.wrap(getCos()), x.wrap(getSin())));
  return success();
}

// A rotation's transpose turns back: dx = rotate(dy, cos, -sin). For a pair with cotangents (da,
// db): dcos = da a + db b, dsin = db a - da b, summed over the heads (and the batch, if the table
// lacks it).
LogicalResult RotaryEmbeddingOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  Tensor cos = dy.wrap(getCos()), sin = dy.wrap(getSin());
  if (gradients.wants(getX()))
    gradients.add(getX(), rotate(*this, dy, cos, -sin));
  Pairs x(*this, dy.wrap(getX())), d(*this, dy);
  SmallVector<int64_t> repeated =
      cos.rank() == 3 ? SmallVector<int64_t>{1} : SmallVector<int64_t>{0, 1};
  if (gradients.wants(getCos()))
    addNarrowed(gradients, getCos(), sum(d.a * x.a + d.b * x.b, repeated));
  if (gradients.wants(getSin()))
    addNarrowed(gradients, getSin(), sum(d.b * x.a - d.a * x.b, repeated));
  return success();
}
