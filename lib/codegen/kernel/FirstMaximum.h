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
  llvm::SmallVector<mlir::AffineExpr> elementAt(llvm::ArrayRef<mlir::AffineExpr> position,
                                                llvm::ArrayRef<mlir::AffineExpr> offset) const;
  llvm::SmallVector<IndexRange> rangesOf(llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// The row-major index of an element of the operand.
  mlir::AffineExpr linear(llvm::ArrayRef<mlir::AffineExpr> at) const;
};

/// Indices brought into a tensor of this shape, which is not empty: a thread reads at the nearest
/// index inside and decides afterwards whether that counts, so that its reads need not wait for
/// conditions.
class NearestIndices {
public:
  NearestIndices(BodyEmitter &emitter, llvm::ArrayRef<int64_t> shape)
      : emitter(emitter), shape(shape) {}

  /// The nearest index inside, and whether that is `at` itself: an i1, null if it always is. Valid
  /// where it is asked for first.
  std::pair<llvm::SmallVector<mlir::AffineExpr>, mlir::Value>
  of(llvm::ArrayRef<mlir::AffineExpr> at);

private:
  struct Nearest {
    mlir::AffineExpr index;
    mlir::Value inside;
  };
  Nearest along(size_t d, mlir::AffineExpr at);

  BodyEmitter &emitter;
  llvm::ArrayRef<int64_t> shape;
  llvm::DenseMap<std::pair<size_t, mlir::AffineExpr>, Nearest> known;
};

/// The label of the first greatest element of the window at `position`, an integer of type
/// `labelType`; -1 if the window has no element at all. `label` names the element with this number
/// in the window.
mlir::Value firstMaximum(
    BodyEmitter &emitter, const Windows &windows, llvm::ArrayRef<mlir::AffineExpr> position,
    mlir::IntegerType labelType,
    llvm::function_ref<mlir::Value(int64_t number, llvm::ArrayRef<mlir::AffineExpr> at)> label);

/// The same of a thread: `at` is the nearest index inside the operand, which is read in any case.
mlir::Value firstMaximum(
    BodyEmitter &emitter, const Windows &windows, llvm::ArrayRef<mlir::AffineExpr> position,
    mlir::IntegerType labelType, NearestIndices &nearest,
    llvm::function_ref<mlir::Value(int64_t number, llvm::ArrayRef<mlir::AffineExpr> at)> label);

/// The row-major index of that element in the operand, which is not empty; -1 if there is none. As
/// much code for any size of the window.
mlir::Value firstMaximumIndex(BodyEmitter &emitter, const Windows &windows,
                              llvm::ArrayRef<mlir::AffineExpr> position);

/// Where the innermost dimension is independent: lanes run along it, and a position is done for all
/// of its elements at once.
KernelFunction emitWindowColumns(exec::KernelOp kernel, mlir::func::FuncOp function,
                                 const Windows &windows, const KernelTarget &target,
                                 ErrorTable &errors);

/// Where lanes are threads: each has elements of the result, whichever dimensions these are
/// neighbours in, and asks the windows that cover them.
KernelFunction emitWindowGather(exec::KernelOp kernel, mlir::func::FuncOp function,
                                const Windows &windows, const KernelTarget &target,
                                ErrorTable &errors);

} // namespace accc::codegen

#endif
