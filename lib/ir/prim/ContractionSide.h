// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One operand of a matrix product, and whether a matrix library can read it as it lies in memory.
#ifndef ACCC_IR_PRIM_CONTRACTIONSIDE_H
#define ACCC_IR_PRIM_CONTRACTIONSIDE_H

#include "ir/prim/Prim.h"
#include "ir/prim/StridedView.h"

namespace accc::prim {

struct ContractionSide {
  mlir::Value value;
  llvm::SmallVector<int64_t> batch, contracting;
  /// Where the factor's elements are in the value, if it is not the value itself.
  std::optional<StridedView> view = std::nullopt;

  static ContractionSide lhsOf(MatrixProduct op);
  static ContractionSide rhsOf(MatrixProduct op);

  /// The factor's.
  llvm::ArrayRef<int64_t> shape() const {
    return view ? llvm::ArrayRef<int64_t>(view->shape)
                : mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }

  /// Neither batch nor contracting, in operand order.
  llvm::SmallVector<int64_t> free() const;

  /// True if the free dimensions can be walked as one dimension, the contracting ones (in their
  /// order) as another, and one of the two is contiguous. Batch dimensions may lie anywhere.
  bool isReadable() const;
};

/// Whether a library call can read both operands as they lie: each side is readable, or the right
/// one in panels, the first free dimension being the panels (see PackOperands).
bool isReadable(MatrixProduct op);

/// A dot_general of the two sides, in place of `op`.
mlir::Value createContraction(mlir::OpBuilder &builder, MatrixProduct op,
                              const ContractionSide &lhs, const ContractionSide &rhs);

} // namespace accc::prim

#endif
