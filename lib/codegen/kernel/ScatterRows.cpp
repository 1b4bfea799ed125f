// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatter where lanes are threads. A task owns some rows of the result, neighbours along the axis,
// in some of the columns after it. Its lanes look through all indices, one each, for those of its
// rows, and then apply these updates together, one after the other, a lane to each column. So
// duplicates need no atomics: every element adds up its updates in their order.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// How many rows and columns a task owns.
struct Share {
  int64_t rows, columns;
};

/// Each task reads all indices: as few tasks as keep the machine busy. What a lane has of an update
/// it does one after the other, so that columns are divided first.
Share chooseShare(int64_t slabs, int64_t rows, int64_t columns, int64_t lanes, int64_t busy) {
  Share share{std::min(lanes, static_cast<int64_t>(llvm::PowerOf2Ceil(
                                  static_cast<uint64_t>(std::max<int64_t>(rows, 1))))),
              columns};
  auto tasks = [&] {
    return slabs * static_cast<int64_t>(llvm::divideCeil(rows, share.rows) *
                                        llvm::divideCeil(columns, share.columns));
  };
  while (tasks() < busy && share.columns > lanes)
    share.columns =
        static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(share.columns, int64_t(2)), lanes));
  while (tasks() < busy && share.rows > 1)
    share.rows /= 2;
  return share;
}

} // namespace

KernelFunction codegen::emitScatterRows(exec::KernelOp kernel, func::FuncOp function,
                                        prim::ScatterOp scatter, const KernelTarget &target,
                                        ErrorTable &errors) {
  auto shape = cast<RankedTensorType>(scatter.getResult().getType()).getShape();
  auto indexShape = cast<RankedTensorType>(scatter.getIndices().getType()).getShape();
  auto axis = static_cast<unsigned>(scatter.getAxis());
  auto rank = static_cast<unsigned>(shape.size()),
       indexRank = static_cast<unsigned>(indexShape.size());
  int64_t extent = shape[axis], indexCount = ReferenceArray::count(indexShape);
  int64_t slabs = ReferenceArray::count(shape.take_front(axis)),
          columns = ReferenceArray::count(shape.drop_front(axis + 1));
  if (slabs * columns == 0)
    return {function, target.getLaunchShape(function, 0)};

  // Loop variables: those of the result, those of the index that a lane reads and of the update
  // that all apply, and the columns as one.
  unsigned read = rank, applied = rank + indexRank, flat = applied + indexRank;
  BodyEmitter emitter(kernel, function, target, errors, flat + 1);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  Domain domain(shape);
  domain.extents.append(indexShape.begin(), indexShape.end());
  domain.extents.append(indexShape.begin(), indexShape.end());
  SmallVector<unsigned> outer, inner, readDims, appliedDims;
  SmallVector<AffineExpr> element, indexPosition, update;
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

  int64_t lanes = target.chooseLanes(columns);
  Share share = chooseShare(slabs, extent, columns, lanes, target.getBusyTasks(function));
  // Where there are no rows a task still finds that all indices are wrong.
  auto groups = std::max<int64_t>(1, static_cast<int64_t>(llvm::divideCeil(extent, share.rows))),
       blocks = static_cast<int64_t>(llvm::divideCeil(columns, share.columns));
  auto set = [&](ArrayRef<unsigned> dims, Value row) {
    if (!dims.empty())
      setRow(emitter, domain, dims, row);
  };
  auto offset = [&](Value number, int64_t size) -> Value {
    return b.create<arith::MulIOp>(loc, number, index.constant(size));
  };
  auto end = [&](Value first, int64_t size, int64_t limit) -> Value {
    return b.create<arith::MinUIOp>(loc, b.create<arith::AddIOp>(loc, first, index.constant(size)),
                                    index.constant(limit));
  };

  auto [begin, last] = emitter.tasks(slabs * groups * blocks);
  forLoop(emitter, begin, last, 1, [&](Value task) {
    auto [slabAndGroup, block] = index.divide(task, blocks, slabs * groups * blocks);
    auto [slab, group] = index.divide(slabAndGroup, groups, slabs * groups);
    set(outer, slab);
    Value firstRow = offset(group, share.rows), endRow = end(firstRow, share.rows, extent);
    Value firstColumn = offset(block, share.columns),
          endColumn = end(firstColumn, share.columns, columns);
    Value lane = target.getLane(b, function);
    // An element is always the same lane's.
    auto inLanes = [&](Value row, function_ref<void()> body) {
      index.setDim(axis, row, extent);
      if (columns == 1) {
        Value own = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, lane,
                                            b.create<arith::SubIOp>(loc, row, firstRow));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(
            b.create<scf::IfOp>(loc, own, /*withElseRegion=*/false).thenBlock());
        BodyEmitter::Scope scope(emitter);
        return body();
      }
      target.loopOverLanes(emitter, flat, columns, firstColumn, endColumn, /*exact=*/false, {},
                           [&](ValueRange, Value) {
                             set(inner, index.evaluate(index.dim(flat)).base);
                             body();
                             return SmallVector<Value>();
                           });
    };
    forLoop(emitter, firstRow, endRow, 1, [&](Value row) {
      inLanes(row, [&] { emitter.store(0, element, emitter.element(scatter.getData(), element)); });
    });
    forLoop(emitter, index.constant(0), index.constant(indexCount), lanes, [&](Value first) {
      Value at = b.create<arith::AddIOp>(loc, first, lane);
      Value limit = index.constant(indexCount - 1);
      set(readDims, b.create<arith::MinUIOp>(loc, at, limit));
      AffineExpr to = emitter.symbol(emitter.element(scatter.getIndices(), indexPosition), extent,
                                     "an index of a scatter is out of range");
      if (extent == 0)
        return;
      Value row = index.evaluate(to).base;
      Value mine = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                           b.create<arith::SubIOp>(loc, row, firstRow),
                                           b.create<arith::SubIOp>(loc, endRow, firstRow));
      mine = b.create<arith::AndIOp>(
          loc, mine, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, at, limit));
      target.forEachLaneWhere(emitter, mine, [&](Value which) {
        set(appliedDims, b.create<arith::AddIOp>(loc, first, which));
        inLanes(target.getFromLane(emitter, row, which), [&] {
          Value next = emitter.element(scatter.getUpdates(), update);
          if (scatter.getKind() != prim::ScatterKind::set)
            next = scatter.emitCombine(b, emitter.loadOutput(0, element), next);
          emitter.store(0, element, next);
        });
      });
    });
  });
  return {function, target.getLaunchShape(function, slabs * groups * blocks)};
}
