// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"
#include "ir/prim/Pointwise.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Choice.cpp.inc"

// ---- compare ----

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(
      cast<RankedTensorType>(adaptor.getLhs().getType()).clone(IntegerType::get(context, 1)));
  return success();
}
LogicalResult CompareOp::evaluate(ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results,
                      [direction = getDirection()](double a, double b) -> double {
                        switch (direction) {
                        case Direction::eq:
                          return a == b;
                        case Direction::ne:
                          return a != b;
                        case Direction::lt:
                          return a < b;
                        case Direction::le:
                          return a <= b;
                        case Direction::gt:
                          return a > b;
                        case Direction::ge:
                          return a >= b;
                        }
                        llvm_unreachable("unknown direction");
                      });
}

/// The float (ordered but for ne), signed and unsigned forms of a comparison.
static std::tuple<arith::CmpFPredicate, arith::CmpIPredicate, arith::CmpIPredicate>
predicatesOf(Direction direction) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (direction) {
  case Direction::eq:
    return {F::OEQ, I::eq, I::eq};
  case Direction::ne:
    return {F::UNE, I::ne, I::ne};
  case Direction::lt:
    return {F::OLT, I::slt, I::ult};
  case Direction::le:
    return {F::OLE, I::sle, I::ule};
  case Direction::gt:
    return {F::OGT, I::sgt, I::ugt};
  case Direction::ge:
    return {F::OGE, I::sge, I::uge};
  }
  llvm_unreachable("unknown direction");
}

Value CompareOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  auto [asFloat, asSigned, asUnsigned] = predicatesOf(getDirection());
  Type element = getLhs().getType().getElementType();
  if (isa<FloatType>(element))
    return scalar.compare(asFloat, operands[0], operands[1]);
  return scalar.compare(isUnsignedElement(element) ? asUnsigned : asSigned, operands[0],
                        operands[1]);
}

// ---- select ----

LogicalResult SelectOp::differentiate(Gradients &gradients) {
  Tensor predicate(gradients.builder(), getLoc(), getPredicate());
  if (gradients.wants(getOnTrue()))
    gradients.add(getOnTrue(), select(predicate, predicate.wrap(gradients.of(getResult())), 0.0));
  if (gradients.wants(getOnFalse()))
    gradients.add(getOnFalse(), select(predicate, 0.0, predicate.wrap(gradients.of(getResult()))));
  return success();
}
LogicalResult SelectOp::evaluate(ArrayRef<ReferenceArray> operands,
                                 SmallVectorImpl<ReferenceArray> &results) {
  return evaluateEach(operands, results,
                      [](double predicate, double a, double b) { return predicate != 0 ? a : b; });
}
Value SelectOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  return builder.create<arith::SelectOp>(getLoc(), operands[0], operands[1], operands[2]);
}

// ---- convert ----

LogicalResult ConvertOp::differentiate(Gradients &gradients) {
  Type from = getOperand().getType().getElementType();
  if (!isa<FloatType>(from) || !isa<FloatType>(getType().getElementType()))
    return success();
  return differentiateUnary(*this, gradients,
                            [&](Tensor dy, Tensor, Tensor) { return dy.convert(from); });
}

// Floats stay unrounded, as everywhere in the reference.
LogicalResult ConvertOp::evaluate(ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  Type from = getOperand().getType().getElementType(), to = getType().getElementType();
  auto integer = dyn_cast<IntegerType>(to);
  if (!integer)
    return evaluateEach(operands, results, [](double x) { return x; });
  if (integer.getWidth() == 1 || isa<IntegerType>(from))
    return evaluateEach(operands, results, [&](double x) { return roundToElement(to, x); });

  double least = neutralValue(ReduceKind::max, to), greatest = neutralValue(ReduceKind::min, to);
  return evaluateEach(operands, results, [&](double x) {
    return std::isnan(x) ? 0.0 : std::clamp(std::trunc(x), least, greatest);
  });
}

/// Float to integer: truncates and saturates, NaN gives 0. Out of range the hardware's answer is
/// undefined, so that 0 is converted in its place.
static Value emitFloatToInteger(const ScalarBuilder &scalar, Value x, IntegerType to) {
  if (getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() < 32) // 2^32 must be representable
    x = scalar.make<arith::ExtFOp>(withElement(x.getType(), scalar.builder.getF32Type()), x);
  unsigned width = to.getWidth();
  bool isUnsigned = isUnsignedElement(to);
  Type type = withElement(x.getType(), signless(to));
  double bound = std::ldexp(1.0, static_cast<int>(width - !isUnsigned));
  APInt greatest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt least = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);

  Value zero = scalar.number(x.getType(), 0);
  Value isHigh = scalar.compare(arith::CmpFPredicate::OGE, x, scalar.number(x.getType(), bound));
  Value isLow = scalar.compare(arith::CmpFPredicate::OLE, x,
                               scalar.number(x.getType(), isUnsigned ? 0 : -bound));
  Value isNaN = scalar.compare(arith::CmpFPredicate::UNO, x, x);
  Value isOutside = scalar.make<arith::OrIOp>(scalar.make<arith::OrIOp>(isHigh, isLow), isNaN);
  Value safe = scalar.select(isOutside, zero, x);
  Value inside = isUnsigned ? scalar.make<arith::FPToUIOp>(type, safe)
                            : scalar.make<arith::FPToSIOp>(type, safe);
  Value saturated = scalar.select(isHigh, scalar.integer(type, greatest), inside);
  return scalar.select(isLow, scalar.integer(type, least), saturated);
}

static Value emitFloatToFloat(const ScalarBuilder &scalar, Value x, Type to) {
  Type from = getElementTypeOrSelf(x.getType());
  if (from == to)
    return x;
  if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth()) { // f16 and bf16
    x = scalar.make<arith::ExtFOp>(withElement(x.getType(), scalar.builder.getF32Type()), x);
    from = scalar.builder.getF32Type();
  }
  Type type = withElement(x.getType(), to);
  return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
             ? scalar.make<arith::ExtFOp>(type, x)
             : scalar.make<arith::TruncFOp>(type, x);
}

Value ConvertOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  ScalarBuilder scalar{builder, getLoc()};
  Value x = operands[0];
  Type from = getOperand().getType().getElementType(), to = getType().getElementType();
  bool fromFloat = isa<FloatType>(from), fromUnsigned = isUnsignedElement(from);
  Type type = withElement(x.getType(), signless(to));

  if (to.isInteger(1)) {
    Value zero = scalar.number(x.getType(), 0);
    return fromFloat ? scalar.compare(arith::CmpFPredicate::UNE, x, zero)
                     : scalar.compare(arith::CmpIPredicate::ne, x, zero);
  }
  if (fromFloat)
    return isa<FloatType>(to) ? emitFloatToFloat(scalar, x, to)
                              : emitFloatToInteger(scalar, x, cast<IntegerType>(to));
  if (isa<FloatType>(to))
    return fromUnsigned ? scalar.make<arith::UIToFPOp>(type, x)
                        : scalar.make<arith::SIToFPOp>(type, x);
  if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth())
    return x;
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return scalar.make<arith::TruncIOp>(type, x);
  return fromUnsigned ? scalar.make<arith::ExtUIOp>(type, x) : scalar.make<arith::ExtSIOp>(type, x);
}

// ---- bitcast ----

LogicalResult BitcastOp::verify() {
  // bitcast_c1
  Type from = getOperand().getType().getElementType(), to = getType().getElementType();
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return emitOpError("element types ") << from << " and " << to << " differ in width";
  return success();
}
LogicalResult BitcastOp::evaluate(ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  Type from = getOperand().getType().getElementType(), to = getType().getElementType();
  return evaluateEach(operands, results,
                      [&](double x) { return elementFromBits(to, elementBits(from, x)); });
}
Value BitcastOp::emitScalar(OpBuilder &builder, ValueRange operands) {
  Type type = withElement(operands[0].getType(), signless(getType().getElementType()));
  if (type == operands[0].getType())
    return operands[0];
  return builder.create<arith::BitcastOp>(getLoc(), type, operands[0]);
}
