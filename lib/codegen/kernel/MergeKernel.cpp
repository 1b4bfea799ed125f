// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges sorted runs: every element of the result finds by itself how many elements of the two runs
// go before it, by a binary search along its diagonal of the merge matrix (Green, Odeh, Birk,
// "Merge Path", 2012). Work grows with the logarithm of a run's length, and no element waits for
// another.
#include "codegen/kernel/Sort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

class Merge {
public:
  Merge(BodyEmitter &emitter, prim::MergeOp op, ArrayRef<AffineExpr> row)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        op(op), row(row), along(static_cast<size_t>(op.getDimension())),
        extent(op.getOperand().getType().getShape()[along]),
        run(static_cast<int64_t>(op.getRun())) {}

  /// The element of the row that comes to place `at`.
  void emit(Value at, ValueRange results);

private:
  Value elementAt(Value at) {
    SmallVector<AffineExpr> position(row);
    position[along] = index.addSymbol(at, extent);
    return emitter.element(op.getOperand(), position);
  }
  Value number(int64_t n) { return index.constant(n); }
  Value add(Value a, Value c) { return b.create<arith::AddIOp>(loc, a, c); }
  Value subtract(Value a, Value c) { return b.create<arith::SubIOp>(loc, a, c); }
  Value least(Value a, Value c) { return b.create<arith::MinSIOp>(loc, a, c); }
  Value isLess(Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, c);
  }
  Value select(Value condition, Value a, Value c) {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  }

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  prim::MergeOp op;
  ArrayRef<AffineExpr> row;
  size_t along;
  int64_t extent, run;
};

void Merge::emit(Value at, ValueRange results) {
  Value first = number(0), before = at; // elements of the two runs that go before it
  if (2 * run < extent) {
    before = index.divide(at, 2 * run, extent).second;
    first = subtract(at, before);
  }
  Value second = least(add(first, number(run)), number(extent));
  Value end = least(add(first, number(2 * run)), number(extent));
  Value none = number(0), inFirst = subtract(second, first), inSecond = subtract(end, second);
  // Of those before it between `low` and `high` are of the first run: as long as the last of them
  // does not go after what would be taken of the second instead.
  Value low = b.create<arith::MaxSIOp>(loc, none, subtract(before, inSecond));
  unsigned steps = llvm::Log2_64_Ceil(static_cast<uint64_t>(std::min(run, extent))) + 1;
  SmallVector<Value> taken = forLoop(
      emitter, none, number(steps), 1, {low, least(before, inFirst)},
      [&](Value, ValueRange range) -> SmallVector<Value> {
        Value lower = range[0], upper = range[1];
        Value middle = b.create<arith::ShRUIOp>(loc, add(lower, upper), number(1));
        Value ofFirst = elementAt(add(first, middle));
        Value ofSecond = elementAt(subtract(add(second, subtract(before, middle)), number(1)));
        Value goesAfter = op.emitPrecedes(b, ofSecond, ofFirst), open = isLess(lower, upper);
        Value isTaken = select(goesAfter, lower, add(middle, number(1)));
        return {select(open, isTaken, lower),
                select(b.create<arith::AndIOp>(loc, open, goesAfter), middle, upper)};
      });
  Value placeInFirst = add(first, taken[0]),
        placeInSecond = add(second, subtract(before, taken[0]));
  // Behind the end of the row there is a place of the second run alone, which then is not taken.
  Value ofFirst = elementAt(placeInFirst),
        ofSecond = elementAt(least(placeInSecond, number(extent - 1)));
  Value isSecond = b.create<arith::OrIOp>(
      loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, placeInFirst, second),
      b.create<arith::AndIOp>(loc, isLess(placeInSecond, end),
                              op.emitPrecedes(b, ofSecond, ofFirst)));
  SmallVector<AffineExpr> to(row);
  to[along] = index.addSymbol(at, extent);
  for (auto [output, result] : llvm::enumerate(results))
    emitter.store(static_cast<unsigned>(output), to,
                  result == op.getValues() ? select(isSecond, ofSecond, ofFirst)
                                           : select(isSecond, placeInSecond, placeInFirst));
}

} // namespace

void codegen::emitMerge(BodyEmitter &emitter, prim::MergeOp op, ValueRange results,
                        ArrayRef<AffineExpr> row, Value at) {
  Merge(emitter, op, row).emit(at, results);
}
