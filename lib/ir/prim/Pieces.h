// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The results of a kernel that walks elements in any order: each has the shape of its iteration
// space, or is a concatenation of tensors of that shape, to which every step gives an element of
// each of its pieces.
#ifndef ACCC_IR_PRIM_PIECES_H
#define ACCC_IR_PRIM_PIECES_H

#include "ir/prim/Prim.h"

namespace accc::prim {

/// The iteration space that the results of a kernel without reductions ask for: the shape of the
/// smallest, the first of several.
llvm::ArrayRef<int64_t> spaceOf(mlir::ValueRange results);

/// Whether `result` has the shape `space`, or is a concatenation of tensors of that shape.
bool isWalkedOver(mlir::Value result, llvm::ArrayRef<int64_t> space);

/// Calls `visit` for each piece of `result`, which is one itself unless it is a concatenation of
/// tensors of the shape `space`: the piece, and where its element at `position` lies in `result`.
void forEachPiece(
    mlir::Value result, llvm::ArrayRef<int64_t> space, llvm::ArrayRef<mlir::AffineExpr> position,
    llvm::function_ref<void(mlir::Value piece, llvm::ArrayRef<mlir::AffineExpr> at)> visit);

} // namespace accc::prim

#endif // ACCC_IR_PRIM_PIECES_H
