// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows that look for their first greatest element: the gradient of max-pooling, and arg_window.
#ifndef ACCC_CODEGEN_KERNEL_FIRSTMAXIMUM_H
#define ACCC_CODEGEN_KERNEL_FIRSTMAXIMUM_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"
#include "ir/prim/Geometry.h"

namespace accc::codegen {

/// The windows of a window_scatter or arg_window.
struct Windows {
  mlir::Operation *op = nullptr; // orders the elements
  mlir::Value operand;
  mlir::Value source; // what is scattered; null for arg_window
  prim::WindowGeometry geometry;
  llvm::SmallVector<int64_t> positions; // shape of the window positions

  /// Of a kernel that yields one of the two ops; null op if it does not.
  static Windows of(exec::KernelOp kernel);

  llvm::ArrayRef<int64_t> shape() const { return geometry.extents; }
  llvm::ArrayRef<int64_t> window() const { return geometry.window; }
  /// Windows do not cross this dimension: every position is the element itself.
  bool isIndependent(size_t d) const {
    return geometry.window[d] == 1 && geometry.strides[d] == 1 && positions[d] == shape()[d];
  }
  /// The element `offset` of the window at `position`, and where in the operand it must lie.
  llvm::SmallVector<mlir::AffineExpr> elementAt(llvm::ArrayRef<mlir::AffineExpr> position,
                                                llvm::ArrayRef<int64_t> offset) const;
  llvm::SmallVector<IndexRange> rangesOf(llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// The row-major index of an element of the operand.
  mlir::AffineExpr linear(llvm::ArrayRef<mlir::AffineExpr> at) const;
};

/// The label of the first greatest element of the window at `position`, an integer of type
/// `labelType`; -1 if the window has no element at all. `label` names the element with this number
/// in the window.
mlir::Value firstMaximum(
    BodyEmitter &emitter, const Windows &windows, llvm::ArrayRef<mlir::AffineExpr> position,
    mlir::IntegerType labelType,
    llvm::function_ref<mlir::Value(int64_t number, llvm::ArrayRef<mlir::AffineExpr> at)> label);

/// Where the innermost dimension is independent: lanes run along it, and a position is done for all
/// of its elements at once.
KernelFunction emitWindowColumns(exec::KernelOp kernel, mlir::func::FuncOp function,
                                 const Windows &windows, const KernelTarget &target,
                                 ErrorTable &errors);

} // namespace accc::codegen

#endif
