// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that walk one dimension in order: arg_reduce, cumulative. The other dimensions are
// independent; a task takes some of their positions, one at a time.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
Value combine(OpBuilder &b, Location loc, prim::ReduceKind kind, Value a, Value c) {
  bool isFloat = isa<FloatType>(a.getType());
  switch (kind) {
  case prim::ReduceKind::sum:
    return isFloat ? Value(b.create<arith::AddFOp>(loc, a, c))
                   : Value(b.create<arith::AddIOp>(loc, a, c));
  case prim::ReduceKind::prod:
    return isFloat ? Value(b.create<arith::MulFOp>(loc, a, c))
                   : Value(b.create<arith::MulIOp>(loc, a, c));
  case prim::ReduceKind::max:
    return isFloat ? Value(b.create<arith::MaximumFOp>(loc, a, c))
                   : Value(b.create<arith::MaxSIOp>(loc, a, c));
  default:
    return isFloat ? Value(b.create<arith::MinimumFOp>(loc, a, c))
                   : Value(b.create<arith::MinSIOp>(loc, a, c));
  }
}

/// True where x beats the best so far: greater (less), or the first NaN.
Value beats(OpBuilder &b, Location loc, bool greatest, Value x, Value best) {
  if (!isa<FloatType>(x.getType()))
    return b.create<arith::CmpIOp>(
        loc, greatest ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, best);
  Value better = b.create<arith::CmpFOp>(
      loc, greatest ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, x, best);
  Value bestIsNumber = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ORD, best, best);
  return b.create<arith::AndIOp>(loc, better, bestIsNumber);
}
} // namespace

FailureOr<KernelFunction> codegen::emitScanKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelOptions &options,
                                                  ErrorTable &errors) {
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

  Domain domain(shape);
  func::FuncOp function = createKernelFunction(kernel, module);
  BodyEmitter emitter(kernel, function, errors, rank);
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
    return KernelFunction{function, 0};

  int64_t tasks = forEachRow(emitter, function, rows, shape[along], [&](Value row) {
    if (!outer.empty())
      setRow(emitter, domain, outer, row);
    index.setDim(along, index.constant(0), shape[along]);
    Value first;
    {
      BodyEmitter::Scope scope(emitter);
      first = emitter.element(operand, position);
      if (cumulative)
        emitter.store(0, position, first);
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
                    Value next = combine(b, loc, cumulative.getKind(), in[0], x);
                    emitter.store(0, position, next);
                    return {next};
                  }
                  Value better =
                      beats(b, loc, argReduce.getKind() == prim::ReduceKind::max, x, in[0]);
                  return {b.create<arith::SelectOp>(loc, better, x, in[0]),
                          b.create<arith::SelectOp>(loc, better, i, in[1])};
                });
    if (argReduce)
      emitter.store(0, kept, last[1]);
  });
  return KernelFunction{function, tasks};
}
