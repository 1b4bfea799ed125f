// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What losses that compare element by element share.
#ifndef ACCC_TRAINING_LOSS_ELEMENTLOSSES_H
#define ACCC_TRAINING_LOSS_ELEMENTLOSSES_H

#include "ir/nn/Nn.h"
#include "training/loss/Loss.h"

namespace accc {

/// The target has the type of the output, which must be a float.
class ElementLoss : public Loss {
public:
  mlir::FailureOr<mlir::RankedTensorType> targetType(mlir::RankedTensorType output,
                                                     mlir::Location loc) const override {
    if (!mlir::isa<mlir::FloatType>(output.getElementType()))
      return mlir::emitError(loc) << "the loss needs a float output, and it is " << output;
    return output;
  }
};

/// Op of the output, the target and what else it takes, with the mean as its reduction.
template <typename Op, typename... More>
mlir::Value meanLoss(prim::Tensor output, mlir::Value target, More... more) {
  mlir::OpBuilder &builder = output.getBuilder();
  auto mean = nn::ReductionAttr::get(builder.getContext(), nn::Reduction::mean);
  return builder.create<Op>(output.getLoc(), output.get(), target, more..., mean);
}

} // namespace accc

#endif
