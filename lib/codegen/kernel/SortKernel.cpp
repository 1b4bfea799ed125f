// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stable sorting along one dimension. Short rows by ranks: an element's place is the number of
// elements that go before it, which needs no branches and work that grows with the square of the
// extent. Longer rows on a CPU by pivots, or by a heap where there is no memory for that; where
// lanes are threads by a network in the memory that those of a block share, and by ranks where a
// row does not fit there.
#include "codegen/kernel/Sort.h"

#include "support/Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// Rows that are sorted as fast by ranks.
static constexpr int64_t kMostByRank = 64;

// Loop variables: those of the operand, then one more along the sorted dimension.
FailureOr<KernelFunction> codegen::emitSortKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  auto sort = results.front().getDefiningOp<prim::SortOp>();
  for (Value result : results)
    if (!sort || result.getDefiningOp() != sort)
      return emitBug(kernel.getLoc()) << "a sort kernel yields results of one sort";
  ArrayRef<int64_t> shape = sort.getOperand().getType().getShape();
  auto rank = static_cast<unsigned>(shape.size());
  auto along = static_cast<unsigned>(sort.getDimension());
  int64_t extent = shape[along];

  bool inLanes = target.lanesAreThreads();
  Domain domain(shape);
  func::FuncOp function = target.createFunction(kernel, module, inLanes);
  unsigned otherDim = rank + 1; // after the one that numbers all elements
  BodyEmitter emitter(kernel, function, target, errors, rank + 2);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  SmallVector<unsigned> outer;
  SmallVector<AffineExpr> own, other;
  int64_t rows = 1;
  for (unsigned i = 0; i < rank; ++i) {
    index.setDim(i, index.constant(0), shape[i]);
    own.push_back(index.dim(i));
    other.push_back(i == along ? index.dim(otherDim) : index.dim(i));
    if (i == along)
      continue;
    outer.push_back(i);
    rows *= shape[i];
  }
  if (ReferenceArray::count(shape) == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};

  if (inLanes && extent > kMostByRank && fitsBlock(sort, target)) {
    int64_t tasks = emitBlockSort(emitter, sort, results, domain, outer, own);
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }

  auto placeElement = [&] {
    Value i = index.evaluate(index.dim(along)).base;
    Value x = emitter.element(sort.getOperand(), own);
    SmallVector<Value> place = forLoop(
        emitter, index.constant(0), index.constant(extent), 1, ValueRange{index.constant(0)},
        [&](Value j, ValueRange in) -> SmallVector<Value> {
          index.setDim(otherDim, j, extent);
          Value y = emitter.element(sort.getOperand(), other);
          Value before = sort.emitPrecedes(b, y, x), after = sort.emitPrecedes(b, x, y);
          // Equal elements keep their order.
          Value earlier = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, j, i);
          Value flag = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
          Value notAfter = b.create<arith::XOrIOp>(loc, after, flag);
          Value goes =
              b.create<arith::OrIOp>(loc, before, b.create<arith::AndIOp>(loc, notAfter, earlier));
          return {b.create<arith::AddIOp>(loc, in[0],
                                          b.create<arith::ExtUIOp>(loc, b.getI64Type(), goes))};
        });
    SmallVector<AffineExpr> to(own);
    to[along] = index.addSymbol(place.front(), extent);
    for (auto [output, result] : llvm::enumerate(results))
      emitter.store(static_cast<unsigned>(output), to, result == sort.getValues() ? x : i);
  };
  bool isLong = !inLanes && extent > kMostByRank;
  int64_t cost = extent * (isLong ? llvm::Log2_64_Ceil(static_cast<uint64_t>(extent)) : extent);
  int64_t tasks =
      inLanes ? forEachElement(emitter, function, shape, placeElement)
              : forEachRow(emitter, function, rows, cost, [&](Value row) {
                  if (!outer.empty())
                    setRow(emitter, domain, outer, row);
                  if (isLong)
                    return fitsQuickSort(sort, results) ? emitQuickSort(emitter, sort, results, own)
                                                        : emitHeapSort(emitter, sort, results, own);
                  forLoop(emitter, index.constant(0), index.constant(extent), 1, [&](Value i) {
                    index.setDim(along, i, extent);
                    placeElement();
                  });
                });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
