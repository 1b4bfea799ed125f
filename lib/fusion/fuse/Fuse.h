// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From prim to prim.fusion regions and library calls.
#ifndef ACCC_FUSION_FUSE_FUSE_H
#define ACCC_FUSION_FUSE_FUSE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace accc {

/// Puts every op of every function that is not a contraction, a reshape or a constant into a
/// prim.fusion.
mlir::LogicalResult formFusions(mlir::ModuleOp module);

} // namespace accc

#endif
