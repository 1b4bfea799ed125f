// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reduction at the end of a loss, and its transpose.
#ifndef ACCC_IR_NN_REDUCTION_H
#define ACCC_IR_NN_REDUCTION_H

#include "ir/nn/Rules.h"

namespace accc::nn {

/// The type of a loss: one value a position, or a tensor of rank 0.
inline mlir::RankedTensorType lossType(llvm::ArrayRef<int64_t> positions, mlir::Type elementType,
                                       Reduction reduction) {
  return mlir::RankedTensorType::get(
      reduction == Reduction::none ? positions : llvm::ArrayRef<int64_t>(), elementType);
}

/// The losses, or their sum, or their sum divided by `weight` (rank 0).
inline prim::Tensor reduceLoss(prim::Tensor losses, Reduction reduction, prim::Tensor weight) {
  if (reduction == Reduction::none)
    return losses;
  return reduction == Reduction::sum ? sumAll(losses) : sumAll(losses) / weight;
}

/// The cotangent of each position's loss, given the reduced loss's.
inline prim::Tensor spreadLoss(prim::Tensor cotangent, Reduction reduction, prim::Tensor weight,
                               llvm::ArrayRef<int64_t> positions) {
  if (reduction == Reduction::none)
    return cotangent;
  return (reduction == Reduction::sum ? cotangent : cotangent / weight).broadcast(positions, {});
}

} // namespace accc::nn

#endif
