// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Max-pooling's gradient where channels lie innermost: one vector of channels at one position is
// read and written as it lies. Each lane has its own greatest element, so that a position adds to
// every element of its window, under the mask of the lanes that chose it; no two lanes meet.
#include "codegen/kernel/FirstMaximum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// Adds the source at `position` to the first greatest elements of its window.
void scatterAt(BodyEmitter &emitter, const Windows &w, ArrayRef<AffineExpr> position) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto op = cast<Combining>(w.op);
  IntegerType numbers = b.getI32Type(); // as wide as the values usually are
  auto numberOf = [&](int64_t number) {
    return emitter.constant(b.getIntegerAttr(numbers, number));
  };
  Value chosen =
      firstMaximum(emitter, w, position, numbers,
                   [&](int64_t number, ArrayRef<AffineExpr>) { return numberOf(number); });
  Value source = emitter.toVector(emitter.element(w.source, position));
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(source.getType()));
  int64_t number = 0;
  ReferenceArray::forEachIndex(w.window(), [&](ArrayRef<int64_t> offset) {
    SmallVector<AffineExpr> at = w.elementAt(position, offset);
    Value mine = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, chosen,
                                         emitter.toVector(numberOf(number++)));
    Value added = b.create<arith::SelectOp>(loc, mine, source, zero);
    whereInside(emitter, w.rangesOf(at), [&] {
      Value before = emitter.toVector(emitter.loadOutput(0, at));
      emitter.store(0, at, op.emitCombine(b, before, added));
    });
  });
}

} // namespace

KernelFunction codegen::emitWindowColumns(exec::KernelOp kernel, func::FuncOp function,
                                          const Windows &w, const KernelTarget &target,
                                          ErrorTable &errors) {
  auto rank = static_cast<unsigned>(w.shape().size());
  BodyEmitter emitter(kernel, function, target, errors, rank);
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  IndexEmitter &index = emitter.indices();
  Domain places(w.positions), elements(w.shape());
  SmallVector<unsigned> outer, inner;
  SmallVector<AffineExpr> position;
  int64_t planes = 1, planePositions = 1, planeElements = 1;
  for (unsigned d = 0; d < rank; ++d) {
    index.setDim(d, index.constant(0), std::max(w.shape()[d], w.positions[d]));
    position.push_back(index.dim(d));
    if (d + 1 == rank)
      break;
    (w.isIndependent(d) ? outer : inner).push_back(d);
    (w.isIndependent(d) ? planes : planePositions) *= w.positions[d];
    planeElements *= w.isIndependent(d) ? 1 : w.shape()[d];
  }

  // A task is a plane, or where there are few of them some of its columns.
  constexpr int64_t kPlanes = 16;
  unsigned columns = rank - 1;
  int64_t extent = w.shape()[columns], width = target.chooseLanes(extent);
  auto vectors = static_cast<int64_t>(llvm::divideCeil(extent, width));
  int64_t blocks = std::clamp<int64_t>(kPlanes / planes, 1, vectors);
  int64_t blockExtent = static_cast<int64_t>(llvm::divideCeil(vectors, blocks)) * width;
  blocks = static_cast<int64_t>(llvm::divideCeil(extent, blockExtent));
  int64_t cost = (planeElements + planePositions * ReferenceArray::count(w.window())) * blockExtent;

  int64_t tasks = forEachRow(emitter, function, planes * blocks, cost, [&](Value row) {
    Value count = index.constant(blocks);
    Value low = b.create<arith::MulIOp>(loc, b.create<arith::RemUIOp>(loc, row, count),
                                        index.constant(blockExtent));
    Value high = b.create<arith::MinUIOp>(
        loc, b.create<arith::AddIOp>(loc, low, index.constant(blockExtent)),
        index.constant(extent));
    if (!outer.empty())
      setRow(emitter, places, outer, b.create<arith::DivUIOp>(loc, row, count));
    target.setLanes(emitter, columns, width);
    auto forAll = [&](const Domain &domain, int64_t lines, function_ref<void()> body) {
      forLoop(emitter, index.constant(0), index.constant(lines), 1, [&](Value line) {
        if (!inner.empty())
          setRow(emitter, domain, inner, line);
        target.loopOverLanes(emitter, columns, extent, low, high, extent % width == 0, {},
                             [&](ValueRange, Value) {
                               body();
                               return SmallVector<Value>();
                             });
      });
    };
    if (w.source) {
      auto type = cast<RankedTensorType>(w.source.getType());
      Value zero = emitter.constant(
          cast<TypedAttr>(b.getZeroAttr(BodyEmitter::registerType(type.getElementType()))));
      forAll(elements, planeElements, [&] { emitter.store(0, position, zero); });
      forAll(places, planePositions, [&] { scatterAt(emitter, w, position); });
    } else {
      forAll(places, planePositions,
             [&] { emitter.store(0, position, firstMaximumIndex(emitter, w, position)); });
    }
    target.setLanes(emitter, ~0u, 1);
  });
  return {function, target.getLaunchShape(function, tasks)};
}
