// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Max-pooling's gradient as a gather, and where the maxima are. A thread has the elements of the
// result that lie between two positions of the windows. It finds the first greatest element of each
// window that covers some of these, and adds the window's source where it is one of them. So no two
// threads write an element, and each adds up in the order of the windows.
#include "codegen/kernel/FirstMaximum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// What is unrolled: elements of a block, and elements of all windows that cover it.
constexpr int64_t kMostElements = 64, kMostCandidates = 128;

/// The result in blocks of `block` elements, which start where `strides` does. The windows that
/// cover some of a block's elements have the `counts` positions from `block number + first` on;
/// where a block is one element, from (element + low) floordiv stride + first.
struct Blocks {
  SmallVector<int64_t> block, numbers, first, counts;

  explicit Blocks(const Windows &w);
  int64_t elements() const { return ReferenceArray::count(block); }
  int64_t windows() const { return ReferenceArray::count(counts); }
};

Blocks::Blocks(const Windows &w) : block(w.geometry.strides) {
  const prim::WindowGeometry &g = w.geometry;
  if (elements() > kMostElements)
    block.assign(block.size(), 1);
  for (size_t d = 0; d < block.size(); ++d) {
    int64_t stride = g.strides[d], reach = (g.window[d] - 1) * g.dilations[d];
    numbers.push_back(llvm::divideCeil(g.extents[d], block[d]));
    bool isStride = block[d] == stride;
    int64_t least = isStride ? llvm::divideCeilSigned(g.low[d] - reach, stride) : -(reach / stride);
    int64_t last = isStride ? llvm::divideFloorSigned(block[d] - 1 + g.low[d], stride) : 0;
    first.push_back(least);
    counts.push_back(last - least + 1);
  }
}

class WindowGather {
public:
  WindowGather(exec::KernelOp kernel, func::FuncOp function, const Windows &w,
               const KernelTarget &target, ErrorTable &errors)
      : w(w), blocks(w), rank(static_cast<unsigned>(w.shape().size())),
        // The block's or position's number in each dimension, all of them as one, and the
        // window's.
        emitter(kernel, function, target, errors, 2 * rank + 1), b(emitter.builder()),
        index(emitter.indices()) {}

  /// Return the number of tasks.
  int64_t emitBlocks(func::FuncOp function) {
    return forEachElement(emitter, function, blocks.numbers, [&] { emitBlock(); });
  }
  int64_t emitPositions(func::FuncOp function) {
    return forEachElement(emitter, function, w.positions, [&] { emitPosition(); });
  }

private:
  void emitBlock();
  void emitPosition();
  /// The sums of the block's elements, with what the window at `position` adds. `number` is its
  /// place among those that cover the block; empty where that is known at run time only.
  SmallVector<Value> addWindow(ArrayRef<AffineExpr> position, ArrayRef<int64_t> number,
                               NearestIndices &elements, NearestIndices &positions,
                               ValueRange sums);
  /// The label that the window's first greatest element has if it is element `offset` of the block:
  /// its number in the window, null if it is not there; of a window known at run time only, its
  /// place in the operand.
  Value labelInBlock(ArrayRef<int64_t> offset, ArrayRef<int64_t> number);
  Value numberLabel(int64_t number) {
    return emitter.constant(b.getI32IntegerAttr(static_cast<int32_t>(number)));
  }
  AffineExpr blockNumber(size_t d) const { return index.dim(static_cast<unsigned>(d)); }
  AffineExpr positionOf(size_t d, AffineExpr number) const;
  AffineExpr elementAt(size_t d, int64_t offset) const {
    return blockNumber(d) * blocks.block[d] + offset;
  }
  Value labelOf(ArrayRef<AffineExpr> at) {
    return emitter.indexValue(w.linear(at), b.getI64Type());
  }

  const Windows &w;
  Blocks blocks;
  unsigned rank;
  BodyEmitter emitter;
  OpBuilder &b;
  IndexEmitter &index;
};

AffineExpr WindowGather::positionOf(size_t d, AffineExpr number) const {
  int64_t stride = w.geometry.strides[d];
  AffineExpr start = blockNumber(d);
  if (blocks.block[d] != stride)
    start = (start + w.geometry.low[d]).floorDiv(stride);
  return start + number + blocks.first[d];
}

Value WindowGather::labelInBlock(ArrayRef<int64_t> offset, ArrayRef<int64_t> number) {
  const prim::WindowGeometry &g = w.geometry;
  if (number.empty()) {
    SmallVector<AffineExpr> at;
    for (unsigned d = 0; d < rank; ++d)
      at.push_back(elementAt(d, offset[d]));
    return labelOf(at);
  }
  int64_t inWindow = 0;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t apart = offset[d] + g.low[d] - (number[d] + blocks.first[d]) * g.strides[d];
    if (apart < 0 || apart % g.dilations[d] != 0 || apart / g.dilations[d] >= g.window[d])
      return {};
    inWindow = inWindow * g.window[d] + apart / g.dilations[d];
  }
  return numberLabel(inWindow);
}

SmallVector<Value> WindowGather::addWindow(ArrayRef<AffineExpr> position, ArrayRef<int64_t> number,
                                           NearestIndices &elements, NearestIndices &positions,
                                           ValueRange sums) {
  auto op = cast<Combining>(w.op);
  Location loc = emitter.loc();
  bool isKnown = !number.empty();
  Value chosen = firstMaximum(emitter, w, position, isKnown ? b.getI32Type() : b.getI64Type(),
                              elements, [&](int64_t label, ArrayRef<AffineExpr> at) {
                                return isKnown ? numberLabel(label) : labelOf(at);
                              });
  auto [place, exists] = positions.of(position);
  Value source = emitter.element(w.source, place);
  Value zero = emitter.constant(cast<TypedAttr>(b.getZeroAttr(source.getType())));
  if (exists)
    source = b.create<arith::SelectOp>(loc, exists, source, zero);
  SmallVector<Value> next;
  ReferenceArray::forEachIndex(blocks.block, [&](ArrayRef<int64_t> offset) {
    Value sum = sums[next.size()];
    if (Value label = labelInBlock(offset, number)) {
      Value mine = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, chosen, label);
      sum = op.emitCombine(b, sum, b.create<arith::SelectOp>(loc, mine, source, zero));
    }
    next.push_back(sum);
  });
  return next;
}

void WindowGather::emitBlock() {
  auto type = cast<RankedTensorType>(w.source.getType());
  Value zero = emitter.constant(
      cast<TypedAttr>(b.getZeroAttr(BodyEmitter::registerType(type.getElementType()))));
  SmallVector<Value> sums(static_cast<size_t>(blocks.elements()), zero);
  bool isStride = ArrayRef<int64_t>(blocks.block) == w.geometry.strides;
  SmallVector<AffineExpr> position(rank);
  if (ReferenceArray::count(w.positions) == 0) {
    // There are no windows.
  } else if (isStride && blocks.windows() * ReferenceArray::count(w.window()) <= kMostCandidates) {
    NearestIndices elements(emitter, w.shape()), positions(emitter, w.positions);
    ReferenceArray::forEachIndex(blocks.counts, [&](ArrayRef<int64_t> number) {
      for (unsigned d = 0; d < rank; ++d)
        position[d] = positionOf(d, getAffineConstantExpr(number[d], b.getContext()));
      sums = addWindow(position, number, elements, positions, sums);
    });
  } else {
    Domain windows(SmallVector<int64_t>(rank + 1, 1));
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < rank; ++d) {
      unsigned dim = rank + 1 + d;
      windows.extents.push_back(blocks.counts[d]);
      index.setDim(dim, index.constant(0), blocks.counts[d]);
      position[d] = positionOf(d, index.dim(dim));
      dims.push_back(dim);
    }
    sums = forLoop(emitter, index.constant(0), index.constant(blocks.windows()), 1, sums,
                   [&](Value number, ValueRange in) {
                     setRow(emitter, windows, dims, number);
                     NearestIndices elements(emitter, w.shape()), positions(emitter, w.positions);
                     return addWindow(position, {}, elements, positions, in);
                   });
  }
  size_t next = 0;
  ReferenceArray::forEachIndex(blocks.block, [&](ArrayRef<int64_t> offset) {
    SmallVector<AffineExpr> at;
    for (unsigned d = 0; d < rank; ++d)
      at.push_back(elementAt(d, offset[d]));
    Value sum = sums[next++];
    whereInside(emitter, w.rangesOf(at), [&] { emitter.store(0, at, sum); });
  });
}

void WindowGather::emitPosition() {
  SmallVector<AffineExpr> position;
  for (unsigned d = 0; d < rank; ++d)
    position.push_back(index.dim(d));
  bool isEmpty = ReferenceArray::count(w.shape()) == 0; // nothing can be read, nor need be
  emitter.store(0, position,
                isEmpty ? index.constant(-1) : firstMaximumIndex(emitter, w, position));
}

} // namespace

KernelFunction codegen::emitWindowGather(exec::KernelOp kernel, func::FuncOp function,
                                         const Windows &w, const KernelTarget &target,
                                         ErrorTable &errors) {
  if (ReferenceArray::count(w.source ? w.shape() : ArrayRef<int64_t>(w.positions)) == 0)
    return {function, target.getLaunchShape(function, 0)};
  WindowGather gather(kernel, function, w, target, errors);
  int64_t tasks = w.source ? gather.emitBlocks(function) : gather.emitPositions(function);
  return {function, target.getLaunchShape(function, tasks)};
}
