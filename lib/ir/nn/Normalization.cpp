// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Normalization.cpp.inc"

namespace {
/// x minus its mean over some dimensions, and the mean of its square. `mean` and `var` lack those
/// dimensions.
struct Moments {
  Tensor mean, centered, var;
};
Moments moments(Tensor x, ArrayRef<int64_t> dimensions) {
  Tensor m = mean(x, dimensions);
  Tensor centered = x - m.broadcastAlong(x.shape(), dimensions);
  return {m, centered, mean(centered * centered, dimensions)};
}

double countAlong(Tensor x, ArrayRef<int64_t> dimensions) {
  double count = 1.0;
  for (int64_t d : dimensions)
    count *= static_cast<double>(x.dim(d));
  return count;
}

/// One value for each channel is asked of every operand after x.
template <typename Op>
LogicalResult checkChannels(std::optional<Location> location, ValueRange operands,
                            int64_t leastRank) {
  auto x = typeOf(operands.front());
  if (x.getRank() < leastRank)
    return prim::inferError<Op>(location, "x of type ", x, " has a rank below ", leastRank);
  for (Value vector : operands.drop_front())
    if (shapeOf(vector) != ArrayRef<int64_t>(x.getDimSize(1)))
      return prim::inferError<Op>(location, "an operand of type ", vector.getType(),
                                  " does not have one "
                                  "element for each of the ",
                                  x.getDimSize(1), " channels of x");
  return success();
}

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

// ---- batch_norm_training ----

LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // batch_norm_c1
  if (failed(checkChannels<BatchNormTrainingOp>(location, adaptor.getOperands(), 2)))
    return failure();
  types.assign({adaptor.getX().getType(), adaptor.getRunningMean().getType(),
                adaptor.getRunningVar().getType()});
  return success();
}

namespace {
/// What forward and derivative both compute, so that common-subexpression elimination merges it.
struct BatchStatistics {
  SmallVector<int64_t> dimensions;
  Moments moments;
  Tensor rstd;
  double count;
  /// Of the running variance's sample: n / (n - 1) if unbiased. One element has no unbiased
  /// variance.
  double sampleFactor;
};
BatchStatistics batchStatistics(BatchNormTrainingOp op, Tensor x) {
  SmallVector<int64_t> dimensions = allBut(x.rank(), 1);
  Moments m = moments(x, dimensions);
  double n = countAlong(x, dimensions);
  return {dimensions, m, rsqrt(m.var + op.getEpsilon()), n,
          op.getUnbiased() && n > 1 ? n / (n - 1) : 1.0};
}
} // namespace

LogicalResult BatchNormTrainingOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  BatchStatistics batch = batchStatistics(*this, x);
  Tensor factor = batch.rstd * operand(getScale());
  Tensor y = batch.moments.centered * alongChannels(factor, x.shape()) +
             alongChannels(operand(getBias()), x.shape());
  results.push_back(y.convert(typeOf(getX()).getElementType()));

  double m = getMomentum();
  auto update = [&](Value running, Tensor sample) {
    Type element = typeOf(running).getElementType();
    results.push_back((operand(running) * (1.0 - m) + sample * m).convert(element));
  };
  update(getRunningMean(), batch.moments.mean);
  update(getRunningVar(), batch.moments.var * batch.sampleFactor);
  return success();
}

void BatchNormTrainingOp::getEvaluationValues(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  results.push_back(builder.create<BatchNormInferenceOp>(getLoc(), getX(), getScale(), getBias(),
                                                         getRunningMean(), getRunningVar(),
                                                         getEpsilonAttr()));
  results.append({getRunningMean(), getRunningVar()});
}

// With n elements a channel, xhat = (x - mean) rstd, all sums over a channel:
//   dbias = sum dy, dscale = sum dy xhat,
//   dx = scale rstd (dy - dbias / n - xhat dscale / n)        (Ioffe and Szegedy, section 3)
// and through the running statistics, whose cotangents are m and v:
//   dx += momentum m / n + 2 momentum factor v (x - mean) / n.
LogicalResult BatchNormTrainingOp::differentiate(Gradients &gradients) {
  Tensor x = widen(Tensor(gradients.builder(), getLoc(), getX()));
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  auto channels = [&](Tensor vector) { return alongChannels(vector, x.shape()); };
  BatchStatistics batch = batchStatistics(*this, x);
  double n = batch.count, momentum = getMomentum();

  if (gradients.has(getY())) {
    Tensor dy = operand(gradients.of(getY()));
    Tensor xhat = batch.moments.centered * channels(batch.rstd);
    Tensor dbias = sum(dy, batch.dimensions), dscale = sum(dy * xhat, batch.dimensions);
    if (gradients.wants(getX())) {
      Tensor inner = dy - channels(dbias * (1.0 / n)) - xhat * channels(dscale * (1.0 / n));
      addNarrowed(gradients, getX(), channels(operand(getScale()) * batch.rstd) * inner);
    }
    if (gradients.wants(getScale()))
      addNarrowed(gradients, getScale(), dscale);
    if (gradients.wants(getBias()))
      addNarrowed(gradients, getBias(), dbias);
  }
  if (gradients.has(getNewMean())) {
    Tensor m = operand(gradients.of(getNewMean()));
    if (gradients.wants(getX()))
      addNarrowed(gradients, getX(), channels(m * (momentum / n)));
    if (gradients.wants(getRunningMean()))
      addNarrowed(gradients, getRunningMean(), m * (1.0 - momentum));
  }
  if (gradients.has(getNewVar())) {
    Tensor v = operand(gradients.of(getNewVar()));
    if (gradients.wants(getX()))
      addNarrowed(gradients, getX(),
                  batch.moments.centered * channels(v * (2.0 * momentum * batch.sampleFactor / n)));
    if (gradients.wants(getRunningVar()))
      addNarrowed(gradients, getRunningVar(), v * (1.0 - momentum));
  }
  return success();
}

// ---- batch_norm_inference ----

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  // batch_norm_c1
  if (failed(checkChannels<BatchNormInferenceOp>(location, adaptor.getOperands(), 2)))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult BatchNormInferenceOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  auto channels = [&](Tensor vector) { return alongChannels(vector, x.shape()); };
  Tensor factor = operand(getScale()) * rsqrt(operand(getVar()) + getEpsilon());
  Tensor y = (x - channels(operand(getMean()))) * channels(factor) + channels(operand(getBias()));
  results.push_back(y.convert(getType().getElementType()));
  return success();
}

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
