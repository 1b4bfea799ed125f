// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_KERNEL_SORT_H
#define ACCC_CODEGEN_KERNEL_SORT_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// Sorts the row of the operand in which `row` lies (its index along the sorted dimension does not
/// count) into the outputs, which are `results` of the op, the indices among them.
void emitQuickSort(BodyEmitter &emitter, prim::SortOp op, mlir::ValueRange results,
                   llvm::ArrayRef<mlir::AffineExpr> row);

/// For a sort with a range of some of the row's places: calls `take`, which emits code, with the
/// index i (i64) of each element that comes to one of these, in the order of the row, and with the
/// number of those before it.
void emitSelection(BodyEmitter &emitter, prim::SortOp op, llvm::ArrayRef<mlir::AffineExpr> row,
                   llvm::function_ref<void(mlir::Value at, mlir::Value i)> take);

/// Whether a row, with the indices of its elements, fits the memory that the lanes of a block
/// share.
bool fitsBlock(prim::SortOp op, const KernelTarget &target);

/// Where lanes are threads: sorts the lines, a task each. Otherwise like emitQuickSort, into any of
/// the results. Returns the number of tasks.
int64_t emitBlockSort(BodyEmitter &emitter, prim::SortOp op, mlir::ValueRange results,
                      const Lines &lines);

/// Stores the element that comes to place `at` (i64) of the row of the operand in which `row` lies
/// into the outputs, which are `results` of the op.
void emitMerge(BodyEmitter &emitter, prim::MergeOp op, mlir::ValueRange results,
               llvm::ArrayRef<mlir::AffineExpr> row, mlir::Value at);

} // namespace accc::codegen

#endif
