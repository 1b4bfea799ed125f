// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Pointwise.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Unary.cpp.inc"

// ---- neg ----

LogicalResult NegOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients, [](Tensor dy, Tensor, Tensor) { return -dy; });
}
LogicalResult NegOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateNumbers(
      getType().getElementType(), operands, results, [](double x) { return -x; },
      [](uint64_t x) { return -x; });
}
Value NegOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  Value x = operands[0];
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return builder.create<arith::NegFOp>(getLoc(), x);
  ScalarBuilder scalar{builder, getLoc()};
  return scalar.make<arith::SubIOp>(scalar.number(x.getType(), 0), x);
}

// ---- abs ----

LogicalResult AbsOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor x, Tensor) { return dy * sign(x); });
}
LogicalResult AbsOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  bool isUnsigned = isUnsignedElement(getType().getElementType());
  return evaluateNumbers(
      getType().getElementType(), operands, results, [](double x) { return std::abs(x); },
      [&](uint64_t x) { return isUnsigned || static_cast<int64_t>(x) >= 0 ? x : -x; });
}
Value AbsOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  if (isUnsignedElement(getType().getElementType()))
    return operands[0];
  if (isa<IntegerType>(getType().getElementType()))
    return builder.create<math::AbsIOp>(getLoc(), operands[0]);
  return builder.create<math::AbsFOp>(getLoc(), operands[0]);
}

// ---- exp ----

// (e^x)' = e^x
LogicalResult ExpOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor, Tensor y) { return chain(dy, y); });
}
LogicalResult ExpOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::exp(x); });
}
Value ExpOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::ExpOp>(getLoc(), operands[0]);
}

// ---- expm1 ----

// (e^x - 1)' = e^x
LogicalResult Expm1Op::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor, Tensor y) { return chain(dy, y + 1.0); });
}
LogicalResult Expm1Op::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::expm1(x); });
}
Value Expm1Op::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::ExpM1Op>(getLoc(), operands[0]);
}

// ---- log ----

// log'(x) = 1 / x
LogicalResult LogOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor x, Tensor) { return chain(dy, 1.0 / x); });
}
LogicalResult LogOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::log(x); });
}
Value LogOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::LogOp>(getLoc(), operands[0]);
}

// ---- log1p ----

// log1p'(x) = 1 / (1 + x)
LogicalResult Log1pOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor x, Tensor) { return chain(dy, 1.0 / (1.0 + x)); });
}
LogicalResult Log1pOp::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::log1p(x); });
}
Value Log1pOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::Log1pOp>(getLoc(), operands[0]);
}

// ---- sqrt ----

// sqrt'(x) = 1 / (2 sqrt(x))
LogicalResult SqrtOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor, Tensor y) { return chain(dy, 0.5 / y); });
}
LogicalResult SqrtOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::sqrt(x); });
}
Value SqrtOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::SqrtOp>(getLoc(), operands[0]);
}

// ---- rsqrt ----

// (x^-1/2)' = -1/2 x^-3/2
LogicalResult RsqrtOp::differentiate(Gradients &gradients) {
  return differentiateUnary(
      *this, gradients, [](Tensor dy, Tensor, Tensor y) { return chain(dy, -0.5 * y * y * y); });
}
LogicalResult RsqrtOp::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return 1.0 / std::sqrt(x); });
}
Value RsqrtOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::RsqrtOp>(getLoc(), operands[0]);
}

// ---- sin ----

// sin' = cos
LogicalResult SinOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor x, Tensor) { return dy * cos(x); });
}
LogicalResult SinOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::sin(x); });
}
Value SinOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::SinOp>(getLoc(), operands[0]);
}

// ---- cos ----

// cos' = -sin
LogicalResult CosOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor x, Tensor) { return -dy * sin(x); });
}
LogicalResult CosOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::cos(x); });
}
Value CosOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::CosOp>(getLoc(), operands[0]);
}

// ---- asin ----

// asin'(x) = 1 / sqrt(1 - x^2); the factored form keeps its digits near 1 and -1
LogicalResult AsinOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients, [](Tensor dy, Tensor x, Tensor) {
    return chain(dy, rsqrt((1.0 - x) * (1.0 + x)));
  });
}
LogicalResult AsinOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::asin(x); });
}
Value AsinOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::AsinOp>(getLoc(), operands[0]);
}

// ---- acos ----

// acos' = -asin'
LogicalResult AcosOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients, [](Tensor dy, Tensor x, Tensor) {
    return chain(-dy, rsqrt((1.0 - x) * (1.0 + x)));
  });
}
LogicalResult AcosOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::acos(x); });
}
Value AcosOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::AcosOp>(getLoc(), operands[0]);
}

// ---- atan ----

// atan'(x) = 1 / (1 + x^2)
LogicalResult AtanOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor x, Tensor) { return dy / (1.0 + x * x); });
}
LogicalResult AtanOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::atan(x); });
}
Value AtanOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::AtanOp>(getLoc(), operands[0]);
}

// ---- tanh ----

// tanh' = 1 - tanh^2
LogicalResult TanhOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor, Tensor y) { return dy * (1.0 - y * y); });
}
LogicalResult TanhOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::tanh(x); });
}
Value TanhOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::TanhOp>(getLoc(), operands[0]);
}

// ---- logistic ----

// s' = s (1 - s)
LogicalResult LogisticOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients,
                            [](Tensor dy, Tensor, Tensor y) { return dy * y * (1.0 - y); });
}
LogicalResult LogisticOp::evaluate(ArrayRef<ReferenceArray> operands,
                                   SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}
Value LogisticOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  // e = exp(-|x|) never overflows: 1 / (1 + e) for x >= 0, e / (1 + e) below.
  ScalarBuilder scalar{builder, getLoc()};
  Value x = operands[0], one = scalar.number(x.getType(), 1);
  Value e = scalar.make<math::ExpOp>(scalar.make<arith::NegFOp>(scalar.make<math::AbsFOp>(x)));
  Value positive = scalar.compare(arith::CmpFPredicate::OGE, x, scalar.number(x.getType(), 0));
  return scalar.make<arith::DivFOp>(scalar.select(positive, one, e),
                                    scalar.make<arith::AddFOp>(one, e));
}

// ---- erf ----

// erf'(x) = 2 / sqrt(pi) e^(-x^2)
LogicalResult ErfOp::differentiate(Gradients &gradients) {
  return differentiateUnary(*this, gradients, [](Tensor dy, Tensor x, Tensor) {
    return dy * (2.0 * std::numbers::inv_sqrtpi) * exp(-(x * x));
  });
}
LogicalResult ErfOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::erf(x); });
}
Value ErfOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::ErfOp>(getLoc(), operands[0]);
}

// ---- sign ----

LogicalResult SignOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
}
Value SignOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  Value x = operands[0];
  Value zero = scalar.number(x.getType(), 0), one = scalar.number(x.getType(), 1);
  Value minusOne = scalar.number(x.getType(), -1);
  if (isa<FloatType>(getElementTypeOrSelf(x))) // 0, -0 and NaN are their own sign
    return scalar.select(
        scalar.compare(arith::CmpFPredicate::OGT, x, zero), one,
        scalar.select(scalar.compare(arith::CmpFPredicate::OLT, x, zero), minusOne, x));
  Value nonZero = scalar.select(scalar.compare(arith::CmpIPredicate::eq, x, zero), zero, one);
  if (isUnsignedElement(getType().getElementType()))
    return nonZero;
  return scalar.select(scalar.compare(arith::CmpIPredicate::slt, x, zero), minusOne, nonZero);
}

// ---- floor ----

LogicalResult FloorOp::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::floor(x); });
}
Value FloorOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::FloorOp>(getLoc(), operands[0]);
}

// ---- ceil ----

LogicalResult CeilOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::ceil(x); });
}
Value CeilOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::CeilOp>(getLoc(), operands[0]);
}

// ---- round_even ----

LogicalResult RoundEvenOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::nearbyint(x); });
}
Value RoundEvenOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::RoundEvenOp>(getLoc(), operands[0]);
}

// ---- not ----

LogicalResult NotOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateNumbers(
      getType().getElementType(), operands, results, [](double x) { return x; },
      [](uint64_t x) { return ~x; });
}
Value NotOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  Type type = operands[0].getType();
  APInt ones = APInt::getAllOnes(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  return scalar.make<arith::XOrIOp>(operands[0], scalar.integer(type, ones));
}

// ---- is_finite ----

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(
      cast<RankedTensorType>(adaptor.getOperand().getType()).clone(IntegerType::get(context, 1)));
  return success();
}
LogicalResult IsFiniteOp::evaluate(ArrayRef<ReferenceArray> operands,
                                   SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; });
}
Value IsFiniteOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  Value magnitude = scalar.make<math::AbsFOp>(operands[0]);
  Value infinity = scalar.number(magnitude.getType(), HUGE_VAL);
  return scalar.compare(arith::CmpFPredicate::OLT, magnitude, infinity);
}
