// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_KERNEL_SCATTER_H
#define ACCC_CODEGEN_KERNEL_SCATTER_H

#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// What is reported of an index that is no row.
inline constexpr char kNoRow[] = "an index of a scatter is out of range";

/// Where every row of the result gets one update: a task walks updates.
KernelFunction emitPermutation(exec::KernelOp kernel, mlir::func::FuncOp function,
                               prim::ScatterOp scatter, const KernelTarget &target,
                               ErrorTable &errors);

/// Where lanes are threads: a task owns rows of the result and looks for their updates.
KernelFunction emitScatterRows(exec::KernelOp kernel, mlir::func::FuncOp function,
                               prim::ScatterOp scatter, const KernelTarget &target,
                               ErrorTable &errors);

} // namespace accc::codegen

#endif
