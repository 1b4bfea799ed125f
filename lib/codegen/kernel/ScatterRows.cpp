// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatter where lanes are threads. A task owns some rows of the result, neighbours along the axis,
// in some of the columns after it. Its lanes look through all indices, one each, for those of its
// rows, and then apply these updates together, one after the other, a lane to each column. So
// duplicates need no atomics: every element adds up its updates in their order.
//
// Few rows that get many updates each would be few tasks with much to do. A task is a block then
// that owns one row: each of its warps adds up the updates of a run of the indices, and what the
// runs have is added up in their order.
//
// Of sorted indices a task finds those of its rows by binary searches: two lanes look through all
// indices for both ends of what belongs to the task, whose lanes then look there, each for its row.
// A row is added up in registers.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// How many rows and columns a task owns.
struct Share {
  int64_t rows, columns;
};

class ThreadScatter {
public:
  ThreadScatter(exec::KernelOp kernel, func::FuncOp function, prim::ScatterOp scatter,
                const KernelTarget &target, ErrorTable &errors);
  KernelFunction emit();

private:
  Share chooseShare() const;
  int64_t chooseRuns();
  struct Piece {
    Value firstRow, endRow, firstColumn, endColumn;
  };
  Piece enter(Value task, Share share);
  struct Row {
    Value number;
    Value exists; // else it is the task's last; null if it does
  };
  void forRowsTogether(const Piece &piece, Share share, function_ref<void(ArrayRef<Row>)> body);
  void forEachData(ArrayRef<Row> rows, function_ref<void(size_t, Value)> body);
  void emitRows(Value task, Share share);
  void emitSortedRows(Value task, Share share);
  void emitRun(Value task, int64_t runs);
  Value sumOfRun(Value run, int64_t runs, Value lane, Value row);
  Value combine(Value total, ArrayRef<Value> updates);
  Value apply(Value total, Value first, Value end);

  void checkEnds(Value task);
  Value loadIndex(Value number);
  Value countBelow(Value row) { return countBelow(row, index.constant(0), whole()); }
  Value countBelow(Value row, Value low, Value high);
  Value whole() { return index.constant(indexCount); }
  struct Read {
    Value row;    // of the index that the lane reads
    Value exists; // whether it is one, and not past the last
  };
  std::optional<Read> readIndex(Value first, Value lane);
  Value updateOf(Value number);

  int64_t groupsOf(Share share) const {
    // Where there are no rows a task still finds that all indices are wrong.
    return std::max<int64_t>(1, static_cast<int64_t>(llvm::divideCeil(extent, share.rows)));
  }
  int64_t blocksOf(Share share) const {
    return static_cast<int64_t>(llvm::divideCeil(columns, share.columns));
  }
  void set(ArrayRef<unsigned> dims, Value row) {
    if (!dims.empty())
      setRow(emitter, domain, dims, row);
  }
  Value add(Value a, Value c) { return b.create<arith::AddIOp>(loc, a, c); }
  Value times(Value number, int64_t size) {
    return b.create<arith::MulIOp>(loc, number, index.constant(size));
  }
  Value subtract(Value a, Value c) { return b.create<arith::SubIOp>(loc, a, c); }
  Value least(Value a, Value c) { return b.create<arith::MinUIOp>(loc, a, c); }
  Value endOf(Value first, int64_t size, int64_t limit) {
    return least(add(first, index.constant(size)), index.constant(limit));
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, predicate, a, c);
  }

  prim::ScatterOp scatter;
  func::FuncOp function;
  const KernelTarget &target;
  ArrayRef<int64_t> shape, indexShape;
  bool sorted; // the indices are
  unsigned axis, rank, indexRank;
  int64_t extent, indexCount, slabs, columns;
  // Loop variables: those of the result, those of the index that a lane reads and of the update
  // that all apply, and the columns as one.
  unsigned flat;
  int64_t lanes; // of a warp
  BodyEmitter emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  Domain domain;
  SmallVector<unsigned> outer, inner, readDims, appliedDims;
  SmallVector<AffineExpr> element, indexPosition, update;
};

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
Share ThreadScatter::chooseShare() const {
  int64_t busy = target.getBusyTasks(function);
  Share share{std::min(lanes, static_cast<int64_t>(llvm::PowerOf2Ceil(
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
ThreadScatter::Piece ThreadScatter::enter(Value task, Share share) {
  int64_t groups = groupsOf(share), blocks = blocksOf(share);
  auto [slabAndGroup, block] = index.divide(task, blocks, slabs * groups * blocks);
  auto [slab, group] = index.divide(slabAndGroup, groups, slabs * groups);
  set(outer, slab);
  Value row = times(group, share.rows), column = times(block, share.columns);
  return {row, endOf(row, share.rows, extent), column, endOf(column, share.columns, columns)};
}

/// Calls body for the rows of a task, some at a time.
void ThreadScatter::forRowsTogether(const Piece &piece, Share share,
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

void ThreadScatter::emitRows(Value task, Share share) {
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

void ThreadScatter::emitSortedRows(Value task, Share share) {
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

/// A task of a block: a row in as many columns as a warp has lanes.
void ThreadScatter::emitRun(Value task, int64_t runs) {
  Share share{1, lanes};
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
    Share share = chooseShare();
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

} // namespace

KernelFunction codegen::emitScatterRows(exec::KernelOp kernel, func::FuncOp function,
                                        prim::ScatterOp scatter, const KernelTarget &target,
                                        ErrorTable &errors) {
  return ThreadScatter(kernel, function, scatter, target, errors).emit();
}
