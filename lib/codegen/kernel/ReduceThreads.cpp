// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions by threads, some of which share the elements of a result.
#include "codegen/kernel/ReduceKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

class ThreadReduction {
public:
  ThreadReduction(const Reductions &r, func::FuncOp function, const KernelTarget &target,
                  ErrorTable &errors)
      : r(r), function(function), target(target),
        emitter(r.kernel, function, target, errors, static_cast<unsigned>(r.position.size()) + 1),
        index(emitter.indices()), b(emitter.builder()), loc(emitter.loc()) {}

  KernelFunction emit();

private:
  void emitRow();
  void emitLevel(size_t level);
  void emitOutputs();
  SmallVector<Value> overElements(ValueRange carried,
                                  function_ref<SmallVector<Value>(ValueRange)> body);

  const Reductions &r;
  func::FuncOp function;
  const KernelTarget &target;
  BodyEmitter emitter;
  IndexEmitter &index;
  OpBuilder &b;
  Location loc;
  // How many elements the thread's result has, 0 for a thread without one, and whether it has one;
  // null if all do.
  Value threadElements, hasResult;
};

/// Loops over the thread's part of what is reduced.
SmallVector<Value>
ThreadReduction::overElements(ValueRange carried,
                              function_ref<SmallVector<Value>(ValueRange)> body) {
  SmallVector<unsigned> dims;
  for (unsigned i = 0; i < r.domain.extents.size(); ++i)
    if (r.domain.reduced[i] && r.domain.extents[i] != 1)
      dims.push_back(i);
  auto flat = static_cast<unsigned>(r.domain.extents.size());
  return target.loopOverLanes(emitter, flat, r.domain.count(true), index.constant(0),
                              threadElements, /*exact=*/false, carried, [&](ValueRange in, Value) {
                                setRow(emitter, r.domain, dims,
                                       index.evaluate(index.dim(flat)).base);
                                return body(in);
                              });
}

/// One pass over what is reduced: the reductions of a level, and the full outputs that need only
/// the levels before it.
void ThreadReduction::emitLevel(size_t level) {
  ArrayRef<prim::ReduceOp> reductions = r.levels[level];
  SmallVector<Value> initial;
  for (prim::ReduceOp reduction : reductions)
    initial.push_back(Reductions::initialOf(emitter, reduction));
  SmallVector<Value> totals = overElements(initial, [&](ValueRange in) {
    SmallVector<Value> out;
    for (auto [i, reduction] : llvm::enumerate(reductions))
      out.push_back(
          Reductions::combine(emitter, reduction, in[i], r.operandOf(emitter, reduction)));
    r.storeFull(emitter, level);
    return out;
  });
  for (auto [reduction, total] : llvm::zip(reductions, totals)) {
    auto combine = [&](Value a, Value c) { return Reductions::combine(emitter, reduction, a, c); };
    r.bind(emitter, reduction, target.combineLanes(emitter, total, combine));
  }
}

void ThreadReduction::emitOutputs() {
  if (r.hasFullOutput(r.levels.size()))
    overElements({}, [&](ValueRange) {
      r.storeFull(emitter, r.levels.size());
      return SmallVector<Value>();
    });
  target.onOneLane(emitter, [&] {
    OpBuilder::InsertionGuard guard(b);
    BodyEmitter::Scope scope(emitter);
    if (hasResult)
      b.setInsertionPointToStart(
          b.create<scf::IfOp>(loc, hasResult, /*withElseRegion=*/false).thenBlock());
    r.storeKept(emitter);
  });
}

void ThreadReduction::emitRow() {
  emitter.unbindAll();
  for (size_t level = 0; level < r.levels.size(); ++level)
    emitLevel(level);
  emitOutputs();
}

/// A task is a row of some columns, with a result in each for each reduction; the threads of a
/// column share its elements.
KernelFunction ThreadReduction::emit() {
  const Domain &domain = r.domain;
  auto inner = static_cast<unsigned>(domain.innermost());
  SmallVector<unsigned> kept;
  int64_t rows = 1, columns = domain.reduced[inner] ? 1 : domain.extents[inner];
  for (unsigned i = 0; i < r.position.size(); ++i) {
    index.setDim(i, index.constant(0), domain.extents[i]);
    if (domain.reduced[i] || domain.extents[i] == 1 || i == inner)
      continue;
    kept.push_back(i);
    rows *= domain.extents[i];
  }
  int64_t elements = domain.count(true);
  int64_t taskColumns = target.shareReduction(function, rows, columns, elements);
  int64_t blocks = (columns + taskColumns - 1) / taskColumns;
  int64_t tasks =
      forEachRow(emitter, function, rows * blocks, elements * taskColumns, [&](Value row) {
        auto [keptRow, block] = index.divide(row, blocks, rows * blocks);
        setRow(emitter, domain, kept, keptRow);
        threadElements = index.constant(elements);
        if (columns > 1) {
          Value first = b.create<arith::MulIOp>(loc, block, index.constant(taskColumns));
          Value column = b.create<arith::AddIOp>(loc, first, target.getColumn(b, function));
          index.setDim(inner, column, columns);
          if (columns % taskColumns != 0) {
            hasResult = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, column,
                                                index.constant(columns));
            threadElements =
                b.create<arith::SelectOp>(loc, hasResult, threadElements, index.constant(0));
          }
        }
        emitRow();
      });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}

} // namespace

KernelFunction codegen::reduceByThreads(const Reductions &reductions, func::FuncOp function,
                                        const KernelTarget &target, ErrorTable &errors) {
  return ThreadReduction(reductions, function, target, errors).emit();
}
