// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_BUDGET_DROPUNREAD_H
#define ACCC_BUDGET_DROPUNREAD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// Takes results that nothing reads out of kernels of kind loop and reduce, with all that was
/// computed for them alone.
void dropUnreadResults(mlir::func::FuncOp function);

} // namespace accc

#endif
