// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a tensor as a tensor of their own, without a copy.
#ifndef ACCC_IR_PRIM_STRIDEDVIEW_H
#define ACCC_IR_PRIM_STRIDEDVIEW_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace accc::prim {

/// Where the elements of a view are in the tensor that it is a view of, counted row-major. There is
/// at least one, and no extent is 0.
struct StridedView {
  llvm::SmallVector<int64_t> shape, strides;
  int64_t offset = 0;

  /// All elements of a tensor in their order.
  static StridedView all(llvm::ArrayRef<int64_t> shape);
  /// Nothing where the type is not static, or has a stride that is negative.
  static std::optional<StridedView> of(mlir::MemRefType type);
  mlir::MemRefType type(mlir::Type elementType) const;
  /// The view that an attribute of an op says, if it is one within such a tensor.
  static std::optional<StridedView> within(mlir::RankedTensorType whole, mlir::Attribute said);
  /// One of those that a verified op says.
  static StridedView at(mlir::ArrayAttr views, size_t i);

  int64_t elements() const;
  /// The place of the last one.
  int64_t last() const;

  StridedView transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// Nothing where new dimensions have no stride.
  std::optional<StridedView> reshaped(llvm::ArrayRef<int64_t> to) const;
  std::optional<StridedView> sliced(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> limits,
                                    llvm::ArrayRef<int64_t> steps) const;

  /// Of transposes and reshapes: where this is an operand's, the result's (of slices, too), and
  /// where it is a result's, the operand's.
  std::optional<StridedView> through(mlir::Operation *view) const;
  std::optional<StridedView> before(mlir::Operation *view) const;

  bool operator==(const StridedView &) const = default;
};

/// A tensor, and a view of it.
struct ViewOf {
  mlir::Value tensor;
  StridedView view;

  bool operator==(const ViewOf &) const = default;
};

/// The tensor that a value is made of by transposes, reshapes and slices alone, as far up as it is
/// a view of.
ViewOf furthestView(mlir::Value value);

} // namespace accc::prim

#endif
