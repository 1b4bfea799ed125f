// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stable sorting along one dimension. Short rows by ranks: an element's place is the number of
// elements that go before it, which needs no branches and work that grows with the square of the
// extent. Longer rows on a CPU by pivots; where lanes are threads by a network in the memory that
// those of a block share, and by ranks where a row does not fit there (split-sorts leaves none).
#include "codegen/kernel/Sort.h"

#include "support/Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Rows that are sorted as fast by ranks.
static constexpr int64_t kMostByRank = 64;

namespace {

/// Finds the place of each element of a row by itself.
class RankSort {
public:
  /// Loop variable `otherDim` is free.
  RankSort(BodyEmitter &emitter, prim::SortOp op, ArrayRef<AffineExpr> row, unsigned otherDim)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        op(op), row(row), along(static_cast<size_t>(op.getDimension())),
        extent(op.getOperand().getType().getShape()[along]), otherDim(otherDim) {}

  /// Stores the element of the row that is at place `at` (i64).
  void emit(Value at, ValueRange results);

private:
  Value countBefore(Value at, Value x);

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  prim::SortOp op;
  ArrayRef<AffineExpr> row;
  size_t along;
  int64_t extent;
  unsigned otherDim;
};

} // namespace

/// How many elements of the row go before `x`, that at place `at`.
Value RankSort::countBefore(Value at, Value x) {
  SmallVector<AffineExpr> other(row);
  other[along] = index.dim(otherDim);
  SmallVector<Value> count = forLoop(
      emitter, index.constant(0), index.constant(extent), 1, ValueRange{index.constant(0)},
      [&](Value j, ValueRange in) -> SmallVector<Value> {
        index.setDim(otherDim, j, extent);
        Value y = emitter.element(op.getOperand(), other);
        Value before = op.emitPrecedes(b, y, x), after = op.emitPrecedes(b, x, y);
        // Equal elements keep their order.
        Value earlier = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, j, at);
        Value flag = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
        Value notAfter = b.create<arith::XOrIOp>(loc, after, flag);
        Value goes =
            b.create<arith::OrIOp>(loc, before, b.create<arith::AndIOp>(loc, notAfter, earlier));
        return {b.create<arith::AddIOp>(loc, in[0],
                                        b.create<arith::ExtUIOp>(loc, b.getI64Type(), goes))};
      });
  return count.front();
}

void RankSort::emit(Value at, ValueRange results) {
  Value x = emitter.element(op.getOperand(), row);
  SmallVector<AffineExpr> to(row);
  auto store = [&](Value place, int64_t bound) {
    to[along] = index.addSymbol(place, bound);
    for (auto [output, result] : llvm::enumerate(results))
      emitter.store(static_cast<unsigned>(output), to, result == op.getValues() ? x : at);
  };
  Value place = countBefore(at, x);
  if (op.getCount() == extent)
    return store(place, extent);
  // Before the range the difference is negative: a greater number without a sign.
  place = b.create<arith::SubIOp>(loc, place, index.constant(op.getFirst()));
  Value isInside =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, place, index.constant(op.getCount()));
  branch(emitter, isInside, [&] { store(place, op.getCount()); });
}

// Loop variables: those of the operand, then one that numbers its elements, then one more along the
// sorted dimension.
FailureOr<KernelFunction> codegen::emitSortKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  Operation *op = results.front().getDefiningOp();
  auto sort = dyn_cast_or_null<prim::SortOp>(op);
  auto merge = dyn_cast_or_null<prim::MergeOp>(op);
  for (Value result : results)
    if ((!sort && !merge) || result.getDefiningOp() != op)
      return emitBug(kernel.getLoc()) << "a sort kernel yields results of one sort or merge";
  auto shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  auto rank = static_cast<unsigned>(shape.size());
  auto along = static_cast<unsigned>(sort ? sort.getDimension() : merge.getDimension());
  int64_t extent = shape[along];
  bool inLanes = target.lanesAreThreads(), isLong = sort && !inLanes && extent > kMostByRank;
  if (isLong && !llvm::is_contained(results, sort.getIndices()))
    return emitBug(kernel.getLoc()) << "a kernel sorts in the indices, but does not yield them";

  Domain domain(shape);
  func::FuncOp function = target.createFunction(kernel, module, inLanes);
  BodyEmitter emitter(kernel, function, target, errors, rank + 2);
  IndexEmitter &index = emitter.indices();
  const Lines lines(emitter, domain, along);
  ArrayRef<AffineExpr> own = lines.position;
  if (ReferenceArray::count(shape) == 0 || (sort && sort.getCount() == 0))
    return KernelFunction{function, target.getLaunchShape(function, 0)};

  if (sort && inLanes && extent > kMostByRank && fitsBlock(sort, target)) {
    int64_t tasks = emitBlockSort(emitter, sort, results, lines);
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }

  auto placeElement = [&] {
    Value at = index.evaluate(index.dim(along)).base;
    if (merge)
      emitMerge(emitter, merge, results, own, at);
    else
      RankSort(emitter, sort, own, rank + 1).emit(at, results);
  };
  bool byRank = sort && !isLong;
  int64_t cost = extent * (byRank ? extent : llvm::Log2_64_Ceil(static_cast<uint64_t>(extent)) + 1);
  int64_t tasks =
      inLanes ? forEachElement(emitter, function, shape, placeElement)
              : forEachRow(emitter, function, lines.count, cost, [&](Value line) {
                  lines.enter(line);
                  if (isLong)
                    return emitQuickSort(emitter, sort, results, own);
                  forLoop(emitter, index.constant(0), index.constant(extent), 1, [&](Value i) {
                    index.setDim(along, i, extent);
                    placeElement();
                  });
                });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
