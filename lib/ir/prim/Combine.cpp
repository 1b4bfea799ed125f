// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace accc::prim;

TypedAttr accc::prim::neutralElement(ReduceKind kind, Type elementType, bool isUnsigned) {
  if (auto type = dyn_cast<FloatType>(elementType)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    if (kind == ReduceKind::max || kind == ReduceKind::min)
      return FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/kind == ReduceKind::max));
    return FloatAttr::get(type, kind == ReduceKind::prod ? 1.0 : 0.0);
  }
  unsigned width = elementType.getIntOrFloatBitWidth();
  isUnsigned |= elementType.isUnsignedInteger();
  APInt value(width, 0);
  if (kind == ReduceKind::prod || kind == ReduceKind::all)
    value = APInt(width, 1);
  else if (kind == ReduceKind::max)
    value = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  else if (kind == ReduceKind::min)
    value = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(elementType, value);
}

double accc::prim::neutralValue(ReduceKind kind, Type elementType) {
  TypedAttr value = neutralElement(kind, elementType, elementType.isUnsignedInteger());
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  bool readSigned = !elementType.isUnsignedInteger() && !elementType.isInteger(1);
  // To nearest, the greatest integer of 64 bits would become one beyond its type.
  APFloat number(APFloat::IEEEdouble());
  number.convertFromAPInt(cast<IntegerAttr>(value).getValue(), readSigned, APFloat::rmTowardZero);
  return number.convertToDouble();
}

Value accc::prim::emitCombiner(OpBuilder &builder, Location loc, ReduceKind kind, bool isUnsigned,
                               Value a, Value b) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case ReduceKind::sum:
    return isFloat ? Value(builder.create<arith::AddFOp>(loc, a, b))
                   : Value(builder.create<arith::AddIOp>(loc, a, b));
  case ReduceKind::prod:
    return isFloat ? Value(builder.create<arith::MulFOp>(loc, a, b))
                   : Value(builder.create<arith::MulIOp>(loc, a, b));
  case ReduceKind::max:
    if (isFloat)
      return builder.create<arith::MaximumFOp>(loc, a, b);
    return isUnsigned ? Value(builder.create<arith::MaxUIOp>(loc, a, b))
                      : Value(builder.create<arith::MaxSIOp>(loc, a, b));
  case ReduceKind::min:
    if (isFloat)
      return builder.create<arith::MinimumFOp>(loc, a, b);
    return isUnsigned ? Value(builder.create<arith::MinUIOp>(loc, a, b))
                      : Value(builder.create<arith::MinSIOp>(loc, a, b));
  case ReduceKind::all:
    return builder.create<arith::AndIOp>(loc, a, b);
  case ReduceKind::any:
    return builder.create<arith::OrIOp>(loc, a, b);
  }
  llvm_unreachable("unknown kind");
}

Value accc::prim::convertFloat(OpBuilder &builder, Location loc, Value value, Type to) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == to)
    return value;
  Type type = to;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(to);
  return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
             ? Value(builder.create<arith::ExtFOp>(loc, type, value))
             : Value(builder.create<arith::TruncFOp>(loc, type, value));
}

TypedAttr accc::prim::ElementOrder::last(Type elementType, bool isUnsigned) const {
  if (auto type = dyn_cast<FloatType>(elementType); type && !nanFirst)
    return FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics()));
  return neutralElement(descending ? ReduceKind::max : ReduceKind::min, elementType, isUnsigned);
}

Value accc::prim::ElementOrder::emitPrecedes(OpBuilder &builder, Location loc, bool isUnsigned,
                                             Value a, Value b) const {
  if (!isa<FloatType>(getElementTypeOrSelf(a.getType()))) {
    using I = arith::CmpIPredicate;
    I predicate = isUnsigned ? (descending ? I::ugt : I::ult) : (descending ? I::sgt : I::slt);
    return builder.create<arith::CmpIOp>(loc, predicate, a, b);
  }
  // Greater (less), or one of the two is NaN: then the one that has to go last decides.
  using F = arith::CmpFPredicate;
  Value apart = builder.create<arith::CmpFOp>(loc, descending ? F::UGT : F::ULT, a, b);
  Value last = nanFirst ? b : a;
  Value isNumber = builder.create<arith::CmpFOp>(loc, F::ORD, last, last);
  return builder.create<arith::AndIOp>(loc, apart, isNumber);
}
