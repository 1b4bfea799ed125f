// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What normalisations share.
#ifndef ACCC_IR_NN_MOMENTS_H
#define ACCC_IR_NN_MOMENTS_H

#include "ir/nn/Rules.h"

namespace accc::nn {

/// x minus its mean over some dimensions, and the mean of its square. `mean` and `var` lack those
/// dimensions.
struct Moments {
  prim::Tensor mean, centered, var;
};
inline Moments moments(prim::Tensor x, llvm::ArrayRef<int64_t> dimensions) {
  prim::Tensor m = prim::mean(x, dimensions);
  prim::Tensor centered = x - m.broadcastAlong(x.shape(), dimensions);
  return {m, centered, prim::mean(centered * centered, dimensions)};
}

/// One value for each channel is asked of every operand after x.
template <typename Op>
mlir::LogicalResult checkChannels(std::optional<mlir::Location> location, mlir::ValueRange operands,
                                  int64_t leastRank) {
  auto x = typeOf(operands.front());
  if (x.getRank() < leastRank)
    return prim::inferError<Op>(location, "x of type ", x, " has a rank below ", leastRank);
  for (mlir::Value vector : operands.drop_front())
    if (shapeOf(vector) != llvm::ArrayRef<int64_t>(x.getDimSize(1)))
      return prim::inferError<Op>(location, "an operand of type ", vector.getType(),
                                  " does not have one element for each of the ", x.getDimSize(1),
                                  " channels of x");
  return mlir::success();
}

} // namespace accc::nn

#endif
