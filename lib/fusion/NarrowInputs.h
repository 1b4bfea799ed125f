// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are given the parts of tensors that they read.
#ifndef ACCC_FUSION_NARROWINPUTS_H
#define ACCC_FUSION_NARROWINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

namespace prim {
class SliceOp;
}

/// Whether the slice can be no code but an address, for all that reads it.
bool isPlaceInMemory(prim::SliceOp slice);

/// Moves contiguous slices inside kernels up to the kernels' inputs, so that no more is computed
/// than they take, and where one piece of an input is all that a kernel reads, gives it that: a
/// `prim.slice` outside, which is no code but an address. Kernels that differ in which part of a
/// tensor they read (a step of a recurrent net, the gradient of one operand of a concatenation) are
/// equal then, and compiled once. Values stay as they are.
void narrowInputs(mlir::func::FuncOp function);

} // namespace accc

#endif
