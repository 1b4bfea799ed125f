// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates whose indices are sorted.
#include "codegen/kernel/ThreadScatter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Of sorted indices those at both ends are in range if all are.
void ThreadScatter::checkEnds(Value task) {
  if (!sorted)
    return;
  branch(emitter, compare(arith::CmpIPredicate::eq, task, index.constant(0)), [&] {
    for (int64_t end : {int64_t(0), indexCount - 1}) {
      BodyEmitter::Scope scope(emitter);
      readIndex(index.constant(end), index.constant(0));
    }
  });
}

/// How many of the sorted indices are below `row`, which are at least `low` and at most `high`. All
/// lanes take as many steps.
Value ThreadScatter::countBelow(Value row, Value low, Value high) {
  Value bits = b.create<math::CountLeadingZerosOp>(loc, subtract(high, low));
  return forLoop(emitter, index.constant(0), subtract(index.constant(64), bits), 1, {low, high},
                 [&](Value, ValueRange range) -> SmallVector<Value> {
                   Value low = range[0], high = range[1];
                   Value middle = b.create<arith::ShRUIOp>(loc, add(low, high), index.constant(1));
                   Value at = b.create<arith::MinUIOp>(loc, middle, index.constant(indexCount - 1));
                   Value isBelow = compare(arith::CmpIPredicate::slt, loadIndex(at), row);
                   Value open = compare(arith::CmpIPredicate::slt, low, high);
                   Value up =
                       b.create<arith::SelectOp>(loc, isBelow, add(middle, index.constant(1)), low);
                   Value down = b.create<arith::SelectOp>(loc, isBelow, high, middle);
                   return {b.create<arith::SelectOp>(loc, open, up, low),
                           b.create<arith::SelectOp>(loc, open, down, high)};
                 })
      .front();
}

/// `total` with the updates of the sorted indices [first, end), all of one row, applied. Some are
/// read at a time.
Value ThreadScatter::apply(Value total, Value first, Value end) {
  constexpr int64_t kTogether = 2;
  auto loop = [&](Value from, Value to, int64_t step, Value before) {
    return forLoop(emitter, from, to, step, before,
                   [&](Value at, ValueRange in) -> SmallVector<Value> {
                     SmallVector<Value> updates;
                     for (int64_t i = 0; i < step; ++i)
                       updates.push_back(updateOf(add(at, index.constant(i))));
                     return {combine(in.front(), updates)};
                   })
        .front();
  };
  Value rest = b.create<arith::AndIOp>(loc, subtract(end, first), index.constant(kTogether - 1));
  Value middle = subtract(end, rest);
  return loop(middle, end, 1, loop(first, middle, kTogether, total));
}

void ThreadScatter::emitSortedRows(Value task, ScatterShare share) {
  Piece piece = enter(task, share);
  auto [firstRow, endRow, firstColumn, endColumn] = piece;
  Value lane = target.getLane(b, function), own = add(firstRow, lane);
  Value isFirst = compare(arith::CmpIPredicate::eq, lane, index.constant(0));
  Value edge = countBelow(b.create<arith::SelectOp>(loc, isFirst, firstRow, endRow));
  Value low = target.getFromLane(emitter, edge, index.constant(0));
  Value high = target.getFromLane(emitter, edge, index.constant(1));
  Value start = share.rows > 1 ? countBelow(least(own, endRow), low, high) : low;
  // Where the updates of the task's row of that number end.
  auto endOfRow = [&](Value number) -> Value {
    if (share.rows == 1)
      return high;
    Value next = add(number, index.constant(1)), last = index.constant(share.rows - 1);
    Value ofNext = target.getFromLane(emitter, start, least(next, last));
    return b.create<arith::SelectOp>(loc, compare(arith::CmpIPredicate::ult, number, last), ofNext,
                                     high);
  };
  // A single column: each lane has a row.
  if (columns == 1) {
    Value end = endOfRow(lane);
    return branch(emitter, compare(arith::CmpIPredicate::ult, own, endRow), [&] {
      forEachData(Row{own, nullptr},
                  [&](size_t, Value data) { emitter.store(0, element, apply(data, start, end)); });
    });
  }
  forRowsTogether(piece, share, [&](ArrayRef<Row> rows) {
    SmallVector<Value> firsts, ends; // of each row's updates
    for (Row row : rows) {
      Value number = subtract(row.number, firstRow);
      firsts.push_back(share.rows > 1 ? target.getFromLane(emitter, start, number) : low);
      ends.push_back(endOfRow(number));
    }
    target.loopOverLanes(emitter, flat, columns, firstColumn, endColumn, /*exact=*/false, {},
                         [&](ValueRange, Value) {
                           set(inner, index.evaluate(index.dim(flat)).base);
                           forEachData(rows, [&](size_t i, Value data) {
                             emitter.store(0, element, apply(data, firsts[i], ends[i]));
                           });
                           return SmallVector<Value>();
                         });
  });
}
