// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Activations.cpp.inc"

namespace {
/// log(1 + e^x), which overflows nowhere.
Tensor softplus(Tensor x) { return max(x, 0.0) + log1p(exp(-abs(x))); }
} // namespace

// ---- relu ----

LogicalResult ReluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [](Tensor x) { return max(x, 0.0); });
}

// dx = dy where y > 0, so that only y need be kept. Here and below NaN counts as above the bend, as
// in PyTorch.
LogicalResult ReluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients,
                  [](Tensor x, Tensor y, Tensor dy) { return select(y <= 0.0, 0.0, dy); });
}

// ---- gelu ----

namespace {
/// The normal distribution's Phi(x) = (1 + erf(x / sqrt 2)) / 2.
Tensor normalCdf(Tensor x) { return 0.5 * (1.0 + erf(x * (1.0 / std::numbers::sqrt2))); }
/// The normal distribution's density phi(x) = e^(-x^2 / 2) / sqrt(2 pi).
Tensor normalDensity(Tensor x) {
  return exp(x * x * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

// tanh(sqrt(2 / pi) (x + 0.044715 x^3)).
constexpr double kGeluScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kGeluCubic = 0.044715;
Tensor geluTanh(Tensor x) { return tanh(kGeluScale * (x * (1.0 + kGeluCubic * (x * x)))); }
} // namespace

LogicalResult GeluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [&](Tensor x) {
    return getForm() == GeluForm::erf ? x * normalCdf(x) : 0.5 * x * (1.0 + geluTanh(x));
  });
}

// erf:  y' = Phi + x phi.
// tanh: y' = (1 + t) / 2 + x / 2 (1 - t^2) u', with t = tanh(u), u' = sqrt(2 / pi) (1 + 3 c x^2).
LogicalResult GeluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    if (getForm() == GeluForm::erf)
      return dy * (normalCdf(x) + x * normalDensity(x));
    Tensor t = geluTanh(x);
    Tensor slope = kGeluScale * (1.0 + 3.0 * kGeluCubic * (x * x));
    return dy * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope);
  });
}

// ---- silu ----

LogicalResult SiluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [](Tensor x) { return x * logistic(x); });
}

// y' = s + x s (1 - s), with s = logistic(x).
LogicalResult SiluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    Tensor s = logistic(x);
    return dy * (s * (1.0 + x * (1.0 - s)));
  });
}

// ---- leaky_relu ----

LogicalResult LeakyReluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results,
                [&](Tensor x) { return select(x > 0.0, x, getAlpha() * x); });
}

LogicalResult LeakyReluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    return select(x > 0.0, dy, getAlpha() * dy);
  });
}

// ---- elu ----

LogicalResult EluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results,
                [&](Tensor x) { return select(x > 0.0, x, getAlpha() * expm1(x)); });
}

LogicalResult EluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    return select(x <= 0.0, dy * (getAlpha() * exp(x)), dy);
  });
}

// ---- celu ----

LogicalResult CeluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  double alpha = getAlpha();
  return define(*this, builder, results,
                [&](Tensor x) { return select(x > 0.0, x, alpha * expm1(x * (1.0 / alpha))); });
}

LogicalResult CeluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    return select(x <= 0.0, dy * exp(x * (1.0 / getAlpha())), dy);
  });
}

// ---- selu ----

LogicalResult SeluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [&](Tensor x) {
    return select(x > 0.0, getGamma() * x, getGamma() * getAlpha() * expm1(x));
  });
}

LogicalResult SeluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    return select(x <= 0.0, dy * (getGamma() * getAlpha() * exp(x)), getGamma() * dy);
  });
}

// ---- hard_sigmoid ----

LogicalResult HardSigmoidOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results,
                [&](Tensor x) { return min(max(getAlpha() * x + getBeta(), 0.0), 1.0); });
}

// alpha strictly between the two bends, as in PyTorch.
LogicalResult HardSigmoidOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    return select(bitAnd(y > 0.0, y < 1.0), getAlpha() * dy, 0.0);
  });
}

// ---- hard_swish ----

LogicalResult HardSwishOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results,
                [](Tensor x) { return x * min(max(x * (1.0 / 6.0) + 0.5, 0.0), 1.0); });
}

// y' = 0 where x <= -3, x / 3 + 1 / 2 up to 3, then 1.
LogicalResult HardSwishOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    Tensor bent = dy * (x * (1.0 / 3.0) + 0.5);
    return select(x <= -3.0, 0.0, select(x < 3.0, bent, dy));
  });
}

// ---- softplus ----

LogicalResult SoftplusOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [](Tensor x) { return softplus(x); });
}

LogicalResult SoftplusOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) { return dy * logistic(x); });
}

// ---- softsign ----

LogicalResult SoftsignOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [](Tensor x) { return x / (1.0 + abs(x)); });
}

// y' = 1 / (1 + |x|)^2.
LogicalResult SoftsignOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    Tensor d = 1.0 + abs(x);
    return dy / (d * d);
  });
}

// ---- mish ----

LogicalResult MishOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [](Tensor x) { return x * tanh(softplus(x)); });
}

// y' = t + x (1 - t^2) logistic(x), with t = tanh(softplus(x)).
LogicalResult MishOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [](Tensor x, Tensor y, Tensor dy) {
    Tensor t = tanh(softplus(x));
    return dy * (t + x * (1.0 - t * t) * logistic(x));
  });
}

// ---- thresholded_relu ----

LogicalResult ThresholdedReluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [&](Tensor x) { return select(x > getAlpha(), x, 0.0); });
}

LogicalResult ThresholdedReluOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients,
                  [&](Tensor x, Tensor y, Tensor dy) { return select(x > getAlpha(), dy, 0.0); });
}

// ---- clamp ----

LogicalResult ClampOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [&](Tensor x) {
    Tensor y = std::isinf(getMin()) ? x : max(x, getMin());
    return std::isinf(getMax()) ? y : min(y, getMax());
  });
}

// dx = dy strictly between the ends, as in PyTorch.
LogicalResult ClampOp::differentiate(Gradients &gradients) {
  return pullBack(*this, gradients, [&](Tensor x, Tensor y, Tensor dy) {
    Tensor dx = std::isinf(getMin()) ? dy : select(x <= getMin(), 0.0, dy);
    return std::isinf(getMax()) ? dx : select(x >= getMax(), 0.0, dx);
  });
}

// ---- prelu ----

LogicalResult PreluOp::verify() {
  if (typeOf(getX()).getElementType() != typeOf(getSlope()).getElementType())
    return emitOpError("x and slope have different element types");
  // prelu_c1
  if (!broadcastsTo(shapeOf(getSlope()), shapeOf(getX())))
    return emitOpError("slope of type ")
           << getSlope().getType() << " does not broadcast to x of type " << getX().getType();
  return success();
}

LogicalResult PreluOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return define(*this, builder, results, [&](Tensor x) {
    return select(x > 0.0, x, x.wrap(getSlope()).broadcastTo(x.shape()) * x);
  });
}

// dx = dy or slope dy; dslope = sum of x dy where x <= 0, over what slope is repeated along.
LogicalResult PreluOp::differentiate(Gradients &gradients) {
  Tensor x(gradients.builder(), getLoc(), getX());
  Tensor slope = x.wrap(getSlope()), dy = x.wrap(gradients.of(getResult()));
  Tensor positive = x > 0.0;
  if (gradients.wants(getX()))
    gradients.add(getX(), select(positive, dy, slope.broadcastTo(x.shape()) * dy));
  if (gradients.wants(getSlope()))
    gradients.add(getSlope(), sumTo(select(positive, 0.0, x * dy), slope.shape()));
  return success();
}
