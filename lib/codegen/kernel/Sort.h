// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_KERNEL_SORT_H
#define ACCC_CODEGEN_KERNEL_SORT_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// Sorts the row of the operand in which `row` lies (its index along the sorted dimension does not
/// count) into the outputs, which are `results` of the op.
void emitHeapSort(BodyEmitter &emitter, prim::SortOp op, mlir::ValueRange results,
                  llvm::ArrayRef<mlir::AffineExpr> row);

/// Whether emitQuickSort can sort such rows into these outputs.
bool fitsQuickSort(prim::SortOp op, mlir::ValueRange results);

/// Like emitHeapSort, several times as fast.
void emitQuickSort(BodyEmitter &emitter, prim::SortOp op, mlir::ValueRange results,
                   llvm::ArrayRef<mlir::AffineExpr> row);

/// Whether a row, with the indices of its elements, fits the memory that the lanes of a block
/// share.
bool fitsBlock(prim::SortOp op, const KernelTarget &target);

/// Where lanes are threads: sorts the rows, a task each, which loop variables `outer` of the domain
/// number. Otherwise like emitHeapSort. Returns the number of tasks.
int64_t emitBlockSort(BodyEmitter &emitter, prim::SortOp op, mlir::ValueRange results,
                      const Domain &domain, llvm::ArrayRef<unsigned> outer,
                      llvm::ArrayRef<mlir::AffineExpr> row);

/// Stores the element that comes to place `at` (i64) of the row of the operand in which `row` lies
/// into the outputs, which are `results` of the op.
void emitMerge(BodyEmitter &emitter, prim::MergeOp op, mlir::ValueRange results,
               llvm::ArrayRef<mlir::AffineExpr> row, mlir::Value at);

} // namespace accc::codegen

#endif
