// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/element/KernelTarget.h"

using namespace mlir;
using namespace accc::codegen;

KernelTarget::~KernelTarget() = default;

int64_t KernelTarget::getAccessBytes() const { llvm_unreachable("lanes are not threads"); }
RowAccess KernelTarget::getRowAccess() const { llvm_unreachable("lanes are not threads"); }

ReductionShare KernelTarget::shareReduction(func::FuncOp, const ReductionShape &) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::getColumn(OpBuilder &, func::FuncOp) const {
  llvm_unreachable("lanes are not threads");
}

BlockLimits KernelTarget::getBlockLimits() const { llvm_unreachable("lanes are not threads"); }

int64_t KernelTarget::setBlock(func::FuncOp, int64_t) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::createShared(OpBuilder &, func::FuncOp, Type, int64_t) const {
  llvm_unreachable("lanes are not threads");
}

void KernelTarget::synchronize(OpBuilder &, Location) const {
  llvm_unreachable("lanes are not threads");
}

int64_t KernelTarget::getBusyTasks(func::FuncOp) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::getLane(OpBuilder &, func::FuncOp) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::getFromLane(BodyEmitter &, Value, Value) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::scanLanes(BodyEmitter &, Value, function_ref<Value(Value, Value)>) const {
  llvm_unreachable("lanes are not threads");
}

SmallVector<Value>
KernelTarget::forEachLaneWhere(BodyEmitter &, Value, ValueRange,
                               function_ref<SmallVector<Value>(ValueRange, ValueRange)>) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::getShare(OpBuilder &, func::FuncOp) const {
  llvm_unreachable("lanes are not threads");
}

int64_t KernelTarget::getFreeRegisters(func::FuncOp) const {
  llvm_unreachable("lanes are not threads");
}
