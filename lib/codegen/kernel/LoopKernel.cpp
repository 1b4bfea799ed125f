// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the elements of the outputs.
#include "codegen/element/KernelTarget.h"
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"
#include "codegen/kernel/Tiles.h"
#include "ir/prim/IndexRanges.h"
#include "ir/prim/Philox.h"
#include "ir/prim/Pieces.h"
#include "support/SizeThreshold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
/// All outputs at one index, in each of their pieces: every value is computed before the first is
/// stored, because an output may be the same memory as an input.
void emitOutputs(BodyEmitter &emitter, exec::KernelOp kernel, ArrayRef<AffineExpr> position) {
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  ArrayRef<int64_t> space = prim::spaceOf(results);
  struct Element {
    unsigned output;
    SmallVector<AffineExpr> at;
    Value value;
  };
  SmallVector<Element> elements;
  for (unsigned output = 0; output < results.size(); ++output)
    prim::forEachPiece(results[output], space, position, [&](Value piece, ArrayRef<AffineExpr> at) {
      elements.push_back({output, SmallVector<AffineExpr>(at), emitter.element(piece, position)});
    });
  for (const Element &element : elements)
    emitter.store(element.output, element.at, element.value);
}

/// How many registers a loop of vectors takes as one: as many as make blocks of random bits fill
/// one themselves.
int64_t unrollOf(exec::KernelOp kernel) {
  bool drawsBits = llvm::any_of(kernel.getBody().front(),
                                [](Operation &op) { return isa<prim::RandomBitsOp>(op); });
  return drawsBits ? prim::philox::kWords : 1;
}

using EmitAt = llvm::function_ref<void(BodyEmitter &)>;

/// How many neighbours along the innermost dimension a thread takes. Where rows have a length that
/// is no multiple of that, the index among all elements is one: `multiple`.
struct Neighbours {
  int64_t count = 1;
  AffineExpr multiple;
  int64_t end; // of the innermost dimension: behind it elements are taken singly
};

/// Where the last dimension of a tensor ends that a little padding makes `length` long; else
/// `length`.
int64_t endOfPadded(exec::KernelOp kernel, int64_t length) {
  int64_t mostPadding = length / 16; // what is in it is not taken in vectors
  for (auto pad : kernel.getBody().front().getOps<prim::PadOp>()) {
    if (pad.getType().getRank() == 0 || pad.getType().getShape().back() != length)
      continue;
    int64_t low = pad.getLow().back(), high = pad.getHigh().back();
    if (low == 0 && pad.getInterior().back() == 0 && high > 0 && high <= mostPadding)
      return length - high;
  }
  return length;
}

Neighbours chooseNeighbours(exec::KernelOp kernel, const Domain &domain, ArrayRef<unsigned> dims,
                            const KernelTarget &target, EmitAt emit) {
  /// In rows this long few threads of a warp have neighbours of two rows, one after the other.
  const int64_t longRow = sizeThreshold(512);
  int64_t length = domain.extents[dims.back()];
  Neighbours result{chooseNeighbours(kernel, domain, dims.back(), target, emit), nullptr, length};
  if (length < longRow)
    return result;
  if (int64_t end = endOfPadded(kernel, length); end < length) {
    Domain inside(domain);
    inside.extents[dims.back()] = end;
    int64_t count = chooseNeighbours(kernel, inside, dims.back(), target, emit);
    if (count > result.count && length % count == 0)
      return {count, nullptr, end};
  }
  if (dims.size() == 1 || length % (2 * result.count) == 0)
    return result;
  AffineExpr flat = getAffineConstantExpr(0, kernel.getContext());
  for (unsigned dim : dims)
    flat = flat * domain.extents[dim] + getAffineDimExpr(dim, kernel.getContext());
  int64_t count = chooseNeighbours(kernel, domain, dims.back(), target, emit, flat);
  return count > result.count ? Neighbours{count, flat, length} : result;
}

/// Where lanes are threads: each finds the place of its elements in all dimensions.
KernelFunction emitForThreads(exec::KernelOp kernel, ModuleOp module, const Domain &domain,
                              const KernelTarget &target, ErrorTable &errors, EmitAt emit) {
  auto rank = static_cast<unsigned>(domain.extents.size());
  int64_t elements = domain.count(/*ofReduced=*/false);
  SmallVector<unsigned> dims;
  for (unsigned i = 0; i < rank; ++i)
    if (domain.extents[i] != 1)
      dims.push_back(i);
  if (std::optional<Tiling> tiling = findTiling(kernel, domain, dims, target, emit))
    return emitInTiles(kernel, module, domain, *tiling, target, errors, emit);
  int64_t length = dims.empty() ? 1 : domain.extents[dims.back()];
  Neighbours chosen{1, nullptr, length};
  if (elements > 1)
    chosen = chooseNeighbours(kernel, domain, dims, target, emit);
  int64_t neighbours = chosen.count;
  // A task is a thread's neighbours, or single elements of all threads of a warp.
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/neighbours == 1);
  if (elements == 0)
    return {function, target.getLaunchShape(function, 0)};
  const unsigned elementDim = rank, taskDim = rank + 1;
  BodyEmitter emitter(kernel, function, target, errors, rank + 2);
  IndexEmitter &index = emitter.indices();
  index.setShortArithmetic(true);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  int64_t taskElements = target.getTaskElements(function, neighbours);
  auto tasks = static_cast<int64_t>(llvm::divideCeil(elements, taskElements));
  auto [task, last] = emitter.tasks(tasks);
  Value isTask = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, task, last);
  Value size = index.constant(taskElements), end = index.constant(elements);
  branch(emitter, isTask, [&] {
    index.setDim(taskDim, task, tasks);
    Value low = index.evaluate(index.dim(taskDim) * taskElements).base;
    auto emitNeighbours = [&] {
      index.setVector(dims.back(), neighbours, chosen.multiple);
      setRow(emitter, domain, dims, low);
      if (chosen.end < length)
        index.setDim(dims.back(), index.evaluate(index.dim(dims.back())).base, chosen.end);
      emit(emitter);
      index.setVector(~0u, 1);
    };
    bool anyInRow = !chosen.multiple && chosen.end == length;
    if (neighbours > 1 && elements % neighbours == 0 && anyInRow)
      return emitNeighbours();
    Value high = b.create<arith::AddIOp>(loc, low, size);
    auto emitSingly = [&] {
      Value limit = b.create<arith::MinUIOp>(loc, high, end);
      target.loopOverLanes(emitter, elementDim, elements, low, limit, /*exact=*/false, {},
                           [&](ValueRange, Value) {
                             Value at = index.evaluate(index.dim(elementDim)).base;
                             setRow(emitter, domain, dims, at);
                             emit(emitter);
                             return SmallVector<Value>();
                           });
    };
    if (neighbours == 1)
      return emitSingly();
    Value behind = high, bound = end;
    if (!anyInRow) {
      BodyEmitter::Scope scope(emitter);
      setRow(emitter, domain, dims, low);
      Value column = index.evaluate(index.dim(dims.back())).base;
      behind = b.create<arith::AddIOp>(loc, column, size);
      bound = index.constant(chosen.end);
    }
    Value isWhole = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, behind, bound);
    branch(emitter, isWhole, emitNeighbours, emitSingly);
  });
  return {function, target.getLaunchShape(function, tasks)};
}
} // namespace

/// On a CPU: of the dimensions that are walked in rows along `inner`, the one along which the
/// kernel reads neighbours in memory that lie far apart along `inner`. Rows that follow each other
/// along it share what memory transfers for the first, which of a long row has left the cache by
/// then.
static std::optional<unsigned> findStripDim(exec::KernelOp kernel, const Domain &domain,
                                            unsigned inner, ArrayRef<unsigned> outer) {
  constexpr int64_t kFar = 8; // elements: on the way to the next a transfer is used up
  const int64_t longRow = sizeThreshold(512); // 32 KiB of transfers, a nearest cache
  if (domain.extents[inner] < longRow)
    return std::nullopt;
  for (AffineExpr access : kernel.getSpecAttr().getAccesses().getResults()) {
    std::optional<int64_t> apart = prim::coefficientOf(access, inner);
    if (!apart || std::abs(*apart) < kFar)
      continue;
    for (unsigned dim : outer)
      if (domain.extents[dim] >= kFar && prim::coefficientOf(access, dim) == 1)
        return dim;
  }
  return std::nullopt;
}

FailureOr<KernelFunction> codegen::emitLoopKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  Domain domain(kernel.getSpecAttr());
  SmallVector<AffineExpr> position = domain.position(kernel.getContext());
  auto emit = [&](BodyEmitter &emitter) { emitOutputs(emitter, kernel, position); };
  if (target.lanesAreThreads())
    return emitForThreads(kernel, module, domain, target, errors, emit);

  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  auto rank = static_cast<unsigned>(domain.extents.size());
  BodyEmitter emitter(kernel, function, target, errors, rank);
  int64_t vectorDim = domain.innermost();
  if (vectorDim < 0) { // rank 0
    emit(emitter);
    return KernelFunction{function, target.getLaunchShape(function, 1)};
  }

  SmallVector<unsigned> outer;
  int64_t rows = 1, elements = domain.count(/*ofReduced=*/false);
  for (unsigned i = 0; i < rank; ++i) {
    if (domain.extents[i] == 1 || i == vectorDim)
      continue;
    outer.push_back(i);
    rows *= domain.extents[i];
  }
  if (elements == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  IndexEmitter &index = emitter.indices();
  auto dim = static_cast<unsigned>(vectorDim);
  int64_t extent = domain.extents[dim], width = target.chooseLanes(extent, unrollOf(kernel));
  target.setLanes(emitter, dim, width);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  if (std::optional<unsigned> stripDim = findStripDim(kernel, domain, dim, outer)) {
    constexpr int64_t kStrip = 16; // rows: elements of 4 bytes that memory transfers together
    int64_t across = domain.extents[*stripDim], strips = llvm::divideCeil(across, kStrip);
    int64_t count = rows / across * strips;
    llvm::erase(outer, *stripDim);
    int64_t tasks = forEachRow(emitter, function, count, extent * kStrip, [&](Value row) {
      auto [rest, strip] = index.divide(row, strips, count);
      if (!outer.empty())
        setRow(emitter, domain, outer, rest);
      Value first = b.create<arith::MulIOp>(loc, strip, index.constant(kStrip));
      Value last = b.create<arith::AddIOp>(loc, first, index.constant(kStrip));
      last = b.create<arith::MinUIOp>(loc, last, index.constant(across));
      target.loopOverLanes(emitter, dim, extent, index.constant(0), index.constant(extent),
                           extent % width == 0, {}, [&](ValueRange, Value) {
                             forLoop(emitter, first, last, 1, [&](Value i) {
                               index.setDim(*stripDim, i, across);
                               emit(emitter);
                             });
                             return SmallVector<Value>();
                           });
    });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  if (!outer.empty()) {
    int64_t tasks = forEachRow(emitter, function, rows, extent, [&](Value row) {
      setRow(emitter, domain, outer, row);
      target.loopOverLanes(emitter, dim, extent, index.constant(0), index.constant(extent),
                           extent % width == 0, {}, [&](ValueRange, Value) {
                             emit(emitter);
                             return SmallVector<Value>();
                           });
    });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  // One long row: a task is a piece of it.
  int64_t taskElements = target.getTaskElements(function);
  auto tasks = static_cast<int64_t>(llvm::divideCeil(elements, taskElements));
  Value perTask = index.constant(taskElements), end = index.constant(elements);
  auto [first, last] = emitter.tasks(tasks);
  Value low = b.create<arith::MulIOp>(loc, first, perTask);
  Value high = b.create<arith::MinUIOp>(loc, b.create<arith::MulIOp>(loc, last, perTask), end);
  target.loopOverLanes(emitter, dim, elements, low, high, elements % width == 0, {},
                       [&](ValueRange, Value) {
                         emit(emitter);
                         return SmallVector<Value>();
                       });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
