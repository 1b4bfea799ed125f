// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the elements of the outputs.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
/// All outputs at one index: every value is computed before the first is stored, because an output
/// may be the same memory as an input.
void emitOutputs(BodyEmitter &emitter, exec::KernelOp kernel, ArrayRef<AffineExpr> position) {
  auto results = kernel.getBody().front().getTerminator()->getOperands();
  SmallVector<Value> values;
  for (Value result : results)
    values.push_back(emitter.element(result, position));
  for (auto [i, value] : llvm::enumerate(values))
    emitter.store(static_cast<unsigned>(i), position, value);
}
} // namespace

FailureOr<KernelFunction> codegen::emitLoopKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelOptions &options,
                                                  ErrorTable &errors) {
  auto results = kernel.getBody().front().getTerminator()->getOperands();
  auto shape = cast<RankedTensorType>(results.front().getType()).getShape();
  for (Value result : results)
    if (cast<RankedTensorType>(result.getType()).getShape() != shape)
      return kernel.emitError("bug in accc: the outputs of a loop kernel differ in shape");
  MLIRContext *context = kernel.getContext();
  Domain domain(shape);
  domain.collapse(recordAccesses(kernel, domain, [&](BodyEmitter &emitter) {
    emitOutputs(emitter, kernel, domain.position(context));
  }));

  func::FuncOp function = createKernelFunction(kernel, module);
  BodyEmitter emitter(kernel, function, errors, static_cast<unsigned>(shape.size()));
  SmallVector<AffineExpr> position = domain.position(context);
  int64_t vectorDim = domain.innermost();
  if (vectorDim < 0) { // rank 0
    emitOutputs(emitter, kernel, position);
    return KernelFunction{function, {1}};
  }

  SmallVector<unsigned> outer;
  int64_t rows = 1;
  for (int64_t i = 0; i < vectorDim; ++i) {
    if (domain.extents[i] == 1)
      continue;
    outer.push_back(static_cast<unsigned>(i));
    rows *= domain.extents[i];
  }
  IndexEmitter &index = emitter.indices();
  int64_t extent = domain.extents[vectorDim];
  int64_t width = chooseWidth(extent, options);
  auto dim = static_cast<unsigned>(vectorDim);
  index.setVector(dim, width);
  auto body = [&](ValueRange, Value) {
    emitOutputs(emitter, kernel, position);
    return SmallVector<Value>();
  };
  if (rows * extent == 0)
    return KernelFunction{function, {0}};
  if (!outer.empty()) {
    int64_t tasks = forEachRow(emitter, function, rows, extent, [&](Value row) {
      setRow(emitter, domain, outer, row);
      vectorLoop(emitter, dim, extent, index.constant(0), index.constant(extent),
                 extent % width == 0, {}, body);
    });
    return KernelFunction{function, {tasks}};
  }
  // One long row: a task is a piece of it.
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  Value perTask = index.constant(kTaskElements), all = index.constant(extent);
  Value low = b.create<arith::MulIOp>(loc, function.getArgument(1), perTask);
  Value high = b.create<arith::MinUIOp>(
      loc, b.create<arith::MulIOp>(loc, function.getArgument(2), perTask), all);
  vectorLoop(emitter, dim, extent, low, high, extent % width == 0, {}, body);
  return KernelFunction{function, {static_cast<int64_t>(llvm::divideCeil(extent, kTaskElements))}};
}
