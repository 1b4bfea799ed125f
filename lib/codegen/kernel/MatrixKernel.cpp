// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on stacks of matrices: a task for each matrix, or for some columns of one, computed in the
// kernel's outputs.
#include "codegen/kernel/Emitters.h"
#include "codegen/kernel/MatrixLoops.h"
#include "support/Fault.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

static void emitMatrix(MatrixLoops &loops, Operation *op, Columns columns) {
  TypeSwitch<Operation *>(op)
      .Case([&](prim::CholeskyOp cholesky) { emitCholesky(loops, cholesky); })
      .Case([&](prim::LuOp lu) { emitLu(loops, lu); })
      .Case([&](prim::PivotedRowsOp rows) { emitPivotedRows(loops, rows); })
      .Case([&](prim::TriangularSolveOp solve) { emitTriangularSolve(loops, solve, columns); })
      .Case([&](prim::HouseholderOp householder) { emitHouseholder(loops, householder); })
      .Case([&](prim::JacobiEighOp eigh) { emitJacobiEigh(loops, eigh); })
      .Case([&](prim::JacobiSvdOp svd) { emitJacobiSvd(loops, svd); })
      .Case([&](prim::LinearRecurrenceOp linear) { emitLinearRecurrence(loops, linear); })
      .Case([&](prim::LogRecurrenceOp log) { emitLogRecurrence(loops, log); })
      .Default([](Operation *other) {
        emitBug(other->getLoc()) << "no emitter for this op on matrices";
      });
}

/// Of how many columns of a result a task is. Those of what is solved depend on no others.
static int64_t getTaskColumns(Operation *op, int64_t columns) {
  constexpr int64_t kColumns = 64;
  return isa<prim::TriangularSolveOp>(op) ? std::min(columns, kColumns) : columns;
}

/// Whether the lanes of a task share all elements of a matrix, and not one row or column at a time.
static bool sharesElements(Operation *op) { return isa<prim::LuOp, prim::TriangularSolveOp>(op); }

/// Chooses the lanes of a task that has some elements of a matrix.
static int64_t setLanes(const KernelTarget &target, func::FuncOp function, Operation *op,
                        int64_t tasks, int64_t longest, int64_t elements) {
  constexpr int64_t kMany = 8; // elements of a lane, which it takes one after the other
  BlockLimits limits = target.getBlockLimits();
  int64_t lanes = target.setBlock(function, std::min(longest, limits.meetingLanes));
  // More where the machine would idle.
  while (sharesElements(op) && lanes < limits.lanes && elements >= kMany * lanes &&
         tasks < target.getBusyTasks(function))
    lanes = target.setBlock(function, 2 * lanes);
  return lanes;
}

FailureOr<KernelFunction> codegen::emitMatrixKernel(exec::KernelOp kernel, ModuleOp module,
                                                    const KernelTarget &target,
                                                    ErrorTable &errors) {
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  Operation *op = results.front().getDefiningOp();
  if (!op || !llvm::equal(results, op->getResults()))
    return emitBug(kernel.getLoc()) << "a kernel on matrices yields all results of one op";
  auto first = cast<RankedTensorType>(results.front().getType());
  ArrayRef<int64_t> shape = first.getShape();
  // A matrix without elements still has an info.
  int64_t matrices = shape.front();
  int64_t longest = std::max<int64_t>(*llvm::max_element(shape.drop_front()), 1);
  int64_t elements = std::max<int64_t>(ReferenceArray::count(shape.drop_front()), 1);

  bool inLanes = target.lanesAreThreads();
  func::FuncOp function = target.createFunction(kernel, module, inLanes);
  BodyEmitter emitter(kernel, function, target, errors, /*numDims=*/1);
  bool isNothing = llvm::all_of(results.getTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getNumElements() == 0;
  });
  if (isNothing)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  OpBuilder &b = emitter.builder();
  int64_t columns = std::max<int64_t>(shape.back(), 1), taskColumns = getTaskColumns(op, columns);
  int64_t parts = llvm::divideCeil(columns, taskColumns), tasks = matrices * parts;
  int64_t taskElements = elements / columns * taskColumns;
  auto emitTask = [&](Value task, Lanes lanes) {
    IndexEmitter &index = emitter.indices();
    auto [matrix, part] = index.divide(task, parts, tasks);
    index.setDim(0, matrix, matrices);
    MatrixLoops loops(emitter, first.getElementType(), lanes);
    Columns own{index.constant(0), index.constant(columns), taskColumns};
    if (parts > 1) {
      own.low = b.create<arith::MulIOp>(kernel.getLoc(), part, index.constant(taskColumns));
      own.high = b.create<arith::MinSIOp>(kernel.getLoc(), own.high,
                                          loops.add(own.low, index.constant(taskColumns)));
    }
    emitMatrix(loops, op, own);
  };
  if (!inLanes) { // a task for some matrices, by the work of one
    tasks = forEachRow(emitter, function, tasks, taskElements * longest,
                       [&](Value task) { emitTask(task, {}); });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  int64_t lanes = setLanes(target, function, op, tasks, longest, taskElements);
  Value lane = target.getLane(b, function);
  auto [task, last] = emitter.tasks(tasks);
  Value here = task;
  Value isTask = b.create<arith::CmpIOp>(kernel.getLoc(), arith::CmpIPredicate::slt, here, last);
  branch(emitter, isTask, [&] { emitTask(here, {lane, lanes}); });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
