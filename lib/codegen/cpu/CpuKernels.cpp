// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cpu/CpuKernels.h"

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

// ---- Functions ----

func::FuncOp CpuKernels::createFunction(exec::KernelOp kernel, ModuleOp module, bool) const {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto function = b.create<func::FuncOp>(kernel.getLoc(), kernelSymbol(kernel.getSymName()),
                                         b.getFunctionType({pointer, i64, i64}, {}));
  Block *entry = function.addEntryBlock();
  OpBuilder::atBlockEnd(entry).create<func::ReturnOp>(kernel.getLoc());
  return function;
}

Value CpuKernels::getBuffer(OpBuilder &b, func::FuncOp function, int32_t number) const {
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = b.create<LLVM::GEPOp>(function.getLoc(), pointerType, pointerType,
                                     function.getArgument(0), ArrayRef<LLVM::GEPArg>{number});
  return b.create<LLVM::LoadOp>(function.getLoc(), pointerType, slot);
}

Value CpuKernels::getBufferArray(func::FuncOp function) const { return function.getArgument(0); }

Value CpuKernels::loadBuffer(OpBuilder &b, Location loc, Value array, Value number) const {
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value slot =
      b.create<LLVM::GEPOp>(loc, pointerType, pointerType, array, ArrayRef<LLVM::GEPArg>{number});
  return b.create<LLVM::LoadOp>(loc, pointerType, slot);
}

std::pair<Value, Value> CpuKernels::getTasks(OpBuilder &, func::FuncOp function,
                                             function_ref<Value()>, function_ref<Value()>) const {
  return {function.getArgument(1), function.getArgument(2)};
}

LaunchShape CpuKernels::getLaunchShape(func::FuncOp, int64_t tasks) const {
  return {.tasks = tasks};
}

void CpuKernels::report(OpBuilder &b, Location loc, Value status, Value code) const {
  b.create<LLVM::StoreOp>(loc, code, status);
}

// ---- Lanes ----

int64_t CpuKernels::chooseLanes(int64_t extent, int64_t unroll) const {
  int64_t width = vectorBits / 32;
  if (extent < width)
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max<int64_t>(extent, 1))));
  while (unroll > 1 && extent < width * unroll)
    unroll /= 2;
  return width * unroll;
}

void CpuKernels::setLanes(BodyEmitter &emitter, unsigned dim, int64_t lanes) const {
  emitter.indices().setVector(dim, lanes);
}

SmallVector<Value> CpuKernels::loopOverLanes(BodyEmitter &emitter, unsigned dim, int64_t extent,
                                             Value low, Value high, bool exact, ValueRange carried,
                                             LaneBody body) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  IndexEmitter &index = emitter.indices();
  int64_t width = index.width();
  Value full = high;
  if (!exact) {
    Value count = b.create<arith::SubIOp>(loc, high, low);
    Value rest = b.create<arith::RemUIOp>(loc, count, index.constant(width));
    full = b.create<arith::SubIOp>(loc, high, rest);
  }
  SmallVector<Value> values =
      forLoop(emitter, low, full, width, carried, [&](Value i, ValueRange in) {
        index.setDim(dim, i, extent);
        return body(in, nullptr);
      });
  if (exact)
    return values;
  // The partial vector at the end, once or not at all.
  return forLoop(emitter, full, high, width, values, [&](Value i, ValueRange in) {
    index.setDim(dim, i, extent);
    auto type = VectorType::get({width}, b.getI64Type());
    SmallVector<int64_t> lanes(width);
    for (int64_t l = 0; l < width; ++l)
      lanes[l] = l;
    Value lane = b.create<arith::ConstantOp>(loc, DenseIntElementsAttr::get(type, lanes));
    Value left = b.create<vector::SplatOp>(loc, type, b.create<arith::SubIOp>(loc, high, i));
    Value mask = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lane, left);
    emitter.setTailMask(width == 1 ? Value() : mask);
    SmallVector<Value> out = body(in, width == 1 ? Value() : mask);
    emitter.setTailMask(nullptr);
    return out;
  });
}

Value CpuKernels::combineLanes(BodyEmitter &emitter, Value vector,
                               function_ref<Value(Value, Value)> combine) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  // Halves are combined with each other.
  for (int64_t width = type.getNumElements(); width > 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < width / 2; ++i) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Value a = b.create<vector::ShuffleOp>(loc, vector, vector, low);
    Value c = b.create<vector::ShuffleOp>(loc, vector, vector, high);
    vector = combine(a, c);
  }
  return b.create<vector::ExtractOp>(loc, vector, ArrayRef<int64_t>{0});
}
