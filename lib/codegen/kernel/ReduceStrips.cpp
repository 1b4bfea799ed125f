// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tasks of a reduction by threads: single rows, or strips of them.
#include "codegen/kernel/ThreadReduction.h"
#include "ir/prim/IndexRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Elements of a lane: more make longer code, which takes longer to compile.
static constexpr int64_t kMostElements = 16;

SmallVector<ThreadReduction::Step> ThreadReduction::stepsOfRow() {
  if (!inRegisters)
    return {};
  return stepsToEnd(0);
}

/// A task's rows, one after the other.
void ThreadReduction::emitStrip(Value task, int64_t rows, ArrayRef<unsigned> kept) {
  SmallVector<Step> steps = stepsOfRow();
  forEach(steps, [&](Step &) {
    for (Value value : shared)
      emitter.element(value, r.position);
  });
  SmallVector<Value> totals;
  forEach(steps, [&](Step &) { llvm::append_range(totals, initialOf(r.columns)); });
  Value low = b.create<arith::MulIOp>(loc, task, index.constant(share.strip));
  Value high = b.create<arith::AddIOp>(loc, low, index.constant(share.strip));
  if (rows % share.strip != 0)
    high = b.create<arith::MinUIOp>(loc, high, index.constant(rows));
  totals = forLoop(emitter, low, high, 1, totals, [&](Value row, ValueRange in) {
    setRow(emitter, r.domain, kept, row);
    columnTotals.assign(in.begin(), in.end());
    emitRow(steps);
    return columnTotals;
  });
  if (!r.columns.empty())
    storeColumns(task, rows / share.strip, steps, totals);
}

/// What was reduced of strip number `task`, of `tasks`.
void ThreadReduction::storeColumns(Value task, int64_t tasks, Steps steps, ValueRange totals) {
  auto strip = static_cast<unsigned>(r.position.size());
  index.setDim(strip, task, tasks);
  AffineExpr element = getAffineConstantExpr(0, b.getContext());
  for (unsigned dim : reduced)
    element = element * r.domain.extents[dim] + index.dim(dim);
  forEach(steps, [&](Step &step) {
    onlyWhere(step.inRow, [&] {
      for (auto [i, output] : llvm::enumerate(r.outputs)) {
        if (!output.column)
          continue;
        auto reduction = output.value.getDefiningOp<prim::ReduceOp>();
        Value total = totals[llvm::find(r.columns, reduction) - r.columns.begin()];
        emitter.store(static_cast<unsigned>(i), {index.dim(strip), element},
                      emitter.convertFloat(total, Reductions::elementOf(reduction)));
      }
    });
    totals = totals.drop_front(r.columns.size());
  });
}

/// Whether something is read of which the elements of a result are neighbours, and those of
/// neighbouring results are not.
bool ThreadReduction::readsTransposed() const {
  AffineMap accesses = exec::KernelOp(r.kernel).getSpecAttr().getAccesses();
  return llvm::any_of(accesses.getResults(), [&](AffineExpr access) {
    return prim::coefficientOf(access, inner).value_or(0) > 1 &&
           llvm::any_of(reduced,
                        [&](unsigned dim) { return prim::coefficientOf(access, dim) == 1; });
  });
}

/// Whether a lane should take so many neighbours along the innermost dimension at once: of narrow
/// elements, one after the other, too few bytes would be on their way.
bool ThreadReduction::takesVectors(int64_t neighbours) const {
  RowAccess access = target.getRowAccess();
  BodyEmitter::Recorder accesses = recordAccesses(
      r.kernel, r.domain, target, [&](BodyEmitter &emitter) { r.emitAll(emitter); }, inner,
      neighbours);
  return accesses.wholeVectors && accesses.narrowestBytes < access.busy &&
         accesses.widestBytes * neighbours <= access.most;
}

static constexpr int64_t kMostNeighbours = 4;

/// How many of a row that has many.
int64_t ThreadReduction::findWidth() const {
  if (!r.domain.reduced[inner])
    return 1;
  // A row of several dimensions or columns has no rest.
  bool divides = reduced.size() > 1 || !r.columns.empty();
  for (int64_t neighbours = kMostNeighbours; neighbours > 1; neighbours /= 2)
    if (!(divides && r.domain.extents[inner] % neighbours != 0) && takesVectors(neighbours))
      return neighbours;
  return 1;
}

/// How many columns.
int64_t ThreadReduction::findColumns() const {
  if (r.domain.reduced[inner])
    return 1;
  auto store = [&](BodyEmitter &emitter) {
    r.emitAll(emitter);
    r.storeKept(emitter);
  };
  for (int64_t neighbours = kMostNeighbours; neighbours > 1; neighbours /= 2)
    if (r.domain.extents[inner] % neighbours == 0 && takesVectors(neighbours) &&
        recordAccesses(r.kernel, r.domain, target, store, inner, neighbours).wholeVectors)
      return neighbours;
  return 1;
}

/// How a task is shared, and whether a row stays in registers: always, where columns are reduced.
void ThreadReduction::chooseShare(int64_t rows, int64_t columns) {
  int64_t live = countLiveRegisters(r), mostNeighbours = findWidth();
  auto setShare = [&](const ReductionShape &shape) {
    share = target.shareReduction(function, shape);
    width = mostNeighbours;
    while (width > 1 && elements < share.lanes * width)
      width /= 2;
  };
  auto keeps = [&](int64_t registers) {
    int64_t ofLane = llvm::divideCeil(elements / width, share.lanes) * width,
            rest = elements % width == 0 ? 0 : 1;
    return ofLane * laneColumns <= (laneColumns > 1 ? 2 : 1) * kMostElements &&
           (ofLane + rest) * laneColumns * registers <= target.getFreeRegisters(function);
  };
  int64_t ofStrip = live + static_cast<int64_t>(shared.size() + r.columns.size());
  if (!r.columns.empty()) {
    setShare({rows, columns, elements, r.stripRows, ofStrip});
    inRegisters = true;
    return;
  }
  if (!shared.empty() && r.domain.reduced[inner]) {
    setShare({rows, columns, elements, /*strip=*/0});
    inRegisters = keeps(ofStrip);
    if (inRegisters)
      return;
  }
  setShare({.rows = rows,
            .columns = columns,
            .elements = elements,
            .transposed = columns > 1 && readsTransposed()});
  inRegisters = keeps(live);
}

KernelFunction ThreadReduction::emit() {
  const Domain &domain = r.domain;
  SmallVector<unsigned> kept;
  laneColumns = findColumns();
  index.setVector(inner, laneColumns);
  int64_t rows = 1, columns = domain.reduced[inner] ? 1 : domain.extents[inner] / laneColumns;
  for (unsigned i = 0; i < r.position.size(); ++i) {
    index.setDim(i, index.constant(0), domain.extents[i]);
    if (domain.reduced[i] || domain.extents[i] == 1 || i == inner)
      continue;
    kept.push_back(i);
    rows *= domain.extents[i];
  }
  chooseShare(rows, columns);
  index.setShortArithmetic(inRegisters && share.strip == 1); // no loop in which addresses advance
  if (share.strip > 1) {
    int64_t tasks = llvm::divideCeil(rows, share.strip);
    tasks = forEachRow(emitter, function, tasks, elements * share.strip,
                       [&](Value task) { emitStrip(task, rows, kept); });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  int64_t blocks = llvm::divideCeil(columns, share.columns);
  int64_t tasks =
      forEachRow(emitter, function, rows * blocks, elements * share.columns, [&](Value row) {
        auto [keptRow, block] = index.divide(row, blocks, rows * blocks);
        setRow(emitter, domain, kept, keptRow);
        if (columns > 1) {
          Value first = b.create<arith::MulIOp>(loc, block, index.constant(share.columns));
          Value column = b.create<arith::AddIOp>(loc, first, target.getColumn(b, function));
          if (columns % share.columns != 0) {
            Value last = index.constant(columns - 1);
            hasResult = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, column, last);
            column = b.create<arith::MinUIOp>(loc, column, last);
          }
          if (laneColumns > 1)
            column = b.create<arith::MulIOp>(loc, column, index.constant(laneColumns));
          index.setDim(inner, column, domain.extents[inner]);
        }
        SmallVector<Step> steps = stepsOfRow();
        emitRow(steps);
      });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}

KernelFunction codegen::reduceByThreads(const Reductions &reductions, func::FuncOp function,
                                        const KernelTarget &target, ErrorTable &errors) {
  return ThreadReduction(reductions, function, target, errors).emit();
}
