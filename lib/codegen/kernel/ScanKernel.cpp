// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that walk one dimension in order: arg_reduce, cumulative. The other dimensions are
// independent.
#include "codegen/kernel/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// A task takes some of the positions in the other dimensions, one at a time, and each element of
/// those in order.
static KernelFunction emitCumulativeInOrder(exec::KernelOp kernel, ModuleOp module,
                                            const Scan &scan, const KernelTarget &target,
                                            ErrorTable &errors) {
  prim::CumulativeOp op = scan.cumulative;
  Domain domain(scan.shape());
  auto rank = static_cast<unsigned>(domain.extents.size());
  int64_t extent = domain.extents[scan.along];
  Type element = BodyEmitter::registerType(getElementTypeOrSelf(scan.operand));
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/false);
  BodyEmitter emitter(kernel, function, target, errors, rank);
  IndexEmitter &index = emitter.indices();
  const Lines lines(emitter, domain, scan.along);
  ArrayRef<AffineExpr> position = lines.position;
  int64_t tasks = forEachRow(emitter, function, lines.count, extent, [&](Value line) {
    lines.enter(line);
    index.setDim(scan.along, index.constant(0), extent);
    Value first;
    {
      BodyEmitter::Scope scope(emitter);
      first = emitter.element(scan.operand, position);
      emitter.store(0, position, first);
      first = emitter.convertFloat(first, scan.accumulator);
    }
    forLoop(emitter, index.constant(1), index.constant(extent), 1, first,
            [&](Value i, ValueRange in) -> SmallVector<Value> {
              index.setDim(scan.along, i, extent);
              Value x =
                  emitter.convertFloat(emitter.element(scan.operand, position), scan.accumulator);
              Value next = op.emitCombine(emitter.builder(), in[0], x);
              emitter.store(0, position, emitter.convertFloat(next, element));
              return {next};
            });
  });
  return {function, target.getLaunchShape(function, tasks)};
}

FailureOr<KernelFunction> codegen::emitScanKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  Operation *yield = kernel.getBody().front().getTerminator();
  Operation *op = yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
  auto argReduce = dyn_cast_or_null<prim::ArgReduceOp>(op);
  auto cumulative = dyn_cast_or_null<prim::CumulativeOp>(op);
  if (!argReduce && !cumulative)
    return kernel.emitError("code generation for ")
           << (op ? op->getName().getStringRef() : "this op") << " is not available";
  Value operand = op->getOperand(0);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
  auto along =
      static_cast<unsigned>(argReduce ? argReduce.getDimension() : cumulative.getDimension());

  Type element = BodyEmitter::registerType(getElementTypeOrSelf(operand)),
       accumulator = cumulative ? cumulative.getAccumulatorType(element) : element;
  // A running sum cannot be a cascade (ReductionLoops.h); on a CPU's way through one element after
  // the other, f64 takes no longer than f32.
  if (!target.lanesAreThreads() && accumulator.isF32() && cumulative)
    accumulator = Float64Type::get(kernel.getContext());

  Domain domain(shape);
  Scan scan{argReduce, cumulative, operand, along, accumulator};
  if (ReferenceArray::count(shape) == 0) {
    func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/false);
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  }
  constexpr int64_t kLeast = 16; // elements of a row that are worth a warp
  bool alongInnermost = domain.innermost() == along;
  if (target.lanesAreThreads() && argReduce)
    return emitArgReduceInLanes(kernel, module, scan, target, errors);
  if (target.lanesAreThreads() && alongInnermost && shape[along] >= kLeast)
    return emitCumulativeInLanes(kernel, module, scan, target, errors);
  if (!target.lanesAreThreads() && (argReduce || !alongInnermost))
    return emitScanInVectors(kernel, module, scan, target, errors);
  return emitCumulativeInOrder(kernel, module, scan, target, errors);
}
