// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One elementwise computation over many tensors: the optimizer over all parameters.
#include "codegen/element/KernelTarget.h"
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

codegen::SegmentTable::SegmentTable(ArrayRef<int64_t> sizes, int64_t taskElements) {
  words.push_back(static_cast<int64_t>(sizes.size()));
  for (int64_t size : sizes) {
    words.push_back(tasks);
    words.push_back(size);
    tasks += static_cast<int64_t>(llvm::divideCeil(size, taskElements));
  }
  words.push_back(tasks);
}

FailureOr<KernelFunction> codegen::emitEachKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  Block &body = kernel.getBody().front();
  ValueRange results = body.getTerminator()->getOperands();
  int64_t extent = cast<RankedTensorType>(results.front().getType()).getNumElements();
  auto buffersPerSegment = static_cast<int64_t>(body.getNumArguments() + results.size());

  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  BodyEmitter emitter(kernel, function, target, errors, 1);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  target.setLanes(emitter, 0, target.chooseLanes(extent));
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  Value buffers = target.getBufferArray(function), table = target.getBuffer(b, function, 0);
  auto word = [&](Value i) -> Value {
    Value at = b.create<LLVM::GEPOp>(loc, pointerType, i64, table, ArrayRef<LLVM::GEPArg>{i});
    return b.create<LLVM::LoadOp>(loc, i64, at, sizeof(int64_t));
  };
  Value one = index.constant(1), two = index.constant(2);
  Value segments = word(index.constant(0));
  auto field = [&](Value segment, int64_t which) {
    return word(b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, segment, two),
                                        index.constant(1 + which)));
  };

  SmallVector<AffineExpr> position{index.dim(0)};
  // The number of tasks and the status lie behind the segments'.
  Value perSegment = index.constant(buffersPerSegment);
  auto atEnd = [&](Value size) -> Value {
    return b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, segments, size), one);
  };
  auto [begin, end] = target.getTasks(
      b, function, [&] { return target.loadBuffer(b, loc, buffers, atEnd(perSegment)); },
      [&] { return word(atEnd(two)); });
  int64_t taskElements = target.getTaskElements(function);
  forLoop(
      emitter, begin, end, 1, ValueRange{index.constant(0)},
      [&](Value task, ValueRange carried) -> SmallVector<Value> {
        // The last segment that starts at or before the task.
        auto search = b.create<scf::WhileOp>(
            loc, TypeRange{i64}, carried,
            [&](OpBuilder &inner, Location, ValueRange at) {
              OpBuilder::InsertionGuard guard(b);
              b.setInsertionPointToEnd(inner.getInsertionBlock());
              Value next = b.create<arith::AddIOp>(loc, at[0], one);
              Value exists =
                  b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next, segments);
              Value last = b.create<arith::SubIOp>(loc, segments, one);
              Value start = field(b.create<arith::MinSIOp>(loc, next, last), 0);
              Value started = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, start, task);
              b.create<scf::ConditionOp>(loc, b.create<arith::AndIOp>(loc, exists, started), at);
            },
            [&](OpBuilder &inner, Location, ValueRange at) {
              Value next = inner.create<arith::AddIOp>(loc, at[0], one);
              inner.create<scf::YieldOp>(loc, next);
            });
        Value segment = search.getResult(0);
        SmallVector<Value> pointers;
        Value first =
            b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, segment, perSegment), one);
        for (int64_t i = 0; i < buffersPerSegment; ++i) {
          Value at = b.create<arith::AddIOp>(loc, first, index.constant(i));
          pointers.push_back(target.loadBuffer(b, loc, buffers, at));
        }
        emitter.setBuffers(pointers);
        Value size = index.constant(taskElements);
        Value low = b.create<arith::MulIOp>(
            loc, b.create<arith::SubIOp>(loc, task, field(segment, 0)), size);
        Value high = b.create<arith::MinSIOp>(loc, b.create<arith::AddIOp>(loc, low, size),
                                              field(segment, 1));
        target.loopOverLanes(emitter, 0, extent, low, high, /*exact=*/false, {},
                             [&](ValueRange, Value) {
                               SmallVector<Value> values;
                               for (Value result : results)
                                 values.push_back(emitter.element(result, position));
                               for (auto [i, value] : llvm::enumerate(values))
                                 emitter.store(static_cast<unsigned>(i), position, value);
                               return SmallVector<Value>();
                             });
        return {segment};
      });
  LaunchShape shape = target.getLaunchShape(function, 0);
  shape.taskElements = taskElements;
  return KernelFunction{function, shape};
}
