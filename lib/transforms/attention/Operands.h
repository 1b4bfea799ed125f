// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products as attention's operators read them.
#ifndef ACCC_TRANSFORMS_ATTENTION_OPERANDS_H
#define ACCC_TRANSFORMS_ATTENTION_OPERANDS_H

#include "ir/prim/Tensor.h"

#include <optional>

namespace accc::transforms {

using Extents = llvm::SmallVector<int64_t>;

/// nn.matmul or prim.dot_general as result[leading, m, n] = sum_i lhs[leading, m, i]
/// rhs[leading, n, i], where the operands' dimensions are to be permuted so.
struct BatchedProduct {
  mlir::Operation *op = nullptr;
  mlir::Value lhs, rhs;
  Extents lhsOrder, rhsOrder;

  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  }
  /// The extents before the matrices'.
  llvm::ArrayRef<int64_t> leading() const { return type().getShape().drop_back(2); }
};

/// Whether a reshape leaves the last two dimensions as they are.
bool keepsMatrices(prim::ReshapeOp op);

/// Nothing where the op is no such product; or one that no other may stand for, of full precision.
std::optional<BatchedProduct> asBatchedProduct(mlir::Operation *op);

/// The number that every element is, of a constant that may be repeated or widened.
std::optional<double> numberOf(mlir::Value value);

/// The value and the number of value = x * number or x / number; the number is near enough to 1 to
/// be multiplied elsewhere instead.
struct Scaled {
  mlir::Value x;
  double number;
};
std::optional<Scaled> asScaled(mlir::Value value);

/// Views of x that look through views that they undo.
prim::Tensor reshaped(prim::Tensor x, llvm::ArrayRef<int64_t> shape);
prim::Tensor transposed(prim::Tensor x, llvm::ArrayRef<int64_t> permutation);

/// x [..., T, D] as [B, H, T, D], its leading extents repeated to `leading` first.
prim::Tensor asHeads(prim::Tensor x, llvm::ArrayRef<int64_t> leading, int64_t batch, int64_t heads);

/// Keys or values [B, Hk, S, D] that were repeated to x [B, H, S, D], each for H / Hk neighbouring
/// heads; null if they were not.
mlir::Value beforeSharing(prim::Tensor x);

} // namespace accc::transforms

#endif
