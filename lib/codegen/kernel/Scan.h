// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that walk one dimension in order: arg_reduce, cumulative.
#ifndef ACCC_CODEGEN_KERNEL_SCAN_H
#define ACCC_CODEGEN_KERNEL_SCAN_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// The op of a scan kernel: one of the two.
struct Scan {
  prim::ArgReduceOp argReduce;
  prim::CumulativeOp cumulative;
  mlir::Value operand;
  unsigned along;
  mlir::Type accumulator; // of what a cumulative carries from element to element

  llvm::ArrayRef<int64_t> shape() const {
    return mlir::cast<mlir::RankedTensorType>(operand.getType()).getShape();
  }
};

/// Where lanes are threads: those of a task share what an arg_reduce walks, and have columns as in
/// a reduction.
KernelFunction emitArgReduceInLanes(exec::KernelOp kernel, mlir::ModuleOp module, const Scan &scan,
                                    const KernelTarget &target, ErrorTable &errors);

/// Where lanes are threads: a task has a row of neighbours and its lanes take some at a time.
KernelFunction emitCumulativeInLanes(exec::KernelOp kernel, mlir::ModuleOp module, const Scan &scan,
                                     const KernelTarget &target, ErrorTable &errors);

/// On a CPU: the lanes of a vector have neighbours along the innermost dimension, or, where that is
/// the one that an arg_reduce walks, elements of the row. No extent is 0.
KernelFunction emitScanInVectors(exec::KernelOp kernel, mlir::ModuleOp module, const Scan &scan,
                                 const KernelTarget &target, ErrorTable &errors);

} // namespace accc::codegen

#endif
