// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans whose elements the lanes of a task share, each a thread.
#include "codegen/kernel/Scan.h"
#include "ir/prim/Combine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

// Each lane finds the first of its elements, in the order of the op; of all lanes' the one that
// precedes the others is found, and then the least index at which a lane has one as good.
KernelFunction codegen::emitArgReduceInLanes(exec::KernelOp kernel, ModuleOp module,
                                             const Scan &scan, const KernelTarget &target,
                                             ErrorTable &errors) {
  prim::ArgReduceOp op = scan.argReduce;
  Domain domain(scan.shape());
  auto rank = static_cast<unsigned>(domain.extents.size());
  auto inner = static_cast<unsigned>(domain.innermost());
  bool hasColumns = inner != scan.along && domain.extents[inner] > 1;
  int64_t extent = domain.extents[scan.along], columns = hasColumns ? domain.extents[inner] : 1;

  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  BodyEmitter emitter(kernel, function, target, errors, rank);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  const Lines lines(emitter, domain, scan.along, hasColumns ? std::optional(inner) : std::nullopt);
  ArrayRef<AffineExpr> position = lines.position;
  if (ReferenceArray::count(scan.shape()) == 0)
    return {function, target.getLaunchShape(function, 0)};
  int64_t taskColumns = target.shareReduction(function, {lines.count, columns, extent}).columns;
  auto blocks = static_cast<int64_t>(llvm::divideCeil(columns, taskColumns));

  auto select = [&](Value condition, Value a, Value c) -> Value {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  };
  auto emitRow = [&](Value hasResult) {
    index.setDim(scan.along, index.constant(0), extent);
    Value first;
    {
      BodyEmitter::Scope scope(emitter);
      first = emitter.element(scan.operand, position);
    }
    SmallVector<Value> own = target.loopOverLanes(
        emitter, scan.along, extent, index.constant(0), index.constant(extent), /*exact=*/false,
        {first, index.constant(0)}, [&](ValueRange in, Value) -> SmallVector<Value> {
          Value x = emitter.element(scan.operand, position);
          Value i = index.evaluate(index.dim(scan.along)).base;
          Value better = op.emitPrecedes(b, x, in[0]);
          return {select(better, x, in[0]), select(better, i, in[1])};
        });
    Value best = target.combineLanes(
        emitter, own[0], [&](Value a, Value c) { return select(op.emitPrecedes(b, c, a), c, a); });
    Value place = select(op.emitPrecedes(b, best, own[0]), index.constant(extent), own[1]);
    place = target.combineLanes(emitter, place, [&](Value a, Value c) -> Value {
      return b.create<arith::MinUIOp>(loc, a, c);
    });
    target.onOneLane(emitter, [&] {
      OpBuilder::InsertionGuard guard(b);
      BodyEmitter::Scope scope(emitter);
      if (hasResult)
        b.setInsertionPointToStart(
            b.create<scf::IfOp>(loc, hasResult, /*withElseRegion=*/false).thenBlock());
      emitter.store(0, lines.withoutAlong, place);
    });
  };
  int64_t tasks =
      forEachRow(emitter, function, lines.count * blocks, extent * taskColumns, [&](Value task) {
        auto [line, block] = index.divide(task, blocks, lines.count * blocks);
        lines.enter(line);
        if (!hasColumns)
          return emitRow(nullptr);
        Value column = b.create<arith::AddIOp>(
            loc, b.create<arith::MulIOp>(loc, block, index.constant(taskColumns)),
            target.getColumn(b, function));
        Value hasResult = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, column,
                                                  index.constant(columns));
        // Lanes past the last column do what it does.
        column = b.create<arith::MinUIOp>(loc, column, index.constant(columns - 1));
        index.setDim(inner, column, columns);
        emitRow(hasResult);
      });
  return {function, target.getLaunchShape(function, tasks)};
}

KernelFunction codegen::emitCumulativeInLanes(exec::KernelOp kernel, ModuleOp module,
                                              const Scan &scan, const KernelTarget &target,
                                              ErrorTable &errors) {
  prim::CumulativeOp op = scan.cumulative;
  Domain domain(scan.shape());
  auto rank = static_cast<unsigned>(domain.extents.size());
  int64_t extent = domain.extents[scan.along];
  Type element = BodyEmitter::registerType(getElementTypeOrSelf(scan.operand)),
       accumulator = op.getAccumulatorType(element);

  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  BodyEmitter emitter(kernel, function, target, errors, rank);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  const Lines lines(emitter, domain, scan.along);
  ArrayRef<AffineExpr> position = lines.position;
  if (ReferenceArray::count(scan.shape()) == 0)
    return {function, target.getLaunchShape(function, 0)};

  int64_t lanes = target.chooseLanes(extent);
  Value lane = target.getLane(b, function);
  auto combine = [&](Value a, Value c) { return op.emitCombine(b, a, c); };
  auto initial = [&](Type type) {
    return prim::neutralElement(op.getKind(), type,
                                getElementTypeOrSelf(scan.operand).isUnsignedInteger());
  };
  int64_t tasks = forEachRow(emitter, function, lines.count, extent, [&](Value line) {
    lines.enter(line);
    Value before = emitter.constant(initial(accumulator));
    // All lanes take part to the end.
    forLoop(emitter, index.constant(0), index.constant(extent), lanes, before,
            [&](Value start, ValueRange in) -> SmallVector<Value> {
              index.setDim(scan.along, b.create<arith::AddIOp>(loc, start, lane),
                           static_cast<int64_t>(llvm::alignTo(extent, lanes)));
              IndexRange inside{position[scan.along], 0, extent};
              Value x = emitter.select(
                  inside, [&] { return emitter.element(scan.operand, position); },
                  [&] { return emitter.constant(initial(element)); });
              x = emitter.convertFloat(x, accumulator);
              Value total = combine(in[0], target.scanLanes(emitter, x, combine));
              whereInside(emitter, inside, [&] {
                emitter.store(0, position, emitter.convertFloat(total, element));
              });
              return {target.getFromLane(emitter, total, index.constant(lanes - 1))};
            });
  });
  return {function, target.getLaunchShape(function, tasks)};
}
