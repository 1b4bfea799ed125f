// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/element/KernelTarget.h"

using namespace mlir;
using namespace accc::codegen;

KernelTarget::~KernelTarget() = default;

int64_t KernelTarget::shareReduction(func::FuncOp, int64_t, int64_t, int64_t) const {
  llvm_unreachable("lanes are not threads");
}

Value KernelTarget::getColumn(OpBuilder &, func::FuncOp) const {
  llvm_unreachable("lanes are not threads");
}
