// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on stacks of matrices: a task for each matrix, computed in the kernel's outputs.
#include "codegen/kernel/Emitters.h"
#include "codegen/kernel/MatrixLoops.h"
#include "support/Fault.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

static void emitMatrix(MatrixLoops &loops, Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](prim::CholeskyOp cholesky) { emitCholesky(loops, cholesky); })
      .Case([&](prim::LuOp lu) { emitLu(loops, lu); })
      .Case([&](prim::PivotedRowsOp rows) { emitPivotedRows(loops, rows); })
      .Case([&](prim::TriangularSolveOp solve) { emitTriangularSolve(loops, solve); })
      .Case([&](prim::HouseholderOp householder) { emitHouseholder(loops, householder); })
      .Case([&](prim::JacobiEighOp eigh) { emitJacobiEigh(loops, eigh); })
      .Case([&](prim::JacobiSvdOp svd) { emitJacobiSvd(loops, svd); })
      .Case([&](prim::LinearRecurrenceOp linear) { emitLinearRecurrence(loops, linear); })
      .Case([&](prim::LogRecurrenceOp log) { emitLogRecurrence(loops, log); })
      .Default([](Operation *other) {
        emitBug(other->getLoc()) << "no emitter for this op on matrices";
      });
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
  auto emitTask = [&](Value matrix, Value lane, int64_t lanes) {
    emitter.indices().setDim(0, matrix, matrices);
    MatrixLoops loops(emitter, first.getElementType(), lane, lanes);
    emitMatrix(loops, op);
  };
  if (!inLanes) { // a task for some matrices, by the work of one
    int64_t tasks = forEachRow(emitter, function, matrices, elements * longest,
                               [&](Value matrix) { emitTask(matrix, nullptr, 1); });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  int64_t lanes =
      target.setBlock(function, std::min(longest, target.getBlockLimits().meetingLanes));
  Value lane = target.getLane(b, function);
  auto [task, last] = emitter.tasks(matrices);
  Value matrix = task;
  Value isTask = b.create<arith::CmpIOp>(kernel.getLoc(), arith::CmpIPredicate::slt, matrix, last);
  branch(emitter, isTask, [&] { emitTask(matrix, lane, lanes); });
  return KernelFunction{function, target.getLaunchShape(function, matrices)};
}
