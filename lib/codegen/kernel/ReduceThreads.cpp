// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes over a row.
#include "codegen/kernel/ThreadReduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Steps of a loop's body: loads that are on their way at the same time.
static constexpr int64_t kLoopSteps = 4;
/// Turns of a loop, of kLoopSteps terms each, that are a total of their own (ReductionLoops.h)
/// where there are many more.
static constexpr int64_t kCascadeTurns = 64;

/// The step at element `first + offset` of the row. Where that may be one that is not below `end`,
/// it is the last below.
ThreadReduction::Step ThreadReduction::makeStep(Value first, int64_t offset, int64_t neighbours,
                                                std::optional<int64_t> end) {
  Step step;
  step.width = neighbours;
  BodyEmitter::Scope scope(emitter, &step.memory);
  Value element = b.create<arith::AddIOp>(loc, first, index.constant(offset));
  if (end) {
    Value last = index.constant(*end - neighbours);
    step.inRow = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, element, last);
    element = b.create<arith::MinUIOp>(loc, element, last);
  }
  index.setVector(inner, neighbours * laneColumns);
  setRow(emitter, r.domain, reduced, element);
  for (unsigned dim : reduced)
    step.at.push_back(index.evaluate(index.dim(dim)).base);
  index.setVector(inner, laneColumns);
  return step;
}

/// Those of the thread's steps that are from element `begin` of the row on.
SmallVector<ThreadReduction::Step> ThreadReduction::stepsToEnd(int64_t begin) {
  Value lane = target.getShare(b, function);
  int64_t rest = elements % width, whole = elements - rest, together = share.lanes * width;
  SmallVector<Step> steps;
  if (begin < whole) {
    Value first = b.create<arith::AddIOp>(loc, index.constant(begin), inElements(lane));
    for (int64_t offset = 0; begin + offset < whole; offset += together) {
      bool isWhole = begin + offset + together <= whole;
      steps.push_back(
          makeStep(first, offset, width, isWhole ? std::nullopt : std::optional<int64_t>(whole)));
    }
  }
  if (rest > 0)
    steps.push_back(makeStep(lane, whole, /*neighbours=*/1, elements));
  return steps;
}

void ThreadReduction::forEach(Steps steps, function_ref<void(Step &)> body) {
  for (Step &step : steps) {
    BodyEmitter::Scope scope(emitter, &step.memory);
    index.setVector(inner, step.width * laneColumns);
    for (auto [dim, value] : llvm::zip(reduced, step.at))
      index.setDim(dim, value, r.domain.extents[dim]);
    body(step);
    index.setVector(inner, laneColumns);
  }
}

/// The first element of the lane's step, of lanes beside each other.
Value ThreadReduction::inElements(Value lane) {
  return width == 1 ? lane : Value(b.create<arith::MulIOp>(loc, lane, index.constant(width)));
}

/// Walks the thread's part of the row, some steps at a time. `body` gets and returns the carried
/// values. With `combine`, which combines two of what is carried, a long row is a cascade;
/// `carried` is the neutral element then.
SmallVector<Value> ThreadReduction::overRow(ValueRange carried, Body body, Combine combine) {
  if (inRegisters)
    return body(carried, rowSteps);
  // As many loads are on their way where a step has one for each row.
  auto ofRows = static_cast<int64_t>(together.size());
  int64_t count = std::clamp(2 * kLoopSteps / ofRows, kLoopSteps / 2, kLoopSteps);
  int64_t apart = share.lanes * width, atOnce = count * apart, loops = elements / atOnce;
  Value lane = inElements(target.getShare(b, function));
  Value start = index.constant(0), end = index.constant(loops * atOnce);
  auto turns = [&](Value low, Value high, ValueRange from) {
    return forLoop(emitter, low, high, atOnce, from, [&](Value i, ValueRange in) {
      Value first = b.create<arith::AddIOp>(loc, i, lane);
      SmallVector<Step> steps;
      for (int64_t k = 0; k < count; ++k)
        steps.push_back(makeStep(first, k * apart, width));
      return body(in, steps);
    });
  };
  SmallVector<Value> values;
  if (combine && loops > 2 * kCascadeTurns) {
    int64_t block = kCascadeTurns * atOnce;
    values = forLoop(emitter, start, end, block, carried, [&](Value low, ValueRange in) {
      Value high = b.create<arith::AddIOp>(loc, low, index.constant(block));
      return combine(in, turns(low, b.create<arith::MinUIOp>(loc, high, end), carried));
    });
  } else {
    values = turns(start, end, carried);
  }
  if (loops * atOnce == elements)
    return values;
  BodyEmitter::Scope scope(emitter);
  SmallVector<Step> steps = stepsToEnd(loops * atOnce);
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

/// The neighbours of a vector combined, as a tree.
Value ThreadReduction::combineNeighbours(prim::ReduceOp reduction, Value vector) {
  SmallVector<Value> values;
  for (int64_t i = 0; i < index.width(); ++i)
    values.push_back(b.create<vector::ExtractOp>(loc, vector, ArrayRef<int64_t>{i}));
  while (values.size() > 1) {
    size_t half = values.size() / 2;
    for (size_t i = 0; i < half; ++i)
      values[i] = Reductions::combine(emitter, reduction, values[i], values[i + half]);
    values.truncate(half);
  }
  return values.front();
}

/// Adds what the steps have of the row to the thread's totals: of all neighbours, or where these
/// are columns, whose totals are vectors, of each.
void ThreadReduction::combine(const Reductions &row, Steps steps,
                              ArrayRef<prim::ReduceOp> reductions, MutableArrayRef<Value> totals) {
  forEach(steps, [&](Step &step) {
    for (auto [reduction, total] : llvm::zip(reductions, totals)) {
      Value x = row.operandOf(emitter, reduction);
      Value neutral = Reductions::initialOf(emitter, reduction);
      if (isa<VectorType>(total.getType()))
        neutral = emitter.toVector(neutral);
      else if (step.width > 1)
        x = combineNeighbours(reduction, x);
      if (step.inRow)
        x = b.create<arith::SelectOp>(loc, step.inRow, x, neutral);
      total = Reductions::combine(emitter, reduction, total, x);
    }
  });
}

Value ThreadReduction::combineLanes(prim::ReduceOp reduction, Value total) {
  auto ofLanes = [&](Value value) {
    return target.combineLanes(emitter, value, [&](Value a, Value c) {
      return Reductions::combine(emitter, reduction, a, c);
    });
  };
  if (laneColumns == 1)
    return ofLanes(total);
  for (int64_t i = 0; i < laneColumns; ++i)
    total = b.create<vector::InsertOp>(loc, ofLanes(b.create<vector::ExtractOp>(loc, total, i)),
                                       total, i);
  return total;
}

SmallVector<Value> ThreadReduction::initialOf(ArrayRef<prim::ReduceOp> reductions) {
  SmallVector<Value> initial;
  for (prim::ReduceOp reduction : reductions)
    initial.push_back(emitter.toVector(Reductions::initialOf(emitter, reduction)));
  return initial;
}

/// One pass: the reductions of a level, and the full outputs that need only the levels before it.
void ThreadReduction::emitLevel(size_t level) {
  ArrayRef<prim::ReduceOp> reductions = r.levels[level];
  size_t ofRow = reductions.size();
  auto body = [&](ValueRange in, Steps steps) {
    SmallVector<Value> out(in);
    for (auto [i, row] : llvm::enumerate(together))
      combine(row, steps, reductions, MutableArrayRef<Value>(out).slice(i * ofRow, ofRow));
    storeFull(steps, level);
    return out;
  };
  auto combineTotals = [&](ValueRange left, ValueRange right) {
    SmallVector<Value> out;
    for (auto [i, a] : llvm::enumerate(left))
      out.push_back(Reductions::combine(emitter, reductions[i % ofRow], a, right[i]));
    return out;
  };
  SmallVector<Value> initial;
  for (size_t i = 0; i < together.size(); ++i)
    llvm::append_range(initial, initialOf(reductions));
  SmallVector<Value> totals = overRow(initial, body, combineTotals);
  for (auto [i, total] : llvm::enumerate(totals)) {
    prim::ReduceOp reduction = reductions[i % ofRow];
    together[i / ofRow].bind(emitter, reduction, combineLanes(reduction, total));
  }
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
    combine(r, steps, reductions, all.take_front(n));
    storeFull(steps, level);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value to = subtracted(sum, out[sum.maximum]);
      r.bind(emitter, reductions[sum.maximum], to);
      out[n + i] = rescale(sum, out[n + i], in[sum.maximum], to);
    }
    combine(r, steps, second, all.drop_front(n));
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
  auto storeRows = [&] {
    for (auto [i, row] : llvm::enumerate(together))
      onlyWhere(isOwn(i), [&] { row.storeKept(emitter); });
  };
  target.onOneLane(emitter, [&] { onlyWhere(hasResult, storeRows); });
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
    combine(r, Steps(rowSteps).slice(k, 1), r.columns,
            totals.slice(k * r.columns.size(), r.columns.size()));
  emitOutputs();
}
