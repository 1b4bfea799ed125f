// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions in the lanes of a CPU's vectors: rows, or blocks of columns.
#include "codegen/kernel/ReduceKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Rows of which a column's sum is kept in a register. More make sums better, but every row is a
/// stream a tensor: with 16, GELU's gradient (two read, one written) took 1.7 times as long.
static constexpr int64_t kRun = 8;
/// Vectors of a row that are one sum before it is added to others: of 300,000 equal numbers one
/// long sum in f32 has lost the fourth digit.
static constexpr int64_t kSumVectors = 64;

namespace {

class VectorReduction {
public:
  VectorReduction(const Reductions &r, func::FuncOp function, const KernelTarget &target,
                  ErrorTable &errors)
      : r(r), function(function), target(target),
        emitter(r.kernel, function, target, errors, static_cast<unsigned>(r.position.size())),
        index(emitter.indices()), b(emitter.builder()), loc(emitter.loc()),
        vectorDim(static_cast<unsigned>(r.domain.innermost())),
        lanesReduced(r.domain.reduced[vectorDim]) {}

  KernelFunction emit();

private:
  using RowBody = function_ref<SmallVector<Value>(ValueRange, Value mask)>;

  void emitRow();
  void emitLevel(size_t level);
  void emitOutputs();
  using Combine = function_ref<SmallVector<Value>(ValueRange, ValueRange)>;
  SmallVector<Value> overReduced(size_t next, ValueRange carried, RowBody body,
                                 std::optional<unsigned> without = std::nullopt,
                                 Combine combine = nullptr);
  int64_t vectorsBelow(size_t next) const;
  bool keepsTotalsInMemory(int64_t vectors) const;
  void emitBlock(Value low, Value high, int64_t blockExtent);

  const Reductions &r;
  func::FuncOp function;
  const KernelTarget &target;
  BodyEmitter emitter;
  IndexEmitter &index;
  OpBuilder &b;
  Location loc;
  unsigned vectorDim;
  bool lanesReduced;
};

/// How often the loops over the reduced dimensions from `next` on go round.
int64_t VectorReduction::vectorsBelow(size_t next) const {
  int64_t count = 1;
  for (size_t d = next; d < r.domain.extents.size(); ++d)
    if (r.domain.reduced[d])
      count *= lanesReduced && d == vectorDim
                   ? static_cast<int64_t>(llvm::divideCeil(r.domain.extents[d], index.width()))
                   : r.domain.extents[d];
  return count;
}

/// Loops over the reduced dimensions from `next` on, all but `without`; the innermost one in
/// vectors if lanes run along it. With `combine`, which combines two of what is carried, long loops
/// carry sums of sums; `carried` is then the neutral element.
SmallVector<Value> VectorReduction::overReduced(size_t next, ValueRange carried, RowBody body,
                                                std::optional<unsigned> without, Combine combine) {
  const Domain &domain = r.domain;
  while (next < domain.extents.size() && (!domain.reduced[next] || domain.extents[next] == 1 ||
                                          next == without || (lanesReduced && next == vectorDim)))
    ++next;
  if (next < domain.extents.size()) {
    int64_t extent = domain.extents[next];
    bool hasOwnSums = combine && vectorsBelow(next + 1) >= kSumVectors;
    return forLoop(emitter, index.constant(0), index.constant(extent), 1, carried,
                   [&](Value i, ValueRange in) {
                     index.setDim(static_cast<unsigned>(next), i, extent);
                     if (hasOwnSums)
                       return combine(in, overReduced(next + 1, carried, body, without, combine));
                     return overReduced(next + 1, in, body, without);
                   });
  }
  if (!lanesReduced)
    return body(carried, nullptr);
  int64_t extent = domain.extents[vectorDim], run = kSumVectors * index.width();
  auto overLanes = [&](Value low, Value high) {
    return target.loopOverLanes(emitter, vectorDim, extent, low, high, extent % index.width() == 0,
                                carried, body);
  };
  Value all = index.constant(extent);
  if (!combine || extent < 4 * run)
    return overLanes(index.constant(0), all);
  return forLoop(emitter, index.constant(0), all, run, carried, [&](Value low, ValueRange in) {
    Value end = b.create<arith::AddIOp>(loc, low, index.constant(run));
    return combine(in, overLanes(low, b.create<arith::MinUIOp>(loc, end, all)));
  });
}

/// One pass over the reduced dimensions: the reductions of a level, and the full outputs that need
/// only the levels before it.
void VectorReduction::emitLevel(size_t level) {
  ArrayRef<prim::ReduceOp> reductions = r.levels[level];
  SmallVector<Value> initial;
  for (prim::ReduceOp reduction : reductions)
    initial.push_back(emitter.toVector(Reductions::initialOf(emitter, reduction)));
  auto combineAll = [&](ValueRange left, ValueRange right) {
    SmallVector<Value> out;
    for (auto [reduction, a, c] : llvm::zip_equal(reductions, left, right))
      out.push_back(Reductions::combine(emitter, reduction, a, c));
    return out;
  };
  auto body = [&](ValueRange in, Value mask) {
    SmallVector<Value> out;
    for (auto [i, reduction] : llvm::enumerate(reductions)) {
      Value x = r.operandOf(emitter, reduction);
      // Lanes past the end of the row count as the neutral element.
      if (mask)
        x = b.create<arith::SelectOp>(loc, mask, x, initial[i]);
      out.push_back(Reductions::combine(emitter, reduction, in[i], x));
    }
    r.storeFull(emitter, level);
    return out;
  };
  SmallVector<Value> totals = overReduced(0, initial, body, std::nullopt, combineAll);
  for (auto [reduction, total] : llvm::zip(reductions, totals)) {
    auto combine = [&](Value a, Value c) { return Reductions::combine(emitter, reduction, a, c); };
    r.bind(emitter, reduction, lanesReduced ? target.combineLanes(emitter, total, combine) : total);
  }
}

void VectorReduction::emitOutputs() {
  if (r.hasFullOutput(r.levels.size()))
    overReduced(0, {}, [&](ValueRange, Value) {
      r.storeFull(emitter, r.levels.size());
      return SmallVector<Value>();
    });
  auto store = [&] {
    BodyEmitter::Scope scope(emitter);
    r.storeKept(emitter);
  };
  if (lanesReduced)
    target.onOneLane(emitter, store);
  else
    store();
}

void VectorReduction::emitRow() {
  emitter.unbindAll();
  for (size_t level = 0; level < r.levels.size(); ++level)
    emitLevel(level);
  emitOutputs();
}

/// Columns: lanes have their own results. Totals of a block of columns stay in memory (in the
/// first-level cache), so that the data is walked as it lies, some rows at a time: their sum is in
/// a register, and sums of sums lose less of the small terms than one long sum.
bool VectorReduction::keepsTotalsInMemory(int64_t vectors) const {
  if (r.domain.count(true) < (vectors < 2 ? 4 * kRun : 8))
    return false;
  for (const auto &level : r.levels)
    for (prim::ReduceOp reduction : level)
      if (reduction.getResult().getType().getElementType().isInteger(1))
        return false;
  return true;
}

void VectorReduction::emitBlock(Value low, Value high, int64_t blockExtent) {
  const Domain &domain = r.domain;
  int64_t extent = domain.extents[vectorDim];
  bool exact = extent % index.width() == 0;
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  DenseMap<Operation *, Value> memory;
  for (auto &level : r.levels)
    for (prim::ReduceOp reduction : level) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      memory[reduction] = b.create<LLVM::AllocaOp>(
          loc, pointerType, Reductions::accumulatorOf(reduction), index.constant(blockExtent), 64);
    }
  auto address = [&](prim::ReduceOp reduction) -> Value {
    Value at = b.create<arith::SubIOp>(loc, index.evaluate(index.dim(vectorDim)).base, low);
    return b.create<LLVM::GEPOp>(loc, pointerType, Reductions::accumulatorOf(reduction),
                                 memory[reduction], ArrayRef<LLVM::GEPArg>{at});
  };
  // A total is aligned as one element is.
  auto alignmentOf = [](prim::ReduceOp reduction) {
    return Reductions::accumulatorOf(reduction).getIntOrFloatBitWidth() / 8;
  };
  auto load = [&](prim::ReduceOp reduction) -> Value {
    Type scalar = Reductions::accumulatorOf(reduction);
    Type type = index.width() == 1 ? scalar : Type(VectorType::get({index.width()}, scalar));
    return b.create<LLVM::LoadOp>(loc, type, address(reduction), alignmentOf(reduction));
  };
  auto bindBelow = [&](size_t level) {
    emitter.unbindAll();
    for (size_t l = 0; l < level; ++l)
      for (prim::ReduceOp reduction : r.levels[l])
        r.bind(emitter, reduction, load(reduction));
  };
  auto columns = [&](function_ref<void()> body) {
    target.loopOverLanes(emitter, vectorDim, extent, low, high, exact, {}, [&](ValueRange, Value) {
      body();
      return SmallVector<Value>();
    });
  };
  auto overRows = [&](function_ref<void()> body) {
    overReduced(0, {}, [&](ValueRange, Value) {
      columns(body);
      return SmallVector<Value>();
    });
  };
  // The innermost of the reduced dimensions, in runs; each for all columns.
  unsigned runDim = 0;
  for (auto [d, extent] : llvm::enumerate(domain.extents))
    if (domain.reduced[d] && extent != 1)
      runDim = static_cast<unsigned>(d);
  int64_t rows = domain.extents[runDim];
  auto overRuns = [&](function_ref<void(Value, Value)> body) {
    auto runs = [&](ValueRange, Value) {
      Value all = index.constant(rows);
      forLoop(emitter, index.constant(0), all, kRun, [&](Value first) {
        Value last = b.create<arith::MinUIOp>(
            loc, b.create<arith::AddIOp>(loc, first, index.constant(kRun)), all);
        columns([&] { body(first, last); });
      });
      return SmallVector<Value>();
    };
    overReduced(0, {}, runs, /*without=*/runDim);
  };
  for (size_t level = 0; level < r.levels.size(); ++level) {
    columns([&] {
      for (prim::ReduceOp reduction : r.levels[level])
        b.create<LLVM::StoreOp>(loc, emitter.toVector(Reductions::initialOf(emitter, reduction)),
                                address(reduction), alignmentOf(reduction));
    });
    overRuns([&](Value first, Value last) {
      bindBelow(level);
      SmallVector<Value> initial;
      for (prim::ReduceOp reduction : r.levels[level])
        initial.push_back(emitter.toVector(Reductions::initialOf(emitter, reduction)));
      SmallVector<Value> sums =
          forLoop(emitter, first, last, 1, initial, [&](Value row, ValueRange in) {
            index.setDim(runDim, row, rows);
            SmallVector<Value> out;
            for (auto [i, reduction] : llvm::enumerate(r.levels[level])) {
              Value x = r.operandOf(emitter, reduction);
              out.push_back(Reductions::combine(emitter, reduction, in[i], x));
            }
            r.storeFull(emitter, level);
            return out;
          });
      for (auto [i, reduction] : llvm::enumerate(r.levels[level]))
        b.create<LLVM::StoreOp>(loc,
                                Reductions::combine(emitter, reduction, load(reduction), sums[i]),
                                address(reduction), alignmentOf(reduction));
    });
  }
  if (r.hasFullOutput(r.levels.size()))
    overRows([&] {
      bindBelow(r.levels.size());
      r.storeFull(emitter, r.levels.size());
    });
  columns([&] {
    bindBelow(r.levels.size());
    r.storeKept(emitter);
  });
}

KernelFunction VectorReduction::emit() {
  const Domain &domain = r.domain;
  for (unsigned i = 0; i < r.position.size(); ++i)
    index.setDim(i, index.constant(0), domain.extents[i]);

  // Several registers as one vector hide the latency of the combiner; long bodies would spill.
  exec::KernelOp kernel = r.kernel;
  auto bodySize = std::distance(kernel.getBody().front().begin(), kernel.getBody().front().end());
  int64_t extent = domain.extents[vectorDim];
  int64_t width = target.chooseLanes(extent, bodySize <= 6 ? 4 : bodySize <= 16 ? 2 : 1);
  target.setLanes(emitter, vectorDim, width);

  SmallVector<unsigned> kept;
  int64_t rows = 1;
  for (unsigned i = 0; i < r.position.size(); ++i)
    if (!domain.reduced[i] && i != vectorDim && domain.extents[i] != 1) {
      kept.push_back(i);
      rows *= domain.extents[i];
    }
  int64_t reducedCount = domain.count(true);
  if (lanesReduced) {
    int64_t tasks = forEachRow(emitter, function, rows, reducedCount, [&](Value row) {
      setRow(emitter, domain, kept, row);
      emitRow();
    });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  // Lanes are kept: a row is a block of columns.
  int64_t registerWidth = target.chooseLanes(extent),
          vectors = (extent + registerWidth - 1) / registerWidth;
  bool inMemory = keepsTotalsInMemory(vectors);
  int64_t blockExtent = width;
  if (inMemory) {
    // Some blocks for the threads, each wide enough to stream.
    constexpr int64_t kBlocks = 4, kLeast = 8, kMost = 64; // in vectors
    int64_t wanted =
        std::clamp((vectors + kBlocks - 1) / kBlocks, std::min(kLeast, vectors), kMost);
    blockExtent = (rows >= kBlocks ? std::min(vectors, kMost) : wanted) * registerWidth;
    target.setLanes(emitter, vectorDim, registerWidth);
  }
  int64_t blocks = (extent + blockExtent - 1) / blockExtent;
  int64_t tasks =
      forEachRow(emitter, function, rows * blocks, reducedCount * blockExtent, [&](Value row) {
        Value n = index.constant(blocks);
        Value block = b.create<arith::RemUIOp>(loc, row, n);
        setRow(emitter, domain, kept, b.create<arith::DivUIOp>(loc, row, n));
        Value low = b.create<arith::MulIOp>(loc, block, index.constant(blockExtent));
        Value high = b.create<arith::MinUIOp>(
            loc, b.create<arith::AddIOp>(loc, low, index.constant(blockExtent)),
            index.constant(extent));
        if (inMemory) {
          emitBlock(low, high, blockExtent);
          return;
        }
        target.loopOverLanes(emitter, vectorDim, extent, low, high, extent % width == 0, {},
                             [&](ValueRange, Value) {
                               emitRow();
                               return SmallVector<Value>();
                             });
      });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}

} // namespace

KernelFunction codegen::reduceInVectors(const Reductions &reductions, func::FuncOp function,
                                        const KernelTarget &target, ErrorTable &errors) {
  return VectorReduction(reductions, function, target, errors).emit();
}
