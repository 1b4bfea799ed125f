// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Pointwise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Binary.cpp.inc"

// ---- what several ops share ----

namespace {

/// One of three ops, by element type: float, signed or unsigned integer.
template <typename Float, typename Signed, typename Unsigned = Signed, typename Op>
Value emitNumbers(Op op, OpBuilder &builder, ValueRange operands) {
  Type element = op.getType().getElementType();
  if (isa<FloatType>(element))
    return builder.create<Float>(op.getLoc(), operands[0], operands[1]);
  if (isUnsignedElement(element))
    return builder.create<Unsigned>(op.getLoc(), operands[0], operands[1]);
  return builder.create<Signed>(op.getLoc(), operands[0], operands[1]);
}

/// Signed division traps for x / 0 and for INT_MIN / -1. `divisor` is 1 in place of both.
struct SafeDivisor {
  Value divisor, isZero, isMinusOne;

  SafeDivisor(const ScalarBuilder &scalar, Value b, bool isUnsigned) {
    Value one = scalar.number(b.getType(), 1);
    isZero = scalar.compare(arith::CmpIPredicate::eq, b, scalar.number(b.getType(), 0));
    divisor = scalar.select(isZero, one, b);
    if (isUnsigned)
      return;
    isMinusOne = scalar.compare(arith::CmpIPredicate::eq, b, scalar.number(b.getType(), -1));
    divisor = scalar.select(isMinusOne, one, divisor);
  }
};

/// Integer quotient as the op defines it, on two's complement.
uint64_t divideBits(uint64_t a, uint64_t b, bool isUnsigned) {
  if (b == 0)
    return 0;
  if (isUnsigned)
    return a / b;
  auto divisor = static_cast<int64_t>(b);
  return divisor == -1 ? -a : static_cast<uint64_t>(static_cast<int64_t>(a) / divisor);
}

/// NaN if either is NaN, as IEEE 754-2019 maximum and minimum.
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// The share of dy of the operand `a`: nothing where it `loses` against `b`, half of it for a tie.
/// Where either is NaN neither loses, and both have all of it, as in PyTorch.
Tensor shareOf(Tensor dy, Tensor loses, Tensor a, Tensor b) {
  return select(loses, 0.0, select(equal(a, b), dy * 0.5, dy));
}

} // namespace

// ---- add ----

LogicalResult AddOp::differentiate(Gradients &gradients) {
  auto rule = [](Tensor dy, Tensor, Tensor, Tensor) { return dy; };
  return differentiateBinary(*this, gradients, rule, rule);
}
LogicalResult AddOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  auto rule = [](auto a, auto b) { return a + b; };
  return evaluateNumbers(getType().getElementType(), operands, results, rule, rule);
}
Value AddOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return emitNumbers<arith::AddFOp, arith::AddIOp>(*this, builder, operands);
}

// ---- sub ----

LogicalResult SubOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients, [](Tensor dy, Tensor, Tensor, Tensor) { return dy; },
      [](Tensor dy, Tensor, Tensor, Tensor) { return -dy; });
}
LogicalResult SubOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  auto rule = [](auto a, auto b) { return a - b; };
  return evaluateNumbers(getType().getElementType(), operands, results, rule, rule);
}
Value SubOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return emitNumbers<arith::SubFOp, arith::SubIOp>(*this, builder, operands);
}

// ---- mul ----

LogicalResult MulOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients, [](Tensor dy, Tensor, Tensor b, Tensor) { return dy * b; },
      [](Tensor dy, Tensor a, Tensor, Tensor) { return dy * a; });
}
LogicalResult MulOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  auto rule = [](auto a, auto b) { return a * b; };
  return evaluateNumbers(getType().getElementType(), operands, results, rule, rule);
}
Value MulOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return emitNumbers<arith::MulFOp, arith::MulIOp>(*this, builder, operands);
}

// ---- div ----

// da = dy / b, db = -dy y / b. A constant divisor that is not 0 needs no guard against 0 / 0.
LogicalResult DivOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients,
      [](Tensor dy, Tensor, Tensor b, Tensor) {
        bool isSafe = splatNumber(b).value_or(0) != 0;
        return isSafe ? dy / b : select(equal(dy, 0.0), 0.0, dy / b);
      },
      [](Tensor dy, Tensor, Tensor b, Tensor y) { return chain(-dy, y / b); });
}
LogicalResult DivOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  Type element = getType().getElementType();
  bool isUnsigned = isUnsignedElement(element);
  return evaluateNumbers(
      element, operands, results, [](double a, double b) { return a / b; },
      [&](uint64_t a, uint64_t b) { return divideBits(a, b, isUnsigned); });
}
Value DivOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  Type element = getType().getElementType();
  if (isa<FloatType>(element))
    return builder.create<arith::DivFOp>(getLoc(), operands[0], operands[1]);
  ScalarBuilder scalar{builder, getLoc()};
  Value a = operands[0], zero = scalar.number(a.getType(), 0);
  SafeDivisor safe(scalar, operands[1], isUnsignedElement(element));
  if (isUnsignedElement(element))
    return scalar.select(safe.isZero, zero, scalar.make<arith::DivUIOp>(a, safe.divisor));
  Value quotient = scalar.make<arith::DivSIOp>(a, safe.divisor);
  Value negated = scalar.make<arith::SubIOp>(zero, a);
  return scalar.select(safe.isZero, zero, scalar.select(safe.isMinusOne, negated, quotient));
}

// ---- rem ----

// y = a - n b with n = trunc(a / b), so da = dy and db = -dy n.
LogicalResult RemOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients, [](Tensor dy, Tensor, Tensor, Tensor) { return dy; },
      [](Tensor dy, Tensor a, Tensor b, Tensor y) { return chain(dy, roundEven((y - a) / b)); });
}
LogicalResult RemOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  Type element = getType().getElementType();
  bool isUnsigned = isUnsignedElement(element);
  return evaluateNumbers(
      element, operands, results, [](double a, double b) { return std::fmod(a, b); },
      [&](uint64_t a, uint64_t b) { return a - divideBits(a, b, isUnsigned) * b; });
}
// Of an integer by 0 it is a, as a - 0 * 0.
Value RemOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  Type element = getType().getElementType();
  if (isa<FloatType>(element))
    return builder.create<arith::RemFOp>(getLoc(), operands[0], operands[1]);
  ScalarBuilder scalar{builder, getLoc()};
  Value a = operands[0];
  SafeDivisor safe(scalar, operands[1], isUnsignedElement(element));
  Value remainder = isUnsignedElement(element) ? scalar.make<arith::RemUIOp>(a, safe.divisor)
                                               : scalar.make<arith::RemSIOp>(a, safe.divisor);
  return scalar.select(safe.isZero, a, remainder); // x rem 1 = x rem -1 = 0
}

// ---- max ----

LogicalResult MaxOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients,
      [](Tensor dy, Tensor a, Tensor b, Tensor) { return shareOf(dy, a < b, a, b); },
      [](Tensor dy, Tensor a, Tensor b, Tensor) { return shareOf(dy, b < a, a, b); });
}
LogicalResult MaxOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, maximum);
}
Value MaxOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return emitNumbers<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(*this, builder, operands);
}

// ---- min ----

LogicalResult MinOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients,
      [](Tensor dy, Tensor a, Tensor b, Tensor) { return shareOf(dy, a > b, a, b); },
      [](Tensor dy, Tensor a, Tensor b, Tensor) { return shareOf(dy, b > a, a, b); });
}
LogicalResult MinOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, minimum);
}
Value MinOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return emitNumbers<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(*this, builder, operands);
}

// ---- pow ----

// da = dy b a^(b-1), which is 0 for b = 0 even where a^-1 is infinite.
// db = dy a^b log(a), which is 0 for a = 0 and b >= 0 where log(a) is infinite.
LogicalResult PowOp::differentiate(Gradients &gradients) {
  return differentiateBinary(
      *this, gradients,
      [](Tensor dy, Tensor a, Tensor b, Tensor) {
        if (std::optional<double> exponent = splatNumber(b)) {
          if (*exponent == 2)
            return dy * (a * 2.0);
          return *exponent == 0 ? dy.full(0.0) : chain(dy, *exponent * pow(a, *exponent - 1.0));
        }
        return chain(dy, select(equal(b, 0.0), 0.0, b * pow(a, b - 1.0)));
      },
      [](Tensor dy, Tensor a, Tensor b, Tensor y) {
        Tensor isFlat = bitAnd(equal(a, 0.0), b >= 0.0);
        return chain(dy, select(isFlat, 0.0, y * log(a)));
      });
}
LogicalResult PowOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double a, double b) { return std::pow(a, b); });
}
Value PowOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::PowFOp>(getLoc(), operands[0], operands[1]);
}

// ---- atan2 ----

// da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2); 0 at the origin, where there is no angle.
LogicalResult Atan2Op::differentiate(Gradients &gradients) {
  auto over = [](Tensor numerator, Tensor a, Tensor b) {
    Tensor square = a * a + b * b;
    return select(equal(square, 0.0), 0.0, numerator / square);
  };
  return differentiateBinary(
      *this, gradients, [&](Tensor dy, Tensor a, Tensor b, Tensor) { return over(dy * b, a, b); },
      [&](Tensor dy, Tensor a, Tensor b, Tensor) { return over(-dy * a, a, b); });
}
LogicalResult Atan2Op::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results, [](double a, double b) { return std::atan2(a, b); });
}
Value Atan2Op::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<math::Atan2Op>(getLoc(), operands[0], operands[1]);
}

// ---- and ----

/// The bit operators have no meaning for floats, which the op's types exclude.
static double noFloat(double, double) { llvm_unreachable("bits of a float"); }

LogicalResult AndOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateNumbers(getType().getElementType(), operands, results, noFloat,
                         [](uint64_t a, uint64_t b) { return a & b; });
}
Value AndOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<arith::AndIOp>(getLoc(), operands[0], operands[1]);
}

// ---- or ----

LogicalResult OrOp::evaluate(ArrayRef<ReferenceArray> operands,
                             SmallVectorImpl<ReferenceArray> &results) {
  return evaluateNumbers(getType().getElementType(), operands, results, noFloat,
                         [](uint64_t a, uint64_t b) { return a | b; });
}
Value OrOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<arith::OrIOp>(getLoc(), operands[0], operands[1]);
}

// ---- xor ----

LogicalResult XorOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  return evaluateNumbers(getType().getElementType(), operands, results, noFloat,
                         [](uint64_t a, uint64_t b) { return a ^ b; });
}
Value XorOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<arith::XOrIOp>(getLoc(), operands[0], operands[1]);
}

// ---- shift_left ----

/// b >= width, b read as unsigned: a negative count shifts everything out, too.
static Value isWholeShift(const ScalarBuilder &scalar, Value b) {
  Value width =
      scalar.number(b.getType(), getElementTypeOrSelf(b.getType()).getIntOrFloatBitWidth());
  return scalar.compare(arith::CmpIPredicate::uge, b, width);
}

LogicalResult ShiftLeftOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  unsigned width = getType().getElementTypeBitWidth();
  return evaluateNumbers(getType().getElementType(), operands, results, noFloat,
                         [&](uint64_t a, uint64_t b) { return b < width ? a << b : 0; });
}
Value ShiftLeftOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  Value a = operands[0], b = operands[1], zero = scalar.number(a.getType(), 0);
  Value isWhole = isWholeShift(scalar, b);
  Value shifted = scalar.make<arith::ShLIOp>(a, scalar.select(isWhole, zero, b));
  return scalar.select(isWhole, zero, shifted);
}

// ---- shift_right ----

LogicalResult ShiftRightOp::evaluate(ArrayRef<ReferenceArray> operands,
                                     SmallVectorImpl<ReferenceArray> &results) {
  unsigned width = getType().getElementTypeBitWidth();
  bool isUnsigned = isUnsignedElement(getType().getElementType());
  return evaluateNumbers(
      getType().getElementType(), operands, results, noFloat, [&](uint64_t a, uint64_t b) {
        if (isUnsigned)
          return b < width ? a >> b : 0;
        return static_cast<uint64_t>(static_cast<int64_t>(a) >> std::min<uint64_t>(b, width - 1));
      });
}
Value ShiftRightOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  Value a = operands[0], b = operands[1], isWhole = isWholeShift(scalar, b);
  if (isUnsignedElement(getType().getElementType())) {
    Value zero = scalar.number(a.getType(), 0);
    Value shifted = scalar.make<arith::ShRUIOp>(a, scalar.select(isWhole, zero, b));
    return scalar.select(isWhole, zero, shifted);
  }
  Value last = scalar.number(b.getType(), getType().getElementTypeBitWidth() - 1);
  return scalar.make<arith::ShRSIOp>(a, scalar.select(isWhole, last, b));
}
