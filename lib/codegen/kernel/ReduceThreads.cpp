// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes over a row.
#include "codegen/kernel/ThreadReduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Steps of a loop's body: loads that are on their way at the same time.
static constexpr int64_t kLoopSteps = 4;
/// Turns of a loop, of kLoopSteps terms each, that are a total of their own (ReductionLoops.h)
/// where there are many more.
static constexpr int64_t kCascadeTurns = 64;

/// `count` steps from element `first` of the row on.
SmallVector<ThreadReduction::Step> ThreadReduction::stepsFrom(Value first, int64_t count,
                                                              bool allInRow) {
  SmallVector<Step> steps(count);
  for (auto [k, step] : llvm::enumerate(steps)) {
    BodyEmitter::Scope scope(emitter, &step.memory);
    Value offset = index.constant(static_cast<int64_t>(k) * share.lanes);
    Value element = b.create<arith::AddIOp>(loc, first, offset);
    if (!allInRow && k + 1 == steps.size()) {
      Value last = index.constant(elements - 1);
      step.inRow = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, element, last);
      element = b.create<arith::MinUIOp>(loc, element, last);
    }
    setRow(emitter, r.domain, reduced, element);
    for (unsigned dim : reduced)
      step.at.push_back(index.evaluate(index.dim(dim)).base);
  }
  return steps;
}

void ThreadReduction::forEach(Steps steps, function_ref<void(Step &)> body) {
  for (Step &step : steps) {
    BodyEmitter::Scope scope(emitter, &step.memory);
    for (auto [dim, value] : llvm::zip(reduced, step.at))
      index.setDim(dim, value, r.domain.extents[dim]);
    body(step);
  }
}

/// Walks the thread's part of the row, some steps at a time. `body` gets and returns the carried
/// values. With `combine`, which combines two of what is carried, a long row is a cascade;
/// `carried` is the neutral element then.
SmallVector<Value> ThreadReduction::overRow(ValueRange carried, Body body, Combine combine) {
  if (inRegisters)
    return body(carried, rowSteps);
  int64_t together = kLoopSteps * share.lanes, loops = elements / together,
          rest = elements - loops * together;
  Value lane = target.getShare(b, function);
  Value start = index.constant(0), end = index.constant(loops * together);
  auto turns = [&](Value low, Value high, ValueRange from) {
    return forLoop(emitter, low, high, together, from, [&](Value i, ValueRange in) {
      Value first = b.create<arith::AddIOp>(loc, i, lane);
      SmallVector<Step> steps = stepsFrom(first, kLoopSteps, /*allInRow=*/true);
      return body(in, steps);
    });
  };
  SmallVector<Value> values;
  if (combine && loops > 2 * kCascadeTurns) {
    int64_t block = kCascadeTurns * together;
    values = forLoop(emitter, start, end, block, carried, [&](Value low, ValueRange in) {
      Value high = b.create<arith::AddIOp>(loc, low, index.constant(block));
      return combine(in, turns(low, b.create<arith::MinUIOp>(loc, high, end), carried));
    });
  } else {
    values = turns(start, end, carried);
  }
  if (rest == 0)
    return values;
  BodyEmitter::Scope scope(emitter);
  Value first = b.create<arith::AddIOp>(loc, end, lane);
  SmallVector<Step> steps =
      stepsFrom(first, llvm::divideCeil(rest, share.lanes), rest % share.lanes == 0);
  return body(values, steps);
}

void ThreadReduction::onlyWhere(Value condition, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  BodyEmitter::Scope scope(emitter);
  if (condition)
    b.setInsertionPointToStart(
        b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false).thenBlock());
  body();
}

/// Everything is computed before the first is stored, so that no load waits behind a store.
void ThreadReduction::storeFull(Steps steps, size_t depth) {
  if (!r.hasFullOutput(depth))
    return;
  forEach(steps, [&](Step &) { r.computeFull(emitter, depth); });
  forEach(steps, [&](Step &step) {
    Value stores = step.inRow;
    if (hasResult)
      stores = stores ? b.create<arith::AndIOp>(loc, stores, hasResult) : hasResult;
    onlyWhere(stores, [&] { r.storeFull(emitter, depth); });
  });
}

/// Adds what the steps have to the thread's totals.
void ThreadReduction::combine(Steps steps, ArrayRef<prim::ReduceOp> reductions,
                              MutableArrayRef<Value> totals) {
  forEach(steps, [&](Step &step) {
    for (auto [reduction, total] : llvm::zip(reductions, totals)) {
      Value x = r.operandOf(emitter, reduction);
      if (step.inRow)
        x = b.create<arith::SelectOp>(loc, step.inRow, x,
                                      Reductions::initialOf(emitter, reduction));
      total = Reductions::combine(emitter, reduction, total, x);
    }
  });
}

Value ThreadReduction::combineLanes(prim::ReduceOp reduction, Value total) {
  return target.combineLanes(emitter, total, [&](Value a, Value c) {
    return Reductions::combine(emitter, reduction, a, c);
  });
}

SmallVector<Value> ThreadReduction::initialOf(ArrayRef<prim::ReduceOp> reductions) {
  SmallVector<Value> initial;
  for (prim::ReduceOp reduction : reductions)
    initial.push_back(Reductions::initialOf(emitter, reduction));
  return initial;
}

/// One pass: the reductions of a level, and the full outputs that need only the levels before it.
void ThreadReduction::emitLevel(size_t level) {
  ArrayRef<prim::ReduceOp> reductions = r.levels[level];
  auto body = [&](ValueRange in, Steps steps) {
    SmallVector<Value> out(in);
    combine(steps, reductions, out);
    storeFull(steps, level);
    return out;
  };
  auto combineTotals = [&](ValueRange left, ValueRange right) {
    SmallVector<Value> out;
    for (auto [reduction, a, c] : llvm::zip_equal(reductions, left, right))
      out.push_back(Reductions::combine(emitter, reduction, a, c));
    return out;
  };
  SmallVector<Value> totals = overRow(initialOf(reductions), body, combineTotals);
  for (auto [reduction, total] : llvm::zip(reductions, totals))
    r.bind(emitter, reduction, combineLanes(reduction, total));
}

/// Two levels in one pass: the second sums exponentials of differences from maxima of the first.
/// A sum is that of differences from the maximum so far; where this grows the sum shrinks.
void ThreadReduction::emitOnline(size_t level, ArrayRef<OnlineSum> sums) {
  ArrayRef<prim::ReduceOp> reductions = r.levels[level], second = r.levels[level + 1];
  size_t n = reductions.size();
  SmallVector<Value> initial = initialOf(reductions);
  initial.append(initialOf(second));
  // What is subtracted: nothing has been summed where the maximum is -inf still, and 0 in its place
  // keeps -inf - -inf out of the sum.
  auto subtracted = [&](OnlineSum sum, Value maximum) -> Value {
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(maximum.getType()));
    Value none =
        b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, maximum, initial[sum.maximum]);
    return b.create<arith::SelectOp>(loc, none, zero, maximum);
  };
  auto rescale = [&](OnlineSum sum, Value total, Value from, Value to) -> Value {
    Value difference = b.create<arith::SubFOp>(loc, from, to);
    return b.create<arith::MulFOp>(loc, total, sum.exp.emitScalar(b, difference));
  };
  SmallVector<Value> totals = overRow(initial, [&](ValueRange in, Steps steps) {
    SmallVector<Value> out(in);
    MutableArrayRef<Value> all(out);
    combine(steps, reductions, all.take_front(n));
    storeFull(steps, level);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value to = subtracted(sum, out[sum.maximum]);
      r.bind(emitter, reductions[sum.maximum], to);
      out[n + i] = rescale(sum, out[n + i], in[sum.maximum], to);
    }
    combine(steps, second, all.drop_front(n));
    return out;
  });
  SmallVector<Value> own(totals);
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    totals[i] = combineLanes(reduction, totals[i]);
    r.bind(emitter, reduction, totals[i]);
  }
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value maximum = totals[sum.maximum];
    Value total = rescale(sum, totals[n + i], own[sum.maximum], subtracted(sum, maximum));
    total = combineLanes(second[i], total);
    if (!sum.isGuarded) { // NaN where the maximum is infinite, as each of the differences is
      Value nothing = b.create<arith::SubFOp>(loc, maximum, maximum);
      total = b.create<arith::AddFOp>(loc, total, nothing);
    }
    r.bind(emitter, second[i], total);
  }
}

void ThreadReduction::emitOutputs() {
  if (r.hasFullOutput(r.levels.size()))
    overRow({}, [&](ValueRange, Steps steps) {
      storeFull(steps, r.levels.size());
      return SmallVector<Value>();
    });
  target.onOneLane(emitter, [&] { onlyWhere(hasResult, [&] { r.storeKept(emitter); }); });
}

/// `start`: the steps of a row that stays in registers, with what is known of them before the row.
void ThreadReduction::emitRow(Steps start) {
  emitter.unbindAll();
  rowSteps.assign(start.begin(), start.end());
  for (size_t level = 0; level < r.levels.size(); ++level) {
    SmallVector<OnlineSum> sums;
    if (!inRegisters)
      sums = findOnlineSums(r, level);
    if (sums.empty()) {
      emitLevel(level);
      continue;
    }
    emitOnline(level, sums);
    ++level;
  }
  MutableArrayRef<Value> totals(columnTotals);
  for (size_t k = 0; k * r.columns.size() < totals.size(); ++k)
    combine(Steps(rowSteps).slice(k, 1), r.columns,
            totals.slice(k * r.columns.size(), r.columns.size()));
  emitOutputs();
}
