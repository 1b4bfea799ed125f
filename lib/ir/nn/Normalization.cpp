// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Moments.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Normalization.cpp.inc"

namespace {
/// The operands after x have the shape of the trailing dimensions.
template <typename Op>
LogicalResult checkTrailing(std::optional<Location> location, ValueRange operands, int64_t axis) {
  auto x = typeOf(operands.front());
  if (axis < 0 || axis >= x.getRank())
    return prim::inferError<Op>(location, "axis ", axis, " is outside [0, ", x.getRank(), ")");
  for (Value factor : operands.drop_front())
    if (shapeOf(factor) != x.getShape().drop_front(axis))
      return prim::inferError<Op>(location, "an operand of type ", factor.getType(),
                                  " does not have the "
                                  "shape of the normalised dimensions of x, ",
                                  x, " from ", axis);
  return success();
}
} // namespace

// ---- layer_norm ----

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // layer_norm_c1, layer_norm_c2
  if (failed(checkTrailing<LayerNormOp>(location, adaptor.getOperands(), adaptor.getAxis())))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult LayerNormOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  auto spread = [&](Value value) {
    return x.wrap(value).convert(x.elementType()).broadcastTo(x.shape());
  };
  SmallVector<int64_t> dimensions = dimensionRange(getAxis(), x.rank());
  Moments m = moments(x, dimensions);
  Tensor y = m.centered * rsqrt(m.var + getEpsilon()).broadcastAlong(x.shape(), dimensions);
  if (getScale())
    y = y * spread(getScale());
  if (getBias())
    y = y + spread(getBias());
  results.push_back(y.convert(getType().getElementType()));
  return success();
}

// With xhat = (x - mean) rstd and g = dy scale, means over the normalised dimensions:
//   dx = rstd (g - mean(g) - xhat mean(g xhat)), dscale = sum dy xhat, dbias = sum dy
// (Ba et al., supplement).
LogicalResult LayerNormOp::differentiate(Gradients &gradients) {
  Tensor x = widen(Tensor(gradients.builder(), getLoc(), getX()));
  auto wide = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  SmallVector<int64_t> dimensions = dimensionRange(getAxis(), x.rank());
  auto along = [&](Tensor row) { return row.broadcastAlong(x.shape(), dimensions); };
  Moments m = moments(x, dimensions);
  Tensor rstd = along(rsqrt(m.var + getEpsilon()));
  Tensor xhat = m.centered * rstd;
  Tensor dy = wide(gradients.of(getResult()));
  if (gradients.wants(getX())) {
    Tensor g = getScale() ? dy * wide(getScale()).broadcastTo(x.shape()) : dy;
    Tensor dx = rstd * (g - along(mean(g, dimensions)) - xhat * along(mean(g * xhat, dimensions)));
    addNarrowed(gradients, getX(), dx);
  }
  SmallVector<int64_t> leading = dimensionRange(0, getAxis());
  if (getScale() && gradients.wants(getScale()))
    addNarrowed(gradients, getScale(), sum(dy * xhat, leading));
  if (getBias() && gradients.wants(getBias()))
    addNarrowed(gradients, getBias(), sum(dy, leading));
  return success();
}

// ---- rms_norm ----

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // rms_norm_c1, rms_norm_c2
  if (failed(checkTrailing<RmsNormOp>(location, adaptor.getOperands(), adaptor.getAxis())))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult RmsNormOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  SmallVector<int64_t> dimensions = dimensionRange(getAxis(), x.rank());
  Tensor rstd = rsqrt(mean(x * x, dimensions) + getEpsilon());
  Tensor y = x * rstd.broadcastAlong(x.shape(), dimensions);
  if (getScale())
    y = y * x.wrap(getScale()).convert(x.elementType()).broadcastTo(x.shape());
  results.push_back(y.convert(getType().getElementType()));
  return success();
}

// With xhat = x rstd and g = dy scale: dx = rstd (g - xhat mean(g xhat)), dscale = sum dy xhat.
LogicalResult RmsNormOp::differentiate(Gradients &gradients) {
  Tensor x = widen(Tensor(gradients.builder(), getLoc(), getX()));
  auto wide = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  SmallVector<int64_t> dimensions = dimensionRange(getAxis(), x.rank());
  auto along = [&](Tensor row) { return row.broadcastAlong(x.shape(), dimensions); };
  Tensor rstd = along(rsqrt(mean(x * x, dimensions) + getEpsilon()));
  Tensor xhat = x * rstd;
  Tensor dy = wide(gradients.of(getResult()));
  if (gradients.wants(getX())) {
    Tensor g = getScale() ? dy * wide(getScale()).broadcastTo(x.shape()) : dy;
    addNarrowed(gradients, getX(), rstd * (g - xhat * along(mean(g * xhat, dimensions))));
  }
  if (getScale() && gradients.wants(getScale()))
    addNarrowed(gradients, getScale(), sum(dy * xhat, dimensionRange(0, getAxis())));
  return success();
}

// ---- group_norm, instance_norm ----

namespace {
/// Differentiated through these parts: layer_norm, which has a rule, and a scale and shift.
Value groupNorm(Tensor x, Value scale, Value bias, int64_t groups, double epsilon) {
  // The channels of a group stay a dimension: scale and shift are constant along the one after it.
  SmallVector<int64_t> shape = {x.dim(0), groups};
  if (groups != x.dim(1))
    shape.push_back(x.dim(1) / groups);
  shape.push_back(ShapedType::getNumElements(x.shape().drop_front(2)));
  Tensor flat = x.reshape(shape);
  Tensor normal = x.wrap(x.getBuilder().create<LayerNormOp>(x.getLoc(), flat, Value(), Value(),
                                                            /*axis=*/2, epsilon));
  auto channels = [&](Value vector) {
    return alongChannels(x.wrap(vector).convert(x.elementType()), x.shape());
  };
  return normal.reshape(x.shape()) * channels(scale) + channels(bias);
}
} // namespace

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // group_norm_c1
  if (failed(checkChannels<GroupNormOp>(location, adaptor.getOperands(), 2)))
    return failure();
  // group_norm_c2
  int64_t channels = shapeOf(adaptor.getX())[1], groups = adaptor.getGroups();
  if (groups < 1 || channels % groups != 0)
    return prim::inferError<GroupNormOp>(location, "cannot form ", groups, " groups of ", channels,
                                         " channels");
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult GroupNormOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX());
  results.push_back(groupNorm(x, getScale(), getBias(), getGroups(), getEpsilon()));
  return success();
}

LogicalResult InstanceNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // instance_norm_c1
  if (failed(checkChannels<InstanceNormOp>(location, adaptor.getOperands(), 3)))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult InstanceNormOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX());
  results.push_back(groupNorm(x, getScale(), getBias(), x.dim(1), getEpsilon()));
  return success();
}
