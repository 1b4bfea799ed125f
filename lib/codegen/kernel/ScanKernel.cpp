// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that walk one dimension in order: arg_reduce, cumulative. The other dimensions are
// independent; a task takes some of their positions, one at a time.
#include "codegen/kernel/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

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
  auto rank = static_cast<unsigned>(shape.size());

  Type element = BodyEmitter::registerType(getElementTypeOrSelf(operand)),
       accumulator = cumulative ? cumulative.getAccumulatorType(element) : element;

  Domain domain(shape);
  if (target.lanesAreThreads()) {
    constexpr int64_t kLeast = 16; // elements of a row that are worth a warp
    Scan scan{argReduce, cumulative, operand, along};
    if (argReduce)
      return emitArgReduceInLanes(kernel, module, scan, target, errors);
    if (domain.innermost() == along && shape[along] >= kLeast)
      return emitCumulativeInLanes(kernel, module, scan, target, errors);
  }
  // A running sum cannot be a cascade (ReductionLoops.h); on a CPU's way through one element after
  // the other, f64 takes no longer than f32.
  if (!target.lanesAreThreads() && accumulator.isF32())
    accumulator = Float64Type::get(kernel.getContext());
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/false);
  BodyEmitter emitter(kernel, function, target, errors, rank);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  SmallVector<unsigned> outer;
  SmallVector<AffineExpr> position, kept;
  int64_t rows = 1;
  for (unsigned i = 0; i < rank; ++i) {
    index.setDim(i, index.constant(0), shape[i]);
    position.push_back(index.dim(i));
    if (i == along)
      continue;
    kept.push_back(index.dim(i));
    outer.push_back(i);
    rows *= shape[i];
  }
  if (ReferenceArray::count(shape) == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};

  int64_t tasks = forEachRow(emitter, function, rows, shape[along], [&](Value row) {
    if (!outer.empty())
      setRow(emitter, domain, outer, row);
    index.setDim(along, index.constant(0), shape[along]);
    Value first;
    {
      BodyEmitter::Scope scope(emitter);
      first = emitter.element(operand, position);
      if (cumulative) {
        emitter.store(0, position, first);
        first = emitter.convertFloat(first, accumulator);
      }
    }
    SmallVector<Value> carried{first};
    if (argReduce)
      carried.push_back(index.constant(0));
    SmallVector<Value> last =
        forLoop(emitter, index.constant(1), index.constant(shape[along]), 1, carried,
                [&](Value i, ValueRange in) -> SmallVector<Value> {
                  index.setDim(along, i, shape[along]);
                  Value x = emitter.element(operand, position);
                  if (cumulative) {
                    Value next =
                        cumulative.emitCombine(b, in[0], emitter.convertFloat(x, accumulator));
                    emitter.store(0, position, emitter.convertFloat(next, element));
                    return {next};
                  }
                  Value better = argReduce.emitPrecedes(b, x, in[0]);
                  return {b.create<arith::SelectOp>(loc, better, x, in[0]),
                          b.create<arith::SelectOp>(loc, better, i, in[1])};
                });
    if (argReduce)
      emitter.store(0, kept, last[1]);
  });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
