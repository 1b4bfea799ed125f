// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on stacks of matrices: a task for each matrix, or for some columns of one, computed in the
// kernel's outputs.
#include "codegen/kernel/Emitters.h"
#include "codegen/kernel/MatrixLoops.h"
#include "support/Fault.h"

#include "llvm/ADT/TypeSwitch.h"

#include <functional>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// How an op's kernel is written.
struct MatrixRule {
  std::function<void(MatrixLoops &, Columns)> emit;
  /// Columns of the result depend on no others: a task may have a part of them.
  bool hasParts = false;
  /// The lanes share all elements at a time, and not those of a row or column.
  bool sharesElements = false;
};

} // namespace

static MatrixRule ruleOf(Operation *op) {
  auto whole = [](auto emit, auto op) {
    return MatrixRule{[=](MatrixLoops &loops, Columns) { emit(loops, op); }};
  };
  return TypeSwitch<Operation *, MatrixRule>(op)
      .Case([&](prim::CholeskyOp op) { return whole(emitCholesky, op); })
      .Case([&](prim::LuOp op) {
        MatrixRule rule = whole(emitLu, op);
        rule.sharesElements = true;
        return rule;
      })
      .Case([&](prim::PivotedRowsOp op) { return whole(emitPivotedRows, op); })
      .Case([&](prim::TriangularSolveOp op) {
        auto emit = [=](MatrixLoops &loops, Columns own) { emitTriangularSolve(loops, op, own); };
        return MatrixRule{emit, /*hasParts=*/true, /*sharesElements=*/true};
      })
      .Case([&](prim::HouseholderOp op) { return whole(emitHouseholder, op); })
      .Case([&](prim::JacobiEighOp op) { return whole(emitJacobiEigh, op); })
      .Case([&](prim::JacobiSvdOp op) { return whole(emitJacobiSvd, op); })
      .Case([&](prim::LinearRecurrenceOp op) { return whole(emitLinearRecurrence, op); })
      .Case([&](prim::LogRecurrenceOp op) { return whole(emitLogRecurrence, op); })
      .Default(MatrixRule());
}

/// Chooses the lanes of a task that has some elements of a matrix.
static int64_t setLanes(const KernelTarget &target, func::FuncOp function, bool sharesElements,
                        int64_t tasks, int64_t longest, int64_t elements) {
  BlockLimits limits = target.getBlockLimits();
  int64_t lanes = target.setBlock(function, std::min(longest, limits.meetingLanes));
  // More where the machine would idle.
  while (sharesElements && lanes < limits.lanes && elements >= limits.sharedElements * lanes &&
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
  MatrixRule rule = ruleOf(op);
  if (!rule.emit)
    return emitBug(op->getLoc()) << "no emitter for this op on matrices";
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
  int64_t columns = std::max<int64_t>(shape.back(), 1);
  int64_t taskColumns = rule.hasParts ? std::min(columns, target.getTaskColumns()) : columns;
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
    rule.emit(loops, own);
  };
  if (!inLanes) { // a task for some matrices, by the work of one
    tasks = forEachRow(emitter, function, tasks, taskElements * longest,
                       [&](Value task) { emitTask(task, {}); });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  int64_t lanes = setLanes(target, function, rule.sharesElements, tasks, longest, taskElements);
  Value lane = target.getLane(b, function);
  auto [task, last] = emitter.tasks(tasks);
  Value here = task;
  Value isTask = b.create<arith::CmpIOp>(kernel.getLoc(), arith::CmpIPredicate::slt, here, last);
  branch(emitter, isTask, [&] { emitTask(here, {lane, lanes}); });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
