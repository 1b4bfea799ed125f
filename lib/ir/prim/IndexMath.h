// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps of reshapes, as short as they can be.
#ifndef ACCC_IR_PRIM_INDEXMATH_H
#define ACCC_IR_PRIM_INDEXMATH_H

#include "mlir/IR/AffineExpr.h"

namespace accc::prim {

/// The index, in an array of shape `toShape`, of the element that has `index` in an array of shape
/// `fromShape` with the same elements in row-major order (as many as in `toShape`, not none).
/// `index` has one expression for each dimension of `fromShape`, each known to lie within its
/// extent.
///
/// Dimensions are matched in groups of equal products and only within a group linearised and taken
/// apart again; extents of 1 cost nothing; what an earlier reshape took apart is put together again
/// ((e floordiv n) * n + e mod n gives e); no mod or floordiv is left that the extents make idle.
llvm::SmallVector<mlir::AffineExpr> reshapeIndex(mlir::MLIRContext *context,
                                                 llvm::ArrayRef<mlir::AffineExpr> index,
                                                 llvm::ArrayRef<int64_t> fromShape,
                                                 llvm::ArrayRef<int64_t> toShape);

} // namespace accc::prim

#endif
