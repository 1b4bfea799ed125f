// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_BUDGET_JOINCOPIES_H
#define ACCC_BUDGET_JOINCOPIES_H

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// Marks a kernel that computes a value again. Between the parts of fit-memory.
inline constexpr llvm::StringLiteral kComputedAgain = "accc.computed_again";

/// Makes one kernel of a copy and another that reads the same or what the copy gives, where the
/// function `fits` as it is then. Leaves no mark.
void joinCopies(mlir::func::FuncOp function, const Target &target,
                llvm::function_ref<bool(mlir::func::FuncOp)> fits);

} // namespace accc

#endif
