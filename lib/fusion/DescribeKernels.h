// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What emitters have to know of a kernel beside its ops.
#ifndef ACCC_FUSION_DESCRIBEKERNELS_H
#define ACCC_FUSION_DESCRIBEKERNELS_H

#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// Gives a prim.fusion of kind loop or reduce its KernelSpec. Its body must not change any more.
void describeKernel(prim::FusionOp fusion);

/// Every one of the function.
void describeKernels(mlir::func::FuncOp function);

} // namespace accc

#endif
