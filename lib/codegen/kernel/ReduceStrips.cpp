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
void ThreadReduction::emitStrip(Value task, int64_t rows) {
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
/// More have too many totals in registers, beside what they read.
static constexpr int64_t kMostTogether = 8;

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

/// The dimension along which rows are taken together: where most of what a row reads is what its
/// neighbours read. Nothing may be read once only, for which memory is waited, whatever else is.
std::optional<unsigned> ThreadReduction::findTogether() const {
  AffineMap accesses = exec::KernelOp(r.kernel).getSpecAttr().getAccesses();
  if (r.levels.size() > 1 || !r.columns.empty() || r.hasFullOutput(0) || r.hasFullOutput(1) ||
      accesses.getNumSymbols() > 0)
    return std::nullopt;
  SmallVector<int64_t> readAgain(r.position.size(), 0);
  for (AffineExpr access : accesses.getResults()) {
    auto follows = [&](unsigned dim) { return prim::coefficientOf(access, dim) != 0; };
    bool variesInRow = llvm::any_of(reduced, follows);
    if (llvm::all_of(reduced, follows) && llvm::all_of(kept, follows) && follows(inner))
      return std::nullopt;
    for (unsigned dim : kept)
      readAgain[dim] += variesInRow && !follows(dim);
  }
  const int64_t *most = llvm::max_element(readAgain);
  if (*most == 0)
    return std::nullopt;
  return static_cast<unsigned>(most - readAgain.begin());
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
  auto keeps = [&](int64_t registers, int64_t ofRows = 1) {
    int64_t ofLane = llvm::divideCeil(elements / width, share.lanes) * width,
            rest = elements % width == 0 ? 0 : 1, results = laneColumns * ofRows;
    return ofLane * results <= (results > 1 ? 2 : 1) * kMostElements &&
           (ofLane + rest) * results * registers <= target.getFreeRegisters(function);
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
  ReductionShape shape{.rows = rows,
                       .columns = columns,
                       .elements = elements,
                       .transposed = columns > 1 && readsTransposed()};
  if (std::optional<unsigned> dim = findTogether()) {
    sharing = *dim;
    int64_t extent = r.domain.extents[sharing];
    // No task may write over what another one reads of a row that both have.
    bool mayOverlap = exec::KernelOp(r.kernel).getSpecAttr().getInPlace().empty();
    for (int64_t count = kMostTogether; count > 1; count /= 2) {
      if (extent < count || (extent % count != 0 && !mayOverlap))
        continue;
      shape.rows = rows / extent * static_cast<int64_t>(llvm::divideCeil(extent, count));
      shape.together = count;
      setShare(shape);
      int64_t tasks = shape.rows * static_cast<int64_t>(llvm::divideCeil(columns, share.columns));
      if (tasks < target.getBusyTasks(function))
        continue;
      for (int64_t i = 1; i < count; ++i)
        together.push_back(r.movedBy(sharing, i));
      inRegisters = keeps(live, count);
      return;
    }
    shape.rows = rows;
    shape.together = 1;
  }
  setShare(shape);
  inRegisters = keeps(live);
}

/// Goes to the rows of a task. The last ones of a dimension that is no multiple of so many are
/// those that end with it, of which some are other tasks' as well.
void ThreadReduction::setRows(const Domain &tasks, Value row) {
  setRow(emitter, tasks, kept, row);
  auto count = static_cast<int64_t>(together.size());
  if (count == 1)
    return;
  int64_t extent = r.domain.extents[sharing];
  Value first;
  {
    BodyEmitter::Scope scope(emitter); // the dimension gets another value
    Value tile = index.evaluate(index.dim(sharing)).base;
    first = b.create<arith::MulIOp>(loc, tile, index.constant(count));
  }
  if (extent % count != 0) {
    own = first;
    first = b.create<arith::MinUIOp>(loc, first, index.constant(extent - count));
  }
  index.setDim(sharing, first, extent - count + 1);
}

/// Whether a row of the task is no other's; null where that is known.
Value ThreadReduction::isOwn(size_t number) {
  if (!own)
    return nullptr;
  Value row = index.evaluate(index.dim(sharing) + static_cast<int64_t>(number)).base;
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, row, own);
}

KernelFunction ThreadReduction::emit() {
  const Domain &domain = r.domain;
  laneColumns = findColumns();
  index.setVector(inner, laneColumns);
  int64_t rows = 1, columns = domain.reduced[inner] ? 1 : domain.extents[inner] / laneColumns;
  for (unsigned i = 0; i < r.position.size(); ++i)
    index.setDim(i, index.constant(0), domain.extents[i]);
  for (unsigned dim : kept)
    rows *= domain.extents[dim];
  chooseShare(rows, columns);
  index.setShortArithmetic(inRegisters && share.strip == 1); // no loop in which addresses advance
  if (share.strip > 1) {
    int64_t tasks = llvm::divideCeil(rows, share.strip);
    tasks = forEachRow(emitter, function, tasks, elements * share.strip,
                       [&](Value task) { emitStrip(task, rows); });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  Domain ofTasks(domain);
  auto count = static_cast<int64_t>(together.size());
  if (count > 1) {
    ofTasks.extents[sharing] = llvm::divideCeil(domain.extents[sharing], count);
    rows = rows / domain.extents[sharing] * ofTasks.extents[sharing];
  }
  int64_t blocks = llvm::divideCeil(columns, share.columns);
  int64_t tasks = forEachRow(
      emitter, function, rows * blocks, elements * share.columns * count, [&](Value row) {
        auto [keptRow, block] = index.divide(row, blocks, rows * blocks);
        setRows(ofTasks, keptRow);
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
