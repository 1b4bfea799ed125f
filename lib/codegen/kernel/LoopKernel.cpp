// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the elements of the outputs.
#include "codegen/element/KernelTarget.h"
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"
#include "ir/prim/Philox.h"

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

/// How many registers a loop of vectors takes as one: as many as make blocks of random bits fill
/// one themselves.
int64_t unrollOf(exec::KernelOp kernel) {
  bool drawsBits = llvm::any_of(kernel.getBody().front(),
                                [](Operation &op) { return isa<prim::RandomBitsOp>(op); });
  return drawsBits ? prim::philox::kWords : 1;
}
} // namespace

FailureOr<KernelFunction> codegen::emitLoopKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  Domain domain(kernel.getSpecAttr());
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  auto rank = static_cast<unsigned>(domain.extents.size());
  BodyEmitter emitter(kernel, function, target, errors, rank + 1);
  SmallVector<AffineExpr> position = domain.position(kernel.getContext());
  int64_t vectorDim = domain.innermost();
  if (vectorDim < 0 && !target.lanesAreThreads()) { // rank 0
    emitOutputs(emitter, kernel, position);
    return KernelFunction{function, target.getLaunchShape(function, 1)};
  }

  SmallVector<unsigned> outer, all;
  int64_t rows = 1, elements = 1;
  for (unsigned i = 0; i < rank; ++i) {
    if (domain.extents[i] == 1)
      continue;
    all.push_back(i);
    elements *= domain.extents[i];
    if (i == vectorDim)
      continue;
    outer.push_back(i);
    rows *= domain.extents[i];
  }
  if (elements == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  IndexEmitter &index = emitter.indices();
  if (!outer.empty() && !target.lanesAreThreads()) {
    int64_t extent = domain.extents[vectorDim];
    int64_t width = target.chooseLanes(extent, unrollOf(kernel));
    auto dim = static_cast<unsigned>(vectorDim);
    target.setLanes(emitter, dim, width);
    int64_t tasks = forEachRow(emitter, function, rows, extent, [&](Value row) {
      setRow(emitter, domain, outer, row);
      target.loopOverLanes(emitter, dim, extent, index.constant(0), index.constant(extent),
                           extent % width == 0, {}, [&](ValueRange, Value) {
                             emitOutputs(emitter, kernel, position);
                             return SmallVector<Value>();
                           });
    });
    return KernelFunction{function, target.getLaunchShape(function, tasks)};
  }
  // One long row: a task is a piece of it. Threads find their place in all dimensions.
  unsigned dim = target.lanesAreThreads() ? rank : static_cast<unsigned>(vectorDim);
  int64_t width = target.chooseLanes(elements, unrollOf(kernel));
  target.setLanes(emitter, dim, width);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  int64_t taskElements = target.getTaskElements(function);
  auto tasks = static_cast<int64_t>(llvm::divideCeil(elements, taskElements));
  Value perTask = index.constant(taskElements), end = index.constant(elements);
  auto [first, last] = emitter.tasks(tasks);
  Value low = b.create<arith::MulIOp>(loc, first, perTask);
  Value high = b.create<arith::MinUIOp>(loc, b.create<arith::MulIOp>(loc, last, perTask), end);
  target.loopOverLanes(emitter, dim, elements, low, high, elements % width == 0, {},
                       [&](ValueRange, Value) {
                         if (dim == rank)
                           setRow(emitter, domain, all, index.evaluate(index.dim(rank)).base);
                         emitOutputs(emitter, kernel, position);
                         return SmallVector<Value>();
                       });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
