// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One emitter for each kind of kernel.
#ifndef ACCC_CODEGEN_KERNEL_EMITTERS_H
#define ACCC_CODEGEN_KERNEL_EMITTERS_H

#include "codegen/kernel/Kernel.h"

namespace accc::codegen {

using Emitter = mlir::FailureOr<KernelFunction>(exec::KernelOp, mlir::ModuleOp,
                                                const KernelTarget &, ErrorTable &);

/// `loop`: pointwise ops, views and window reductions; all outputs have the same shape, which is
/// the iteration space.
Emitter emitLoopKernel;

/// `reduce`: reductions that share operand shape S and reduced dimensions Q, with pointwise ops and
/// views before, between and after them. Outputs have shape S, or S without Q. For each index of
/// the kept dimensions the reductions are computed level by level, then the outputs.
Emitter emitReduceKernel;

/// `scatter`: one prim.scatter, the only output, with pointwise ops and views before it.
Emitter emitScatterKernel;

/// `scan`: one prim.arg_reduce or prim.cumulative with pointwise ops and views before it:
/// one dimension is walked in order, the others are independent.
Emitter emitScanKernel;

/// `sort`: one prim.sort or prim.merge with pointwise ops and views before it; yields its values,
/// its indices, or both.
Emitter emitSortKernel;

/// `matrix`: one op on stacks of matrices (ir/prim/Matrices.td), whose results it yields, all of
/// them: it works in these.
Emitter emitMatrixKernel;

/// `each`: pointwise ops on flat tensors of any size, over several segments (exec.launch_each). The
/// number of tasks is that of the launch's SegmentTable.
Emitter emitEachKernel;

} // namespace accc::codegen

#endif
