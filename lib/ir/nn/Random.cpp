// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

#include <numbers>

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Random.cpp.inc"

namespace {
template <typename Op> LogicalResult verifyKey(Op op) {
  if (shapeOf(op.getKey()) != ArrayRef<int64_t>(2))
    return op.emitOpError("key of type ") << op.getKey().getType() << " is not [seed, step]";
  return success();
}

/// Random numbers are made in f32, or in f64 where that is asked for.
Type drawType(Type elementType) {
  return elementType.isF64() ? elementType : Float32Type::get(elementType.getContext());
}
} // namespace

// ---- dropout ----

LogicalResult DropoutOp::verify() {
  // dropout_c1
  if (!(getRatio() >= 0.0 && getRatio() <= 1.0))
    return emitOpError("ratio ") << getRatio() << " is outside [0, 1]";
  return verifyKey(*this); // random_c1
}

namespace {
/// x / (1 - ratio) where kept, 0 elsewhere. Both directions call it, so that they drop the same
/// elements. A ratio of 1 divides by nothing and of 0 draws nothing.
Tensor drop(DropoutOp op, Tensor x) {
  double ratio = op.getRatio();
  if (ratio == 0.0)
    return x;
  if (ratio == 1.0)
    return x.full(0.0);
  Tensor u = randomUniform(x.wrap(op.getKey()), op.getStream(), x.shape(),
                           Float32Type::get(op.getContext()));
  return select(u >= ratio, x * (1.0 / (1.0 - ratio)), 0.0);
}
} // namespace

LogicalResult DropoutOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  results.push_back(drop(*this, Tensor(builder, getLoc(), getX())));
  return success();
}

void DropoutOp::getEvaluationValues(OpBuilder &, SmallVectorImpl<Value> &results) {
  results.push_back(getX());
}

// dx = dropout(dy) with the same mask.
LogicalResult DropoutOp::differentiate(Gradients &gradients) {
  gradients.add(getX(),
                drop(*this, Tensor(gradients.builder(), getLoc(), gradients.of(getResult()))));
  return success();
}

// ---- random_uniform ----

LogicalResult RandomUniformOp::verify() { return verifyKey(*this); } // random_c1

LogicalResult RandomUniformOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Type element = getType().getElementType();
  Tensor u = randomUniform(Tensor(builder, getLoc(), getKey()), getStream(), getType().getShape(),
                           drawType(element));
  results.push_back((u * (getHigh() - getLow()) + getLow()).convert(element));
  return success();
}

// ---- random_normal ----

LogicalResult RandomNormalOp::verify() { return verifyKey(*this); } // random_c1

// sqrt(-2 log(1 - u)) cos(2 pi v), with u and v uniform in [0, 1): two draws an element.
LogicalResult RandomNormalOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Type element = getType().getElementType();
  SmallVector<int64_t> pairs{2};
  llvm::append_range(pairs, getType().getShape());
  Tensor draws =
      randomUniform(Tensor(builder, getLoc(), getKey()), getStream(), pairs, drawType(element));
  Tensor u = draws.sliceDim(0, 0, 1).reshape(getType().getShape());
  Tensor v = draws.sliceDim(0, 1, 2).reshape(getType().getShape());
  Tensor normal = sqrt(log1p(-u) * -2.0) * cos(v * (2.0 * std::numbers::pi));
  results.push_back((normal * getScale() + getMean()).convert(element));
  return success();
}

// ---- bernoulli ----

LogicalResult BernoulliOp::verify() {
  // bernoulli_c1
  if (shapeOf(getP()) != getType().getShape())
    return emitOpError("the result's shape is not that of p, ") << getP().getType();
  return verifyKey(*this); // random_c1
}

// u < p: never for 0, always for 1, since u < 1.
LogicalResult BernoulliOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor p(builder, getLoc(), getP());
  Type draw = drawType(p.elementType());
  Tensor u = randomUniform(p.wrap(getKey()), getStream(), p.shape(), draw);
  results.push_back((u < p.convert(draw)).convert(getType().getElementType()));
  return success();
}
