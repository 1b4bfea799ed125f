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

namespace {
/// The segment table in memory.
class Segments {
public:
  Segments(BodyEmitter &emitter, Value table)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), table(table), one(constant(1)),
        two(constant(2)), number(word(constant(0))) {}

  Value count() const { return number; }
  Value word(Value i) const {
    auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
    Type i64 = b.getI64Type();
    Value at = b.create<LLVM::GEPOp>(loc, pointerType, i64, table, ArrayRef<LLVM::GEPArg>{i});
    return b.create<LLVM::LoadOp>(loc, i64, at, sizeof(int64_t));
  }
  Value firstTask(Value segment) const { return field(segment, 0); }
  Value size(Value segment) const { return field(segment, 1); }
  /// Index 1 + segment * size: where what a segment has begins, where each has `size` entries.
  Value place(Value segment, Value size) const {
    return b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, segment, size), one);
  }

  /// The last segment that starts at or before `task`; it is `segment` or one after it.
  Value advance(Value segment, Value task) const;
  /// The same by bisection of all segments: for a task on its own.
  Value find(Value task) const;

private:
  Value constant(int64_t value) const { return emitter.indices().constant(value); }
  Value field(Value segment, int64_t which) const {
    return word(b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, segment, two),
                                        constant(1 + which)));
  }
  /// scf.while over i64.
  SmallVector<Value> loop(ValueRange initial, function_ref<Value(ValueRange)> condition,
                          function_ref<SmallVector<Value>(ValueRange)> next) const;

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  Value table, one, two, number;
};

SmallVector<Value> Segments::loop(ValueRange initial, function_ref<Value(ValueRange)> condition,
                                  function_ref<SmallVector<Value>(ValueRange)> next) const {
  auto result = b.create<scf::WhileOp>(
      loc, initial.getTypes(), initial,
      [&](OpBuilder &inner, Location, ValueRange at) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        b.create<scf::ConditionOp>(loc, condition(at), at);
      },
      [&](OpBuilder &inner, Location, ValueRange at) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        b.create<scf::YieldOp>(loc, next(at));
      });
  return SmallVector<Value>(result.getResults());
}

Value Segments::advance(Value segment, Value task) const {
  return loop(
      segment,
      [&](ValueRange at) -> Value {
        Value next = b.create<arith::AddIOp>(loc, at[0], one);
        Value exists = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next, number);
        Value last = b.create<arith::SubIOp>(loc, number, one);
        Value start = firstTask(b.create<arith::MinSIOp>(loc, next, last));
        Value started = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, start, task);
        return b.create<arith::AndIOp>(loc, exists, started);
      },
      [&](ValueRange at) -> SmallVector<Value> {
        return {b.create<arith::AddIOp>(loc, at[0], one)};
      })[0];
}

Value Segments::find(Value task) const {
  // The segment lies in [low, high).
  return loop(
      {constant(0), number},
      [&](ValueRange at) -> Value {
        Value next = b.create<arith::AddIOp>(loc, at[0], one);
        return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next, at[1]);
      },
      [&](ValueRange at) -> SmallVector<Value> {
        Value middle =
            b.create<arith::ShRUIOp>(loc, b.create<arith::AddIOp>(loc, at[0], at[1]), one);
        Value started =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, firstTask(middle), task);
        return {b.create<arith::SelectOp>(loc, started, middle, at[0]),
                b.create<arith::SelectOp>(loc, started, at[1], middle)};
      })[0];
}
} // namespace

FailureOr<KernelFunction> codegen::emitEachKernel(exec::KernelOp kernel, ModuleOp module,
                                                  const KernelTarget &target, ErrorTable &errors) {
  Block &body = kernel.getBody().front();
  ValueRange results = body.getTerminator()->getOperands();
  int64_t extent = cast<RankedTensorType>(results.front().getType()).getNumElements();
  auto buffersPerSegment = static_cast<int64_t>(body.getNumArguments() + results.size());

  auto emitAt = [&](BodyEmitter &emitter) {
    SmallVector<AffineExpr> position{emitter.indices().dim(0)};
    SmallVector<Value> values;
    for (Value result : results)
      values.push_back(emitter.element(result, position));
    for (auto [i, value] : llvm::enumerate(values))
      emitter.store(static_cast<unsigned>(i), position, value);
  };
  // Segments begin at aligned addresses, and so do tasks in them.
  int64_t neighbours = target.lanesAreThreads() ? chooseNeighbours(kernel, Domain(ArrayRef(extent)),
                                                                   /*dim=*/0, target, emitAt)
                                                : 1;
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  BodyEmitter emitter(kernel, function, target, errors, 1);
  OpBuilder &b = emitter.builder();
  Location loc = kernel.getLoc();
  IndexEmitter &index = emitter.indices();
  target.setLanes(emitter, 0, target.chooseLanes(extent));
  if (neighbours > 1)
    index.setVector(0, neighbours);
  Value buffers = target.getBufferArray(function);
  Segments segments(emitter, target.getBuffer(b, function, 0));
  // The number of tasks and the status lie behind the segments'.
  Value perSegment = index.constant(buffersPerSegment);
  auto [begin, end] = target.getTasks(
      b, function,
      [&] {
        return target.loadBuffer(b, loc, buffers, segments.place(segments.count(), perSegment));
      },
      [&] { return segments.word(segments.place(segments.count(), index.constant(2))); });
  int64_t taskElements = target.getTaskElements(function, neighbours, /*findsSegment=*/true);
  forLoop(emitter, begin, end, 1, ValueRange{index.constant(0)},
          [&](Value task, ValueRange carried) -> SmallVector<Value> {
            // The last segment that starts at or before the task.
            Value segment =
                target.lanesAreThreads() ? segments.find(task) : segments.advance(carried[0], task);
            SmallVector<Value> pointers;
            Value first = segments.place(segment, perSegment);
            for (int64_t i = 0; i < buffersPerSegment; ++i) {
              Value at = b.create<arith::AddIOp>(loc, first, index.constant(i));
              pointers.push_back(target.loadBuffer(b, loc, buffers, at));
            }
            emitter.setBuffers(pointers);
            Value size = index.constant(taskElements);
            Value low = b.create<arith::MulIOp>(
                loc, b.create<arith::SubIOp>(loc, task, segments.firstTask(segment)), size);
            Value high = b.create<arith::MinSIOp>(loc, b.create<arith::AddIOp>(loc, low, size),
                                                  segments.size(segment));
            target.loopOverLanes(emitter, 0, extent, low, high, /*exact=*/false, {},
                                 [&](ValueRange, Value) {
                                   emitAt(emitter);
                                   return SmallVector<Value>();
                                 });
            return {segment};
          });
  LaunchShape shape = target.getLaunchShape(function, 0);
  shape.taskElements = taskElements;
  return KernelFunction{function, shape};
}
