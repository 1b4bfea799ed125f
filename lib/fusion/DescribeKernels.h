// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What emitters have to know of a kernel beside its ops.
#ifndef ACCC_FUSION_DESCRIBEKERNELS_H
#define ACCC_FUSION_DESCRIBEKERNELS_H

#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// Gives every prim.fusion of kind loop or reduce of the function its KernelSpec. Their bodies must
/// not change any more.
void describeKernels(mlir::func::FuncOp function);

} // namespace accc

#endif
