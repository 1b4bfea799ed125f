// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss bce_with_logits: torch.nn.functional.binary_cross_entropy_with_logits.
#include "training/loss/ElementLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class BceWithLogitsLoss final : public ElementLoss {
public:
  explicit BceWithLogitsLoss(Spec &spec) : positiveWeight(spec.numbers("pos_weight")) {}

  FailureOr<RankedTensorType> targetType(RankedTensorType output, Location loc) const override {
    auto weights = static_cast<int64_t>(positiveWeight.size());
    int64_t last = output.getRank() == 0 ? 1 : output.getShape().back();
    if (weights > 1 && weights != last)
      return emitError(loc) << "the loss has " << weights << " positive weights for " << last
                            << " classes, the last dimension of " << output;
    return ElementLoss::targetType(output, loc);
  }

  Value build(Tensor output, Value target) const override {
    return meanLoss<nn::BceWithLogitsOp>(output, target, /*weight=*/Value(),
                                         positiveWeightConstant(output));
  }

private:
  /// One weight is a scalar, which an output of any rank takes.
  Value positiveWeightConstant(Tensor output) const {
    if (positiveWeight.size() == 1)
      return output.full(RankedTensorType::get({}, output.elementType()), positiveWeight.front());
    return constantOf(output, positiveWeight);
  }

  std::vector<double> positiveWeight;
};
} // namespace

std::unique_ptr<Loss> accc::createBceWithLogitsLoss(Spec &spec) {
  return std::make_unique<BceWithLogitsLoss>(spec);
}
