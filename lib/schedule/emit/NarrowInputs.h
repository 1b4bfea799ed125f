// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that are given the parts of buffers that they read.
#ifndef ACCC_SCHEDULE_EMIT_NARROWINPUTS_H
#define ACCC_SCHEDULE_EMIT_NARROWINPUTS_H

#include "ir/prim/Prim.h"

#include "mlir/IR/OwningOpRef.h"

namespace accc {

/// A fusion whose body takes, for some inputs, one contiguous part of them. Its operands are those
/// of the fusion that it was made from.
struct NarrowFusion {
  mlir::OwningOpRef<prim::FusionOp> fusion;
  llvm::SmallVector<int64_t> begins; // for each input: where the part begins, in bytes

  mlir::RankedTensorType inputType(size_t input);
};

/// Computes what `fusion` computes. Where the only thing done with an input is to take one
/// contiguous slice, beginning at a multiple of ACCC_ALIGNMENT, the slice is what the body takes:
/// the steps of a sequence are then one kernel, and not one for each place that they read from.
/// Only of inputs for which `mayNarrow` is true.
NarrowFusion narrowInputs(prim::FusionOp fusion, llvm::function_ref<bool(mlir::Value)> mayNarrow);

} // namespace accc

#endif
