// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions in the lanes of a CPU's vectors: rows, or blocks of columns.
#include "codegen/kernel/ReduceKernel.h"
#include "codegen/kernel/ReductionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Rows of which a column's sum is kept in a register. More make sums better, but every row is a
/// stream a tensor: with 16, GELU's gradient (two read, one written) took 1.7 times as long.
static constexpr int64_t kRun = 8;

/// From so many values of a row on, a step takes several registers of columns, so that these values
/// are computed once for all of them.
static constexpr int64_t kOfRowsWorthIt = 4;

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
  /// Gets and returns what is carried; the mask is null where all lanes take part.
  using ElementBody = function_ref<SmallVector<Value>(ValueRange, Value mask)>;

  void emitRow();
  void emitLevel(size_t level);
  void emitOutputs();
  Value neutralOf(prim::ReduceOp reduction);
  SmallVector<Value> initialOf(size_t level);
  SmallVector<Value> combine(size_t level, ValueRange left, ValueRange right);
  SmallVector<Value> addElement(size_t level, ValueRange carried, Value mask);
  SmallVector<Value> overRun(const ReductionNest &nest, ValueRange carried, Value low, Value high,
                             ElementBody body);
  bool keepsTotalsInMemory(int64_t vectors) const;
  void emitBlock(Value low, Value high, int64_t blockExtent);
  int64_t countOfRows() const;

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

/// The neutral element, in all lanes.
Value VectorReduction::neutralOf(prim::ReduceOp reduction) {
  return emitter.toVector(Reductions::initialOf(emitter, reduction));
}

SmallVector<Value> VectorReduction::initialOf(size_t level) {
  SmallVector<Value> initial;
  for (prim::ReduceOp reduction : r.levels[level])
    initial.push_back(neutralOf(reduction));
  return initial;
}

SmallVector<Value> VectorReduction::combine(size_t level, ValueRange left, ValueRange right) {
  SmallVector<Value> out;
  for (auto [reduction, a, c] : llvm::zip_equal(r.levels[level], left, right))
    out.push_back(Reductions::combine(emitter, reduction, a, c));
  return out;
}

/// `carried` and what the level's reductions combine at the present index. Lanes past the end of a
/// row count as the neutral element.
SmallVector<Value> VectorReduction::addElement(size_t level, ValueRange carried, Value mask) {
  SmallVector<Value> operands;
  for (prim::ReduceOp reduction : r.levels[level]) {
    Value x = r.operandOf(emitter, reduction);
    if (mask)
      x = b.create<arith::SelectOp>(loc, mask, x, neutralOf(reduction));
    operands.push_back(x);
  }
  SmallVector<Value> out = combine(level, carried, operands);
  r.storeFull(emitter, level);
  return out;
}

/// Elements [low, high) of a row: in vectors if lanes run along it, else one after the other.
SmallVector<Value> VectorReduction::overRun(const ReductionNest &nest, ValueRange carried,
                                            Value low, Value high, ElementBody body) {
  if (!nest.runDim)
    return body(carried, nullptr);
  unsigned dim = *nest.runDim;
  int64_t extent = r.domain.extents[dim];
  if (lanesReduced)
    return target.loopOverLanes(emitter, dim, extent, low, high, extent % index.width() == 0,
                                carried, body);
  return forLoop(emitter, low, high, 1, carried, [&](Value i, ValueRange in) {
    index.setDim(dim, i, extent);
    return body(in, nullptr);
  });
}

/// One pass over the reduced dimensions: the reductions of a level, and the full outputs that need
/// only the levels before it.
void VectorReduction::emitLevel(size_t level) {
  ReductionNest nest = planCascade(r.domain, lanesReduced ? index.width() : 1, kMostTerms,
                                   /*runsAreTerms=*/false);
  SmallVector<Value> initial = initialOf(level);
  SmallVector<Value> totals = emitNest(
      emitter, r.domain, nest, initial,
      [&](ValueRange carried, Value low, Value high) {
        return overRun(nest, carried, low, high,
                       [&](ValueRange in, Value mask) { return addElement(level, in, mask); });
      },
      [&](ValueRange carried, CascadeTurn turn) { return combine(level, carried, turn(initial)); });
  for (auto [reduction, total] : llvm::zip(r.levels[level], totals)) {
    auto combine = [&](Value a, Value c) { return Reductions::combine(emitter, reduction, a, c); };
    r.bind(emitter, reduction, lanesReduced ? target.combineLanes(emitter, total, combine) : total);
  }
}

void VectorReduction::emitOutputs() {
  if (r.hasFullOutput(r.levels.size())) {
    ReductionNest nest = planLoops(r.domain);
    emitNest(emitter, r.domain, nest, {}, [&](ValueRange, Value low, Value high) {
      return overRun(nest, {}, low, high, [&](ValueRange, Value) {
        r.storeFull(emitter, r.levels.size());
        return SmallVector<Value>();
      });
    });
  }
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
/// a register. A cascade has totals for each of its loops.
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
  ReductionNest nest = planCascade(domain, 1, kRun, /*runsAreTerms=*/true);
  auto totals = 1 + llvm::count_if(nest.loops, [](const ReductionLoop &l) { return l.cascades; });
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  DenseMap<Operation *, Value> memory;
  for (auto &level : r.levels)
    for (prim::ReduceOp reduction : level) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      memory[reduction] =
          b.create<LLVM::AllocaOp>(loc, pointerType, Reductions::accumulatorOf(reduction),
                                   index.constant(totals * blockExtent), 64);
    }
  // Of the totals number `depth`; those of the whole block are number 0.
  auto address = [&](prim::ReduceOp reduction, int64_t depth) -> Value {
    Value at = b.create<arith::SubIOp>(loc, index.evaluate(index.dim(vectorDim)).base, low);
    if (depth > 0)
      at = b.create<arith::AddIOp>(loc, at, index.constant(depth * blockExtent));
    return b.create<LLVM::GEPOp>(loc, pointerType, Reductions::accumulatorOf(reduction),
                                 memory[reduction], ArrayRef<LLVM::GEPArg>{at});
  };
  // A total is aligned as one element is.
  auto alignmentOf = [](prim::ReduceOp reduction) {
    return Reductions::accumulatorOf(reduction).getIntOrFloatBitWidth() / 8;
  };
  auto load = [&](prim::ReduceOp reduction, int64_t depth) -> Value {
    Type scalar = Reductions::accumulatorOf(reduction);
    Type type = index.width() == 1 ? scalar : Type(VectorType::get({index.width()}, scalar));
    return b.create<LLVM::LoadOp>(loc, type, address(reduction, depth), alignmentOf(reduction));
  };
  auto loadLevel = [&](size_t level, int64_t depth) {
    SmallVector<Value> values;
    for (prim::ReduceOp reduction : r.levels[level])
      values.push_back(load(reduction, depth));
    return values;
  };
  auto storeLevel = [&](size_t level, int64_t depth, ValueRange values) {
    for (auto [reduction, value] : llvm::zip_equal(r.levels[level], values))
      b.create<LLVM::StoreOp>(loc, value, address(reduction, depth), alignmentOf(reduction));
  };
  auto bindBelow = [&](size_t level) {
    emitter.unbindAll();
    for (size_t l = 0; l < level; ++l)
      for (prim::ReduceOp reduction : r.levels[l])
        r.bind(emitter, reduction, load(reduction, 0));
  };
  auto columns = [&](function_ref<void()> body) -> SmallVector<Value> {
    return target.loopOverLanes(emitter, vectorDim, extent, low, high, exact, {},
                                [&](ValueRange, Value) {
                                  body();
                                  return SmallVector<Value>();
                                });
  };
  for (size_t level = 0; level < r.levels.size(); ++level) {
    int64_t depth = 0;
    auto addTo = [&](ValueRange values) {
      storeLevel(level, depth, combine(level, loadLevel(level, depth), values));
    };
    auto start = [&] { columns([&] { storeLevel(level, depth, initialOf(level)); }); };
    start();
    emitNest(
        emitter, domain, nest, {},
        [&](ValueRange, Value first, Value last) {
          return columns([&] {
            bindBelow(level);
            addTo(overRun(nest, initialOf(level), first, last,
                          [&](ValueRange in, Value) { return addElement(level, in, nullptr); }));
          });
        },
        [&](ValueRange, CascadeTurn turn) {
          ++depth;
          start();
          turn({});
          --depth;
          return columns([&] { addTo(loadLevel(level, depth + 1)); });
        });
  }
  if (r.hasFullOutput(r.levels.size())) {
    ReductionNest rows = planLoops(domain);
    emitNest(emitter, domain, rows, {}, [&](ValueRange, Value first, Value last) {
      return overRun(rows, {}, first, last, [&](ValueRange, Value) {
        return columns([&] {
          bindBelow(r.levels.size());
          r.storeFull(emitter, r.levels.size());
        });
      });
    });
  }
  columns([&] {
    bindBelow(r.levels.size());
    r.storeKept(emitter);
  });
}

/// How many values a step over a row's columns computes that are the same for all of them. One that
/// it reads from memory, of which each row has another cache line, is worth as much by itself.
int64_t VectorReduction::countOfRows() const {
  DenseSet<Operation *> seen;
  SmallVector<Value> values;
  exec::KernelOp kernel = r.kernel;
  auto isReduced = [&](int64_t dimension) { return r.domain.reduced[dimension]; };
  int64_t count = 0;
  for (auto op : kernel.getBody().front().getOps<prim::BroadcastOp>()) {
    ArrayRef<int64_t> dimensions = op.getDimensions();
    if (op.getType().getShape() != r.spaceShape() ||
        llvm::is_contained(dimensions, int64_t(vectorDim)))
      continue;
    values.push_back(op.getOperand());
    Value source = op.getOperand();
    while (auto reshape = source.getDefiningOp<prim::ReshapeOp>())
      source = reshape.getOperand();
    bool isFar = llvm::any_of(dimensions, isReduced) && !isReduced(dimensions.back());
    count += isFar && isa<BlockArgument>(source) ? kOfRowsWorthIt : 0;
  }
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || isa<prim::ReduceOp>(op) || !seen.insert(op).second)
      continue;
    count += isa<Pointwise>(op);
    llvm::append_range(values, op->getOperands());
  }
  return count;
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
    width = target.chooseLanes(extent, countOfRows() < kOfRowsWorthIt ? 1 : 4);
    target.setLanes(emitter, vectorDim, width);
    blockExtent = static_cast<int64_t>(llvm::alignTo(blockExtent, width));
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
