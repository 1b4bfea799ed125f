// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Rank.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;

unsigned prim::rankBits(Type element) { return element.getIntOrFloatBitWidth() <= 32 ? 32 : 64; }

/// Greater for greater elements, as a number without a sign; NaN is the greatest.
static Value ascendingRank(OpBuilder &b, Location loc, bool isUnsigned, Value x) {
  Type element = x.getType();
  unsigned bits = prim::rankBits(element);
  Type rankType = b.getIntegerType(bits);
  auto number = [&](const APInt &n) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(rankType, n));
  };
  Value sign = number(APInt::getSignMask(bits));
  bool isNarrow = element.getIntOrFloatBitWidth() < bits;
  if (!isa<FloatType>(element)) {
    if (isNarrow)
      x = isUnsigned ? Value(b.create<arith::ExtUIOp>(loc, rankType, x))
                     : Value(b.create<arith::ExtSIOp>(loc, rankType, x));
    return isUnsigned ? x : Value(b.create<arith::XOrIOp>(loc, x, sign));
  }
  if (isNarrow)
    x = b.create<arith::ExtFOp>(loc, b.getF32Type(), x);
  Value isNaN = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, x, x);
  // Zeros of both signs are equal: -0 + 0 is 0. Of numbers below zero those with greater bits are
  // less: all of theirs are turned, of others the sign. By its copies, for a select would become a
  // branch that nobody can predict.
  Value zero = b.create<arith::ConstantOp>(loc, b.getFloatAttr(x.getType(), 0));
  Value pattern = b.create<arith::BitcastOp>(loc, rankType, b.create<arith::AddFOp>(loc, x, zero));
  Value signs = b.create<arith::ShRSIOp>(loc, pattern, number(APInt(bits, bits - 1)));
  Value turned = b.create<arith::OrIOp>(loc, signs, sign);
  Value all = number(APInt::getAllOnes(bits));
  return b.create<arith::SelectOp>(loc, isNaN, all, b.create<arith::XOrIOp>(loc, pattern, turned));
}

Value prim::emitRank(OpBuilder &b, SortOp sort, Value x) {
  Location loc = sort.getLoc();
  bool isUnsigned = getElementTypeOrSelf(sort.getOperand()).isUnsignedInteger();
  Value rank = ascendingRank(b, loc, isUnsigned, x);
  if (sort.getDescending()) { // the same from the other end
    Value all = b.create<arith::ConstantOp>(
        loc, b.getIntegerAttr(rank.getType(), APInt::getAllOnes(rankBits(x.getType()))));
    rank = b.create<arith::XOrIOp>(loc, rank, all);
  }
  return rank.getType().isInteger(64) ? rank
                                      : Value(b.create<arith::ExtUIOp>(loc, b.getI64Type(), rank));
}
