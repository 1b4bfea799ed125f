// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reductions of one kernel: along the rows of its iteration space, and across them.
#ifndef ACCC_IR_PRIM_KERNELREDUCTIONS_H
#define ACCC_IR_PRIM_KERNELREDUCTIONS_H

#include "ir/prim/Prim.h"

#include <optional>

namespace accc::prim {

/// Whether what is reduced are the innermost dimensions, and others are not.
bool isAlongRows(ReduceOp op);

/// A row is what one result of a reduction is computed from. A kernel that reduces each row may as
/// well reduce strips of neighbouring rows to one row each: a normalisation's gradient is computed
/// from sums along each row, those of its scale and bias are sums over all rows, and both are read
/// from the same memory.
struct KernelReductions {
  /// Over the same dimensions of operands of one shape, the kernel's iteration space.
  llvm::SmallVector<ReduceOp> rows;
  /// Of the same elements as [strips, rows of a strip, elements of a row], over dimension 1. The
  /// innermost dimensions of the space are then those that are reduced.
  llvm::SmallVector<ReduceOp> columns;

  bool isColumn(mlir::Value value) const {
    return llvm::is_contained(columns, value.getDefiningOp<ReduceOp>());
  }
  /// Whether the value has all elements of the space, in its shape or another, and is not what is
  /// left of the rows.
  bool isFull(mlir::Value value) const;
  /// Of a strip; 1 without columns.
  int64_t stripRows() const;
};

/// Nothing if they are not all one kernel's. In the order that they have.
std::optional<KernelReductions> sortReductions(llvm::ArrayRef<ReduceOp> reductions);

/// An element of a tensor.
struct ElementOf {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> index;
};

/// What a column's reduction combines of the element at `index` of the space; reshapes between are
/// seen through.
ElementOf columnOperand(ReduceOp column, llvm::ArrayRef<int64_t> space,
                        llvm::ArrayRef<mlir::AffineExpr> index);

} // namespace accc::prim

#endif
