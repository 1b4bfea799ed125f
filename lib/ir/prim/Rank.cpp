// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Rank.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;

/// Greater for greater elements, as an unsigned number of 32 bits; NaN is the greatest.
static Value ascendingRank(OpBuilder &b, Location loc, bool isUnsigned, Value x) {
  Type i32 = b.getI32Type();
  auto number = [&](uint32_t n) -> Value {
    return b.create<arith::ConstantOp>(loc, IntegerAttr::get(i32, static_cast<int32_t>(n)));
  };
  auto select = [&](Value condition, Value a, Value c) -> Value {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  };
  constexpr uint32_t kSign = 0x80000000, kAll = 0xffffffff;
  bool isNarrow = x.getType().getIntOrFloatBitWidth() < 32;
  if (!isa<FloatType>(x.getType())) {
    if (isNarrow)
      x = isUnsigned ? Value(b.create<arith::ExtUIOp>(loc, i32, x))
                     : Value(b.create<arith::ExtSIOp>(loc, i32, x));
    return isUnsigned ? x : Value(b.create<arith::XOrIOp>(loc, x, number(kSign)));
  }
  if (isNarrow)
    x = b.create<arith::ExtFOp>(loc, b.getF32Type(), x);
  // Zeros of both signs are equal. Of numbers below zero those with greater bits are less.
  Value zero = b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0));
  Value isZero = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, x, zero);
  Value isNaN = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, x, x);
  Value bits = b.create<arith::BitcastOp>(loc, i32, select(isZero, zero, x));
  Value isBelow = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, bits, number(0));
  Value rank = b.create<arith::XOrIOp>(loc, bits, select(isBelow, number(kAll), number(kSign)));
  return select(isNaN, number(kAll), rank);
}

Value prim::emitRank(OpBuilder &b, SortOp sort, Value x) {
  Location loc = sort.getLoc();
  bool isUnsigned = getElementTypeOrSelf(sort.getOperand()).isUnsignedInteger();
  Value rank = b.create<arith::ExtUIOp>(loc, b.getI64Type(), ascendingRank(b, loc, isUnsigned, x));
  if (!sort.getDescending())
    return rank;
  Value most = b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(0xffffffff));
  return b.create<arith::SubIOp>(loc, most, rank);
}
