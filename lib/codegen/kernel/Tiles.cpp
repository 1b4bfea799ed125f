// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/Tiles.h"

#include "ir/prim/IndexRanges.h"
#include "support/TensorBytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Of a tile with two long sides; of one with a short side the other is longer.
static constexpr int64_t kSide = 32;
/// Lanes of a block, each of which takes some elements of a tile.
static constexpr int64_t kLanes = 256;
/// Elements that memory transfers together: fewer neighbours are no gain, and of no more others a
/// warp finds as many neighbours itself.
static constexpr int64_t kSector = 8, kFewOthers = 4;

static bool hasSymbol(AffineExpr expression) {
  bool found = false;
  expression.walk([&](AffineExpr part) { found |= isa<AffineSymbolExpr>(part); });
  return found;
}

/// So that neither the lanes along a row nor those along a column of a tile meet in a bank.
static int64_t strideOf(const Tiling &tiling) { return tiling.height | 1; }

/// How many elements of a tile each lane takes, one after the other.
static int64_t stepsOf(const Tiling &tiling, int64_t lanes) {
  return static_cast<int64_t>(
      llvm::divideCeil(tiling.width * tiling.height, static_cast<uint64_t>(lanes)));
}

/// Elements of shared memory for a tile: in the last step lanes past its end write behind it.
static int64_t sharedElements(const Tiling &tiling, int64_t lanes) {
  auto columns = static_cast<int64_t>(
      llvm::divideCeil(stepsOf(tiling, lanes) * lanes, static_cast<uint64_t>(tiling.height)));
  return columns * strideOf(tiling);
}

std::optional<Tiling> codegen::findTiling(exec::KernelOp kernel, const Domain &domain,
                                          ArrayRef<unsigned> dims, const KernelTarget &target,
                                          function_ref<void(BodyEmitter &)> emit) {
  if (dims.size() < 2 || domain.extents[dims.back()] <= kFewOthers || domain.count(false) == 0)
    return std::nullopt;
  unsigned across = dims.back();
  // The dimension along which an element's neighbour in memory is the next.
  auto downOf = [&](AffineExpr offset) -> std::optional<unsigned> {
    std::optional<int64_t> apart = prim::coefficientOf(offset, across);
    if (!apart || *apart < kSector || hasSymbol(offset))
      return std::nullopt;
    for (unsigned dim : dims)
      if (domain.extents[dim] >= kSector && prim::coefficientOf(offset, dim) == 1)
        return dim;
    return std::nullopt;
  };
  if (llvm::none_of(kernel.getSpecAttr().getAccesses().getResults(),
                    [&](AffineExpr access) { return downOf(access).has_value(); }))
    return std::nullopt; // without a walk through the body
  BodyEmitter::Recorder accesses =
      recordAccesses(kernel, domain, target, emit, across, /*width=*/1);
  std::optional<Tiling> tiling;
  int64_t bytes = 0;
  for (auto [input, offset] : accesses.reads) {
    std::optional<unsigned> down = downOf(offset);
    if (!down || (tiling && tiling->down != *down))
      continue;
    // Outside of the input lies what is read under a condition only.
    auto range = prim::indexRange(offset, {domain.extents, {}});
    if (!range || range->first < 0 ||
        range->second >= cast<RankedTensorType>(input.getType()).getNumElements())
      continue;
    if (!tiling) {
      int64_t columns = domain.extents[across], rows = domain.extents[*down];
      tiling = Tiling{across, *down, std::min(columns, kSide), std::min(rows, kSide), {}};
      tiling->height = std::min(rows, std::max(kSide, kSide * kSide / tiling->width));
      tiling->width = std::min(columns, std::max(kSide, kSide * kSide / tiling->height));
    }
    int64_t more =
        sharedElements(*tiling, kLanes) * elementBytes(cast<RankedTensorType>(input.getType()));
    if (bytes + more > target.getBlockLimits().sharedBytes)
      continue;
    bytes += more;
    tiling->reads.push_back({input, offset});
  }
  return tiling;
}

namespace {

/// A boolean lies in memory as a byte.
Type sharedType(Value input) {
  Type element =
      BodyEmitter::registerType(cast<RankedTensorType>(input.getType()).getElementType());
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

class TileEmitter {
public:
  TileEmitter(BodyEmitter &emitter, const Domain &domain, const Tiling &tiling)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        domain(domain), tiling(tiling) {}

  int64_t emit(function_ref<void(BodyEmitter &)> body);

private:
  struct Place {
    Value across, down; // in the tile
  };
  /// Whether there are lanes past the end of the tile in the last step.
  bool pastEnd() const { return stepsOf(tiling, lanes) * lanes > tiling.width * tiling.height; }
  Place placeOf(int64_t step, bool alongDown) const;
  /// Sets the loop variable to what the tile has at `at`; gives whether that is inside, null: yes.
  Value setInside(unsigned dim, Value first, Value at, int64_t side, bool clamp);
  Value address(size_t read, Place place) const;
  void fill();
  void compute(function_ref<void(BodyEmitter &)> body);

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  const Domain &domain;
  const Tiling &tiling;
  int64_t lanes = 0;
  Value firstAcross, firstDown; // of the tile
  SmallVector<Value> shared;    // for each read
};

TileEmitter::Place TileEmitter::placeOf(int64_t step, bool alongDown) const {
  int64_t bound = stepsOf(tiling, lanes) * lanes;
  Value lane = emitter.target().getLane(b, emitter.getFunction());
  Value at = b.create<arith::AddIOp>(loc, lane, index.constant(step * lanes));
  auto [outer, inner] = index.divide(at, alongDown ? tiling.height : tiling.width, bound);
  return alongDown ? Place{outer, inner} : Place{inner, outer};
}

Value TileEmitter::setInside(unsigned dim, Value first, Value at, int64_t side, bool clamp) {
  int64_t extent = domain.extents[dim];
  Value i = b.create<arith::AddIOp>(loc, first, at), inside;
  if (extent % side != 0 || (clamp && pastEnd())) {
    Value last = index.constant(extent - 1);
    if (clamp)
      i = b.create<arith::MinUIOp>(loc, i, last);
    else
      inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, i, last);
  }
  index.setDim(dim, i, extent);
  return inside;
}

Value TileEmitter::address(size_t read, Place place) const {
  Value row = b.create<arith::MulIOp>(loc, place.across, index.constant(strideOf(tiling)));
  Value at = b.create<arith::AddIOp>(loc, row, place.down);
  return b.create<LLVM::GEPOp>(loc, shared[read].getType(), sharedType(tiling.reads[read].first),
                               shared[read], ArrayRef<LLVM::GEPArg>{at});
}

/// All loads, then all stores. What lies past an edge is the element at it, which nobody reads.
void TileEmitter::fill() {
  SmallVector<std::pair<Value, Value>> stores; // address, value
  for (int64_t step = 0; step < stepsOf(tiling, lanes); ++step) {
    BodyEmitter::Scope scope(emitter);
    Place place = placeOf(step, /*alongDown=*/true);
    (void)setInside(tiling.across, firstAcross, place.across, tiling.width, /*clamp=*/true);
    (void)setInside(tiling.down, firstDown, place.down, tiling.height, /*clamp=*/true);
    for (auto [i, read] : llvm::enumerate(tiling.reads)) {
      Value value = emitter.loadInput(read.first, read.second);
      if (value.getType() != sharedType(read.first))
        value = b.create<arith::ExtUIOp>(loc, sharedType(read.first), value);
      stores.push_back({address(i, place), value});
    }
  }
  for (auto [to, value] : stores)
    b.create<LLVM::StoreOp>(loc, value, to);
}

void TileEmitter::compute(function_ref<void(BodyEmitter &)> body) {
  int64_t size = tiling.width * tiling.height;
  for (int64_t step = 0; step < stepsOf(tiling, lanes); ++step) {
    BodyEmitter::Scope scope(emitter);
    Place place = placeOf(step, /*alongDown=*/false);
    Value inside;
    auto alsoInside = [&](Value condition) {
      if (condition)
        inside = inside ? Value(b.create<arith::AndIOp>(loc, inside, condition)) : condition;
    };
    alsoInside(setInside(tiling.across, firstAcross, place.across, tiling.width, /*clamp=*/false));
    alsoInside(setInside(tiling.down, firstDown, place.down, tiling.height, /*clamp=*/false));
    if ((step + 1) * lanes > size) {
      Value lane = emitter.target().getLane(b, emitter.getFunction());
      alsoInside(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, lane,
                                         index.constant(size - step * lanes)));
    }
    auto emitBody = [&] {
      for (auto [i, read] : llvm::enumerate(tiling.reads)) {
        Type memory = sharedType(read.first);
        Value value = b.create<LLVM::LoadOp>(loc, memory, address(i, place));
        Type element = BodyEmitter::registerType(
            cast<RankedTensorType>(read.first.getType()).getElementType());
        if (memory != element)
          value = b.create<arith::TruncIOp>(loc, element, value);
        emitter.bindOffset(read.first, read.second, value);
      }
      body(emitter);
      emitter.unbindAll();
    };
    if (inside)
      branch(emitter, inside, emitBody);
    else
      emitBody();
  }
}

/// Gives the number of tiles.
int64_t TileEmitter::emit(function_ref<void(BodyEmitter &)> body) {
  func::FuncOp function = emitter.getFunction();
  const KernelTarget &target = emitter.target();
  lanes = target.setBlock(function, kLanes);
  for (auto [input, offset] : tiling.reads)
    shared.push_back(
        target.createShared(b, function, sharedType(input), sharedElements(tiling, lanes)));
  SmallVector<unsigned> outer;
  int64_t slabs = 1;
  for (unsigned d = 0; d < domain.extents.size(); ++d) {
    index.setDim(d, index.constant(0), domain.extents[d]);
    if (d == tiling.across || d == tiling.down || domain.extents[d] == 1)
      continue;
    outer.push_back(d);
    slabs *= domain.extents[d];
  }
  auto count = [&](unsigned dim, int64_t side) {
    return static_cast<int64_t>(llvm::divideCeil(domain.extents[dim], side));
  };
  int64_t wide = count(tiling.across, tiling.width), high = count(tiling.down, tiling.height),
          tasks = slabs * high * wide;
  auto [task, last] = emitter.tasks(tasks);
  Value number = task;
  Value isTask = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, number, last);
  branch(emitter, isTask, [&] {
    auto [slabAndRow, column] = index.divide(number, wide, tasks);
    auto [slab, row] = index.divide(slabAndRow, high, slabs * high);
    setRow(emitter, domain, outer, slab);
    firstAcross = b.create<arith::MulIOp>(loc, column, index.constant(tiling.width));
    firstDown = b.create<arith::MulIOp>(loc, row, index.constant(tiling.height));
    fill();
    target.synchronize(b, loc);
    compute(body);
  });
  return tasks;
}

} // namespace

KernelFunction codegen::emitInTiles(exec::KernelOp kernel, ModuleOp module, const Domain &domain,
                                    const Tiling &tiling, const KernelTarget &target,
                                    ErrorTable &errors, function_ref<void(BodyEmitter &)> emit) {
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  BodyEmitter emitter(kernel, function, target, errors,
                      static_cast<unsigned>(domain.extents.size()));
  emitter.indices().setShortArithmetic(true);
  int64_t tasks = TileEmitter(emitter, domain, tiling).emit(emit);
  return {function, target.getLaunchShape(function, tasks)};
}
