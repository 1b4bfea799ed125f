// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatter: each task owns a piece of the result that no other touches (a slab before the axis, a
// block of lanes after it) and applies all updates to it in order, so that duplicates need no
// atomics and the result does not depend on the number of threads.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"
#include "codegen/kernel/Scatter.h"
#include "support/Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

// Loop variables: those of the result (before the axis, the axis, after it), then those of the
// indices.
FailureOr<KernelFunction> codegen::emitScatterKernel(exec::KernelOp kernel, ModuleOp module,
                                                     const KernelTarget &target,
                                                     ErrorTable &errors) {
  Operation *yield = kernel.getBody().front().getTerminator();
  auto scatter = yield->getNumOperands() == 1
                     ? yield->getOperand(0).getDefiningOp<prim::ScatterOp>()
                     : prim::ScatterOp();
  if (!scatter)
    return emitBug(kernel.getLoc()) << "a scatter kernel yields one scatter";
  auto shape = cast<RankedTensorType>(scatter.getResult().getType()).getShape();
  auto indexShape = cast<RankedTensorType>(scatter.getIndices().getType()).getShape();
  auto axis = static_cast<unsigned>(scatter.getAxis());
  auto rank = static_cast<unsigned>(shape.size());

  // Lanes that are those of a vector run along the last dimension, unless that is the axis.
  bool vectors = axis + 1 < rank;
  func::FuncOp function =
      target.createFunction(kernel, module, /*inLanes=*/vectors || target.lanesAreThreads());
  if (scatter.isPermutation())
    return emitPermutation(kernel, function, scatter, target, errors);
  if (target.lanesAreThreads())
    return emitScatterRows(kernel, function, scatter, target, errors);
  Domain domain(shape);
  BodyEmitter emitter(kernel, function, target, errors,
                      rank + static_cast<unsigned>(indexShape.size()));
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();

  unsigned vectorDim = rank - 1;
  int64_t lanesExtent = vectors ? shape[vectorDim] : 1;
  int64_t width = target.chooseLanes(lanesExtent, 4);
  if (vectors)
    target.setLanes(emitter, vectorDim, width);

  SmallVector<unsigned> outer;
  int64_t rows = 1;
  for (unsigned i = 0; i < rank; ++i) {
    index.setDim(i, index.constant(0), shape[i]);
    if (i != axis && !(vectors && i == vectorDim)) {
      outer.push_back(i);
      rows *= shape[i];
    }
  }
  int64_t blocks = (lanesExtent + width - 1) / width;
  int64_t indexCount = ReferenceArray::count(indexShape);
  if (rows * lanesExtent == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};

  SmallVector<AffineExpr> element, update, indexPosition;
  for (unsigned i = 0; i < rank; ++i)
    element.push_back(index.dim(i));
  for (unsigned i = 0; i < indexShape.size(); ++i)
    indexPosition.push_back(index.dim(rank + i));
  update.append(element.begin(), element.begin() + axis);
  update.append(indexPosition.begin(), indexPosition.end());
  update.append(element.begin() + axis + 1, element.end());

  auto body = [&] {
    forLoop(emitter, index.constant(0), index.constant(shape[axis]), 1, [&](Value i) {
      index.setDim(axis, i, shape[axis]);
      emitter.store(0, element, emitter.element(scatter.getData(), element));
    });
    SmallVector<unsigned> indexDims;
    Domain all(shape);
    for (unsigned i = 0; i < indexShape.size(); ++i) {
      indexDims.push_back(rank + i);
      all.extents.push_back(indexShape[i]);
      index.setDim(rank + i, index.constant(0), indexShape[i]);
    }
    forLoop(emitter, index.constant(0), index.constant(indexCount), 1, [&](Value i) {
      if (!indexDims.empty())
        setRow(emitter, all, indexDims, i);
      AffineExpr at =
          emitter.symbol(emitter.element(scatter.getIndices(), indexPosition), shape[axis], kNoRow);
      if (shape[axis] == 0) // every index is wrong, and there is nothing to be written
        return;
      SmallVector<AffineExpr> to(element);
      to[axis] = at;
      Value next = emitter.toVector(emitter.element(scatter.getUpdates(), update));
      if (scatter.getKind() != prim::ScatterKind::set)
        next = scatter.emitCombine(b, emitter.toVector(emitter.loadOutput(0, to)), next);
      emitter.store(0, to, next);
    });
  };

  int64_t rowElements = (shape[axis] + indexCount) * width;
  int64_t tasks = forEachRow(emitter, function, rows * blocks, rowElements, [&](Value row) {
    Value n = index.constant(blocks);
    if (!outer.empty())
      setRow(emitter, domain, outer, b.create<arith::DivUIOp>(loc, row, n));
    if (!vectors) {
      body();
      return;
    }
    Value low =
        b.create<arith::MulIOp>(loc, b.create<arith::RemUIOp>(loc, row, n), index.constant(width));
    Value high = b.create<arith::MinUIOp>(
        loc, b.create<arith::AddIOp>(loc, low, index.constant(width)), index.constant(lanesExtent));
    target.loopOverLanes(emitter, vectorDim, lanesExtent, low, high, lanesExtent % width == 0, {},
                         [&](ValueRange, Value) {
                           body();
                           return SmallVector<Value>();
                         });
  });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
