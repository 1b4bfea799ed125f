// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions in passes: softmax, normalisations, sums along any dimensions.
#include "codegen/element/KernelTarget.h"
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// Rows of which a column's sum is kept in a register. More make sums better, but every row is a
/// stream a tensor: with 16, GELU's gradient (two read, one written) took 1.7 times as long.
constexpr int64_t kRun = 8;

Type elementOf(prim::ReduceOp reduction) {
  return BodyEmitter::registerType(reduction.getResult().getType().getElementType());
}

/// The type of a reduction's totals, until they are all there.
Type accumulatorOf(prim::ReduceOp reduction) {
  return reduction.getAccumulatorType(elementOf(reduction));
}

Value initialOf(BodyEmitter &emitter, prim::ReduceOp reduction) {
  return emitter.constant(reduction.getInitial(accumulatorOf(reduction)));
}

/// What the reduction combines at `position`, in the accumulator's type, for all lanes.
Value operandOf(BodyEmitter &emitter, prim::ReduceOp reduction, ArrayRef<AffineExpr> position) {
  return emitter.toVector(emitter.convertFloat(emitter.element(reduction.getOperand(), position),
                                               accumulatorOf(reduction)));
}

/// One kernel being emitted. Vectors run along the innermost dimension: if that is reduced, partial
/// results are combined across lanes at the end of a row; if it is kept, each lane has its own
/// result. Threads share what is reduced whichever dimensions these are, and walk it as one.
class ReduceKernel {
public:
  ReduceKernel(exec::KernelOp kernel, const KernelTarget &target);
  FailureOr<KernelFunction> emit(ModuleOp module, ErrorTable &errors);

private:
  struct Output {
    Value value;
    bool full;    // of shape S, else of the kept dimensions
    size_t depth; // how many levels of reductions it needs
  };

  void emitRow(BodyEmitter &emitter);
  void emitLevel(BodyEmitter &emitter, size_t level);
  void emitOutputs(BodyEmitter &emitter);
  void storeFull(BodyEmitter &emitter, size_t depth);
  KernelFunction emitForThreads(func::FuncOp function, ErrorTable &errors);
  void emitBlock(BodyEmitter &emitter, func::FuncOp function, Value low, Value high,
                 int64_t blockExtent);
  bool keepsTotalsInMemory(int64_t vectors) const;
  SmallVector<Value> overReduced(BodyEmitter &emitter, size_t next, ValueRange carried,
                                 function_ref<SmallVector<Value>(ValueRange, Value)> body);
  SmallVector<AffineExpr> keptPosition() const;

  exec::KernelOp kernel;
  const KernelTarget &target;
  Domain domain;
  SmallVector<AffineExpr> position;
  SmallVector<SmallVector<prim::ReduceOp>> levels;
  SmallVector<Output> outputs;
  unsigned vectorDim = 0;
  bool lanesReduced = false;
  // Where lanes are threads: how many elements the thread's result has, 0 for a thread without one,
  // and whether it has one; null if all do.
  Value threadElements, hasResult;
};

ReduceKernel::ReduceKernel(exec::KernelOp kernel, const KernelTarget &target)
    : kernel(kernel), target(target), domain(kernel.getSpecAttr()),
      position(domain.position(kernel.getContext())) {
  prim::KernelSpecAttr spec = kernel.getSpecAttr();
  Block &body = kernel.getBody().front();
  for (auto [reduction, level] :
       llvm::zip_equal(body.getOps<prim::ReduceOp>(), spec.getLevels().asArrayRef())) {
    levels.resize(std::max<size_t>(levels.size(), level + 1));
    levels[level].push_back(reduction);
  }
  ArrayRef<int64_t> space = levels.front().front().getOperand().getType().getShape();
  for (auto [result, depth] :
       llvm::zip_equal(body.getTerminator()->getOperands(), spec.getDepths().asArrayRef()))
    outputs.push_back({result, cast<RankedTensorType>(result.getType()).getShape() == space,
                       static_cast<size_t>(depth)});
}

SmallVector<AffineExpr> ReduceKernel::keptPosition() const {
  SmallVector<AffineExpr> result;
  for (size_t i = 0; i < position.size(); ++i)
    if (!domain.reduced[i])
      result.push_back(position[i]);
  return result;
}

/// Loops over the reduced dimensions from `next` on; the innermost one in vectors if lanes run
/// along it.
SmallVector<Value>
ReduceKernel::overReduced(BodyEmitter &emitter, size_t next, ValueRange carried,
                          function_ref<SmallVector<Value>(ValueRange, Value)> body) {
  IndexEmitter &index = emitter.indices();
  if (threadElements) {
    SmallVector<unsigned> dims;
    for (unsigned i = 0; i < domain.extents.size(); ++i)
      if (domain.reduced[i] && domain.extents[i] != 1)
        dims.push_back(i);
    auto flat = static_cast<unsigned>(domain.extents.size());
    return target.loopOverLanes(
        emitter, flat, domain.count(true), index.constant(0), threadElements, /*exact=*/false,
        carried, [&](ValueRange in, Value mask) {
          setRow(emitter, domain, dims, index.evaluate(index.dim(flat)).base);
          return body(in, mask);
        });
  }
  while (next < domain.extents.size() && (!domain.reduced[next] || domain.extents[next] == 1 ||
                                          (lanesReduced && next == vectorDim)))
    ++next;
  if (next < domain.extents.size()) {
    int64_t extent = domain.extents[next];
    return forLoop(emitter, index.constant(0), index.constant(extent), 1, carried,
                   [&](Value i, ValueRange in) {
                     index.setDim(static_cast<unsigned>(next), i, extent);
                     return overReduced(emitter, next + 1, in, body);
                   });
  }
  if (!lanesReduced)
    return body(carried, nullptr);
  int64_t extent = domain.extents[vectorDim];
  return target.loopOverLanes(emitter, vectorDim, extent, index.constant(0), index.constant(extent),
                              extent % index.width() == 0, carried, body);
}

/// Stores the full outputs that need exactly `depth` levels, at the loop variables' present values.
void ReduceKernel::storeFull(BodyEmitter &emitter, size_t depth) {
  SmallVector<std::pair<unsigned, Value>> values;
  for (auto [i, output] : llvm::enumerate(outputs))
    if (output.full && output.depth == depth)
      values.push_back({static_cast<unsigned>(i), emitter.element(output.value, position)});
  for (auto [i, value] : values)
    emitter.store(i, position, value);
}

/// One pass over the reduced dimensions: the reductions of a level, and the full outputs that need
/// only the levels before it.
void ReduceKernel::emitLevel(BodyEmitter &emitter, size_t level) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  MutableArrayRef<prim::ReduceOp> reductions = levels[level];
  SmallVector<Value> initial;
  for (prim::ReduceOp reduction : reductions)
    initial.push_back(emitter.toVector(initialOf(emitter, reduction)));
  SmallVector<Value> totals = overReduced(emitter, 0, initial, [&](ValueRange in, Value mask) {
    SmallVector<Value> out;
    for (auto [i, reduction] : llvm::enumerate(reductions)) {
      Value x = operandOf(emitter, reduction, position);
      // Lanes past the end of the row count as the neutral element.
      if (mask)
        x = b.create<arith::SelectOp>(loc, mask, x, initial[i]);
      out.push_back(reduction.emitCombine(b, in[i], x));
    }
    storeFull(emitter, level);
    return out;
  });
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    Value total = totals[i];
    if (lanesReduced)
      total = target.combineLanes(emitter, total,
                                  [&](Value a, Value c) { return reduction.emitCombine(b, a, c); });
    emitter.bind(reduction.getResult(), keptPosition(),
                 emitter.convertFloat(total, elementOf(reduction)));
  }
}

void ReduceKernel::emitOutputs(BodyEmitter &emitter) {
  if (llvm::any_of(outputs, [&](const Output &o) { return o.full && o.depth == levels.size(); }))
    overReduced(emitter, 0, {}, [&](ValueRange, Value) {
      storeFull(emitter, levels.size());
      return SmallVector<Value>();
    });
  auto storeKept = [&] {
    OpBuilder &b = emitter.builder();
    OpBuilder::InsertionGuard guard(b);
    BodyEmitter::Scope scope(emitter);
    if (hasResult)
      b.setInsertionPointToStart(
          b.create<scf::IfOp>(emitter.loc(), hasResult, /*withElseRegion=*/false).thenBlock());
    for (auto [i, output] : llvm::enumerate(outputs))
      if (!output.full)
        emitter.store(static_cast<unsigned>(i), keptPosition(),
                      emitter.element(output.value, keptPosition()));
  };
  if (lanesReduced)
    target.onOneLane(emitter, storeKept);
  else
    storeKept();
}

void ReduceKernel::emitRow(BodyEmitter &emitter) {
  emitter.unbindAll();
  for (size_t level = 0; level < levels.size(); ++level)
    emitLevel(emitter, level);
  emitOutputs(emitter);
}

/// Columns: lanes have their own results. Totals of a block of columns stay in memory (in the
/// first-level cache), so that the data is walked as it lies, some rows at a time: their sum is in
/// a register, and sums of sums lose less of the small terms than one long sum.
bool ReduceKernel::keepsTotalsInMemory(int64_t vectors) const {
  if (!target.hasScratch() || domain.count(true) < (vectors < 2 ? 4 * kRun : 8))
    return false;
  for (const auto &level : levels)
    for (prim::ReduceOp reduction : level)
      if (reduction.getResult().getType().getElementType().isInteger(1))
        return false;
  return true;
}

void ReduceKernel::emitBlock(BodyEmitter &emitter, func::FuncOp function, Value low, Value high,
                             int64_t blockExtent) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  IndexEmitter &index = emitter.indices();
  int64_t extent = domain.extents[vectorDim];
  bool exact = extent % index.width() == 0;
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  DenseMap<Operation *, Value> memory;
  for (auto &level : levels)
    for (prim::ReduceOp reduction : level) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      memory[reduction] = b.create<LLVM::AllocaOp>(loc, pointerType, accumulatorOf(reduction),
                                                   index.constant(blockExtent), 64);
    }
  auto address = [&](prim::ReduceOp reduction) -> Value {
    Value at = b.create<arith::SubIOp>(loc, index.evaluate(index.dim(vectorDim)).base, low);
    return b.create<LLVM::GEPOp>(loc, pointerType, accumulatorOf(reduction), memory[reduction],
                                 ArrayRef<LLVM::GEPArg>{at});
  };
  // A total is aligned as one element is.
  auto alignmentOf = [](prim::ReduceOp reduction) {
    return accumulatorOf(reduction).getIntOrFloatBitWidth() / 8;
  };
  auto load = [&](prim::ReduceOp reduction) -> Value {
    Type scalar = accumulatorOf(reduction);
    Type type = index.width() == 1 ? scalar : Type(VectorType::get({index.width()}, scalar));
    return b.create<LLVM::LoadOp>(loc, type, address(reduction), alignmentOf(reduction));
  };
  auto bindBelow = [&](size_t level) {
    emitter.unbindAll();
    for (size_t l = 0; l < level; ++l)
      for (prim::ReduceOp reduction : levels[l])
        emitter.bind(reduction.getResult(), keptPosition(),
                     emitter.convertFloat(load(reduction), elementOf(reduction)));
  };
  auto columns = [&](function_ref<void()> body) {
    target.loopOverLanes(emitter, vectorDim, extent, low, high, exact, {}, [&](ValueRange, Value) {
      body();
      return SmallVector<Value>();
    });
  };
  auto overRows = [&](function_ref<void()> body) {
    overReduced(emitter, 0, {}, [&](ValueRange, Value) {
      columns(body);
      return SmallVector<Value>();
    });
  };
  // The innermost of the reduced dimensions, in runs; each for all columns.
  int64_t runDim = -1;
  for (auto [d, extent] : llvm::enumerate(domain.extents))
    if (domain.reduced[d] && extent != 1)
      runDim = static_cast<int64_t>(d);
  auto overRuns = [&](function_ref<void(Value, Value)> body) {
    int64_t rows = std::exchange(domain.extents[runDim], 1); // left out of the loops around
    overReduced(emitter, 0, {}, [&](ValueRange, Value) {
      domain.extents[runDim] = rows;
      Value all = index.constant(rows);
      forLoop(emitter, index.constant(0), all, kRun, [&](Value first) {
        Value last = b.create<arith::MinUIOp>(
            loc, b.create<arith::AddIOp>(loc, first, index.constant(kRun)), all);
        columns([&] { body(first, last); });
      });
      return SmallVector<Value>();
    });
    domain.extents[runDim] = rows;
  };
  for (size_t level = 0; level < levels.size(); ++level) {
    columns([&] {
      for (prim::ReduceOp reduction : levels[level])
        b.create<LLVM::StoreOp>(loc, emitter.toVector(initialOf(emitter, reduction)),
                                address(reduction), alignmentOf(reduction));
    });
    overRuns([&](Value first, Value last) {
      bindBelow(level);
      SmallVector<Value> initial;
      for (prim::ReduceOp reduction : levels[level])
        initial.push_back(emitter.toVector(initialOf(emitter, reduction)));
      SmallVector<Value> sums =
          forLoop(emitter, first, last, 1, initial, [&](Value row, ValueRange in) {
            index.setDim(static_cast<unsigned>(runDim), row, domain.extents[runDim]);
            SmallVector<Value> out;
            for (auto [i, reduction] : llvm::enumerate(levels[level])) {
              Value x = operandOf(emitter, reduction, position);
              out.push_back(reduction.emitCombine(b, in[i], x));
            }
            storeFull(emitter, level);
            return out;
          });
      for (auto [i, reduction] : llvm::enumerate(levels[level]))
        b.create<LLVM::StoreOp>(loc, reduction.emitCombine(b, load(reduction), sums[i]),
                                address(reduction), alignmentOf(reduction));
    });
  }
  if (llvm::any_of(outputs, [&](const Output &o) { return o.full && o.depth == levels.size(); }))
    overRows([&] {
      bindBelow(levels.size());
      storeFull(emitter, levels.size());
    });
  columns([&] {
    bindBelow(levels.size());
    for (auto [i, output] : llvm::enumerate(outputs))
      if (!output.full)
        emitter.store(static_cast<unsigned>(i), keptPosition(),
                      emitter.element(output.value, keptPosition()));
  });
}

/// A task is a row of some columns, with a result in each for each reduction; the threads of a
/// column share its elements.
KernelFunction ReduceKernel::emitForThreads(func::FuncOp function, ErrorTable &errors) {
  BodyEmitter emitter(kernel, function, target, errors, static_cast<unsigned>(position.size()) + 1);
  OpBuilder &b = emitter.builder();
  IndexEmitter &index = emitter.indices();
  auto inner = static_cast<unsigned>(domain.innermost());
  lanesReduced = true;
  SmallVector<unsigned> kept;
  int64_t rows = 1, columns = domain.reduced[inner] ? 1 : domain.extents[inner];
  for (unsigned i = 0; i < position.size(); ++i) {
    index.setDim(i, index.constant(0), domain.extents[i]);
    if (domain.reduced[i] || domain.extents[i] == 1 || i == inner)
      continue;
    kept.push_back(i);
    rows *= domain.extents[i];
  }
  if (rows * columns == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  int64_t elements = domain.count(true);
  int64_t taskColumns = target.shareReduction(function, rows, columns, elements);
  int64_t blocks = (columns + taskColumns - 1) / taskColumns;
  int64_t tasks =
      forEachRow(emitter, function, rows * blocks, elements * taskColumns, [&](Value row) {
        auto [keptRow, block] = index.divide(row, blocks, rows * blocks);
        setRow(emitter, domain, kept, keptRow);
        threadElements = index.constant(elements);
        if (columns > 1) {
          Value first = b.create<arith::MulIOp>(emitter.loc(), block, index.constant(taskColumns));
          Value column =
              b.create<arith::AddIOp>(emitter.loc(), first, target.getColumn(b, function));
          index.setDim(inner, column, columns);
          if (columns % taskColumns != 0) {
            hasResult = b.create<arith::CmpIOp>(emitter.loc(), arith::CmpIPredicate::ult, column,
                                                index.constant(columns));
            threadElements = b.create<arith::SelectOp>(emitter.loc(), hasResult, threadElements,
                                                       index.constant(0));
          }
        }
        emitRow(emitter);
      });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}

FailureOr<KernelFunction> ReduceKernel::emit(ModuleOp module, ErrorTable &errors) {
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  if (target.lanesAreThreads())
    return emitForThreads(function, errors);
  BodyEmitter emitter(kernel, function, target, errors, static_cast<unsigned>(position.size()));
  IndexEmitter &index = emitter.indices();
  vectorDim = static_cast<unsigned>(domain.innermost());
  lanesReduced = domain.reduced[vectorDim];
  for (unsigned i = 0; i < position.size(); ++i)
    index.setDim(i, index.constant(0), domain.extents[i]);

  // Several registers as one vector hide the latency of the combiner; long bodies would spill.
  auto bodySize = std::distance(kernel.getBody().front().begin(), kernel.getBody().front().end());
  int64_t extent = domain.extents[vectorDim];
  int64_t width = target.chooseLanes(extent, bodySize <= 6 ? 4 : bodySize <= 16 ? 2 : 1);
  target.setLanes(emitter, vectorDim, width);

  SmallVector<unsigned> kept;
  int64_t rows = 1;
  for (unsigned i = 0; i < position.size(); ++i)
    if (!domain.reduced[i] && i != vectorDim && domain.extents[i] != 1) {
      kept.push_back(i);
      rows *= domain.extents[i];
    }
  if (domain.count(false) == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  int64_t reducedCount = domain.count(true);
  if (lanesReduced) {
    int64_t tasks = forEachRow(emitter, function, rows, reducedCount, [&](Value row) {
      setRow(emitter, domain, kept, row);
      emitRow(emitter);
    });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  // Lanes are kept: a row is a block of columns.
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
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
          emitBlock(emitter, function, low, high, blockExtent);
          return;
        }
        target.loopOverLanes(emitter, vectorDim, extent, low, high, extent % width == 0, {},
                             [&](ValueRange, Value) {
                               emitRow(emitter);
                               return SmallVector<Value>();
                             });
      });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}

} // namespace

FailureOr<KernelFunction> codegen::emitReduceKernel(exec::KernelOp kernel, ModuleOp module,
                                                    const KernelTarget &target,
                                                    ErrorTable &errors) {
  return ReduceKernel(kernel, target).emit(module, errors);
}
