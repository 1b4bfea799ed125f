// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How updates are shared among tasks, and those of indices in any order.
#include "codegen/kernel/ThreadScatter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

ThreadScatter::ThreadScatter(exec::KernelOp kernel, func::FuncOp function, prim::ScatterOp scatter,
                             const KernelTarget &target, ErrorTable &errors)
    : scatter(scatter), function(function), target(target),
      shape(cast<RankedTensorType>(scatter.getResult().getType()).getShape()),
      indexShape(cast<RankedTensorType>(scatter.getIndices().getType()).getShape()),
      sorted(scatter.getIndicesAreSorted()), axis(static_cast<unsigned>(scatter.getAxis())),
      rank(static_cast<unsigned>(shape.size())),
      indexRank(static_cast<unsigned>(indexShape.size())), extent(shape[axis]),
      indexCount(ReferenceArray::count(indexShape)),
      slabs(ReferenceArray::count(shape.take_front(axis))),
      columns(ReferenceArray::count(shape.drop_front(axis + 1))), flat(rank + 2 * indexRank),
      lanes(target.chooseLanes(columns)), emitter(kernel, function, target, errors, flat + 1),
      b(emitter.builder()), loc(kernel.getLoc()), index(emitter.indices()), domain(shape) {
  unsigned read = rank, applied = rank + indexRank;
  domain.extents.append(indexShape.begin(), indexShape.end());
  domain.extents.append(indexShape.begin(), indexShape.end());
  for (unsigned d = 0; d < rank; ++d) {
    index.setDim(d, index.constant(0), shape[d]);
    element.push_back(index.dim(d));
    if (d != axis)
      (d < axis ? outer : inner).push_back(d);
  }
  update.append(element.begin(), element.begin() + axis);
  for (unsigned d = 0; d < indexRank; ++d) {
    index.setDim(read + d, index.constant(0), indexShape[d]);
    index.setDim(applied + d, index.constant(0), indexShape[d]);
    readDims.push_back(read + d);
    appliedDims.push_back(applied + d);
    indexPosition.push_back(index.dim(read + d));
    update.push_back(index.dim(applied + d));
  }
  update.append(element.begin() + axis + 1, element.end());
}

/// Each task reads all indices: as few tasks as keep the machine busy. What a lane has of an update
/// it does one after the other, so that columns are divided first.
ScatterShare ThreadScatter::chooseShare() const {
  int64_t busy = target.getBusyTasks(function);
  ScatterShare share{std::min(lanes, static_cast<int64_t>(llvm::PowerOf2Ceil(
                                         static_cast<uint64_t>(std::max<int64_t>(extent, 1))))),
                     columns};
  auto tasks = [&] { return slabs * groupsOf(share) * blocksOf(share); };
  while (tasks() < busy && share.columns > lanes)
    share.columns =
        static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(share.columns, int64_t(2)), lanes));
  while (tasks() < busy && share.rows > 1)
    share.rows /= 2;
  return share;
}

/// Of how many runs of updates a row is the sum, a power of two; 1: the updates are applied in
/// their order. So they are where each rounds to fewer bits than a sum of some should have.
int64_t ThreadScatter::chooseRuns() {
  constexpr int64_t kLeastUpdates = 8; // of a row
  if (scatter.getKind() != prim::ScatterKind::add ||
      scatter.getResult().getType().getElementTypeBitWidth() < 32 || extent == 0 ||
      indexCount < kLeastUpdates * extent)
    return 1;
  int64_t tasks = slabs * extent * blocksOf({1, lanes});
  // Each is to have some of the updates, or looks through some of the indices.
  int64_t most = sorted ? indexCount / extent / kLeastUpdates
                        : static_cast<int64_t>(llvm::divideCeil(indexCount, lanes));
  int64_t runs = std::min(
      {target.getBusyTasks(function) / tasks, most, target.getBlockLimits().lanes / lanes});
  return runs > 1 ? static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(runs))) : 1;
}

/// The index with this number, as an i64.
Value ThreadScatter::loadIndex(Value number) {
  BodyEmitter::Scope scope(emitter);
  set(readDims, number);
  Value loaded = emitter.element(scatter.getIndices(), indexPosition);
  if (loaded.getType() == b.getI64Type())
    return loaded;
  return b.create<arith::ExtSIOp>(loc, b.getI64Type(), loaded);
}

/// Of the index that the lane reads, `lane` after number `first`; none where there are no rows.
std::optional<ThreadScatter::Read> ThreadScatter::readIndex(Value first, Value lane) {
  Value at = add(first, lane), limit = index.constant(indexCount - 1);
  set(readDims, b.create<arith::MinUIOp>(loc, at, limit));
  AffineExpr to =
      emitter.symbol(emitter.element(scatter.getIndices(), indexPosition), extent, kNoRow);
  if (extent == 0)
    return std::nullopt;
  return Read{index.evaluate(to).base, compare(arith::CmpIPredicate::ule, at, limit)};
}

/// What the update of index number `number` has for the element.
Value ThreadScatter::updateOf(Value number) {
  BodyEmitter::Scope scope(emitter);
  set(appliedDims, number);
  return emitter.element(scatter.getUpdates(), update);
}

/// Sets the loop variables before the axis to those of the task.
ThreadScatter::Piece ThreadScatter::enter(Value task, ScatterShare share) {
  int64_t groups = groupsOf(share), blocks = blocksOf(share);
  auto [slabAndGroup, block] = index.divide(task, blocks, slabs * groups * blocks);
  auto [slab, group] = index.divide(slabAndGroup, groups, slabs * groups);
  set(outer, slab);
  Value row = times(group, share.rows), column = times(block, share.columns);
  return {row, endOf(row, share.rows, extent), column, endOf(column, share.columns, columns)};
}

/// Calls body for the rows of a task, some at a time.
void ThreadScatter::forRowsTogether(const Piece &piece, ScatterShare share,
                                    function_ref<void(ArrayRef<Row>)> body) {
  int64_t together = std::min<int64_t>(share.rows, 4);
  bool allExist = share.rows % together == 0 && extent % share.rows == 0;
  Value last = subtract(piece.endRow, index.constant(1));
  forLoop(emitter, piece.firstRow, piece.endRow, together, [&](Value first) {
    SmallVector<Row> rows = {{first, nullptr}};
    for (int64_t i = 1; i < together; ++i) {
      Value row = add(first, index.constant(i));
      if (allExist)
        rows.push_back({row, nullptr});
      else
        rows.push_back({least(row, last), compare(arith::CmpIPredicate::ule, row, last)});
    }
    body(rows);
  });
}

/// Calls body for the number of each row and what the data have of it in the lane's column. That is
/// read of all rows before the first body, so that it is on its way together.
void ThreadScatter::forEachData(ArrayRef<Row> rows, function_ref<void(size_t, Value)> body) {
  auto inRow = [&](Row row, function_ref<void()> part) {
    BodyEmitter::Scope scope(emitter);
    index.setDim(axis, row.number, extent);
    part();
  };
  SmallVector<Value> data;
  for (Row row : rows)
    inRow(row, [&] { data.push_back(emitter.element(scatter.getData(), element)); });
  for (auto [i, row] : llvm::enumerate(rows))
    inRow(row, [&, i = i] {
      if (row.exists)
        branch(emitter, row.exists, [&] { body(i, data[i]); });
      else
        body(i, data[i]);
    });
}

void ThreadScatter::emitRows(Value task, ScatterShare share) {
  Piece piece = enter(task, share);
  auto [firstRow, endRow, firstColumn, endColumn] = piece;
  Value lane = target.getLane(b, function), own = add(firstRow, lane);
  // An element is always the same lane's: that of its column or, of a single column, of its row.
  auto inColumns = [&](function_ref<void()> body) {
    if (columns == 1)
      return body();
    target.loopOverLanes(emitter, flat, columns, firstColumn, endColumn, /*exact=*/false, {},
                         [&](ValueRange, Value) {
                           set(inner, index.evaluate(index.dim(flat)).base);
                           body();
                           return SmallVector<Value>();
                         });
  };
  auto inRow = [&](Value row, function_ref<void()> body) {
    BodyEmitter::Scope scope(emitter);
    index.setDim(axis, row, extent);
    if (columns > 1)
      return body();
    branch(emitter, compare(arith::CmpIPredicate::eq, row, own), body);
  };
  auto copy = [&](ArrayRef<Row> rows) {
    forEachData(rows, [&](size_t, Value data) { emitter.store(0, element, data); });
  };
  if (columns == 1)
    branch(emitter, compare(arith::CmpIPredicate::ult, own, endRow),
           [&] { copy(Row{own, nullptr}); });
  else
    forRowsTogether(piece, share, [&](ArrayRef<Row> rows) { inColumns([&] { copy(rows); }); });
  forLoop(emitter, index.constant(0), index.constant(indexCount), lanes, [&](Value first) {
    std::optional<Read> read = readIndex(first, lane);
    if (!read)
      return;
    Value mine =
        compare(arith::CmpIPredicate::ult, b.create<arith::SubIOp>(loc, read->row, firstRow),
                b.create<arith::SubIOp>(loc, endRow, firstRow));
    mine = b.create<arith::AndIOp>(loc, mine, read->exists);
    target.forEachLaneWhere(emitter, mine, {}, [&](ValueRange which, ValueRange) {
      SmallVector<Value> rows;
      for (Value each : which)
        rows.push_back(target.getFromLane(emitter, read->row, each));
      inColumns([&] {
        SmallVector<Value> updates;
        for (Value each : which)
          updates.push_back(updateOf(add(first, each)));
        for (auto [row, next] : llvm::zip_equal(rows, updates))
          inRow(row, [&, next = next] {
            Value combined = next;
            if (scatter.getKind() != prim::ScatterKind::set)
              combined = scatter.emitCombine(b, emitter.loadOutput(0, element), next);
            emitter.store(0, element, combined);
          });
      });
      return SmallVector<Value>();
    });
  });
}

/// What the updates of the row in run number `run` add up to, in the lane's column.
Value ThreadScatter::sumOfRun(Value run, int64_t runs, Value lane, Value row) {
  Type type = BodyEmitter::registerType(scatter.getResult().getType().getElementType());
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  if (sorted) {
    Value low = countBelow(row), high = countBelow(add(row, index.constant(1)));
    Value count = add(subtract(high, low), index.constant(runs - 1));
    Value length = index.divide(count, runs, indexCount + runs).first;
    Value first = least(add(low, b.create<arith::MulIOp>(loc, run, length)), high);
    return apply(zero, first, least(add(first, length), high));
  }
  auto length = static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(indexCount, runs), lanes));
  Value first = times(run, length);
  return forLoop(emitter, first, endOf(first, length, indexCount), lanes, zero,
                 [&](Value at, ValueRange sum) {
                   std::optional<Read> read = readIndex(at, lane);
                   Value mine = b.create<arith::AndIOp>(
                       loc, compare(arith::CmpIPredicate::eq, read->row, row), read->exists);
                   return target.forEachLaneWhere(
                       emitter, mine, sum, [&](ValueRange which, ValueRange in) {
                         SmallVector<Value> updates;
                         for (Value each : which)
                           updates.push_back(updateOf(add(at, each)));
                         return SmallVector<Value>{combine(in.front(), updates)};
                       });
                 })
      .front();
}

Value ThreadScatter::combine(Value total, ArrayRef<Value> updates) {
  for (Value next : updates)
    total = scatter.emitCombine(b, total, next);
  return total;
}

/// A task of a block: a row in as many columns as a warp has lanes.
void ThreadScatter::emitRun(Value task, int64_t runs) {
  ScatterShare share{1, lanes};
  int64_t blocks = blocksOf(share);
  auto [slabAndRow, block] = index.divide(task, blocks, slabs * extent * blocks);
  auto [slab, row] = index.divide(slabAndRow, extent, slabs * extent);
  set(outer, slab);
  index.setDim(axis, row, extent);
  Value thread = target.getLane(b, function);
  auto [run, lane] = index.divide(thread, lanes, runs * lanes);
  Value column = add(times(block, lanes), lane), last = index.constant(columns - 1);
  set(inner, b.create<arith::MinUIOp>(loc, column, last));
  Type type = BodyEmitter::registerType(scatter.getResult().getType().getElementType());
  Value sums = target.createShared(b, function, type, runs * lanes);
  auto address = [&](Value at) -> Value {
    return b.create<LLVM::GEPOp>(loc, sums.getType(), type, sums, ArrayRef<LLVM::GEPArg>{at});
  };
  b.create<LLVM::StoreOp>(loc, sumOfRun(run, runs, lane, row), address(thread));
  target.synchronize(b, loc);
  Value writes = b.create<arith::AndIOp>(
      loc, compare(arith::CmpIPredicate::ult, thread, index.constant(lanes)),
      compare(arith::CmpIPredicate::ule, column, last));
  branch(emitter, writes, [&] {
    Value data = emitter.element(scatter.getData(), element);
    Value total = forLoop(emitter, index.constant(0), index.constant(runs), 1, data,
                          [&](Value i, ValueRange in) {
                            Value sum = b.create<LLVM::LoadOp>(loc, type,
                                                               address(add(times(i, lanes), lane)));
                            return SmallVector<Value>{scatter.emitCombine(b, in.front(), sum)};
                          })
                      .front();
    emitter.store(0, element, total);
  });
}

KernelFunction ThreadScatter::emit() {
  if (slabs * columns == 0)
    return {function, target.getLaunchShape(function, 0)};
  int64_t runs = chooseRuns(), tasks = 0;
  if (runs > 1) {
    runs = target.setBlock(function, runs * lanes) / lanes;
    tasks = slabs * extent * blocksOf({1, lanes});
    auto [task, last] = emitter.tasks(tasks);
    Value number = task;
    branch(emitter, compare(arith::CmpIPredicate::slt, number, last), [&] {
      checkEnds(number);
      emitRun(number, runs);
    });
  } else {
    ScatterShare share = chooseShare();
    tasks = slabs * groupsOf(share) * blocksOf(share);
    auto [begin, last] = emitter.tasks(tasks);
    forLoop(emitter, begin, last, 1, [&](Value task) {
      checkEnds(task);
      if (sorted && extent > 0)
        emitSortedRows(task, share);
      else
        emitRows(task, share);
    });
  }
  return {function, target.getLaunchShape(function, tasks)};
}

KernelFunction codegen::emitScatterRows(exec::KernelOp kernel, func::FuncOp function,
                                        prim::ScatterOp scatter, const KernelTarget &target,
                                        ErrorTable &errors) {
  return ThreadScatter(kernel, function, scatter, target, errors).emit();
}
