// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss bce_with_logits: torch.nn.functional.binary_cross_entropy_with_logits.
#include "ir/nn/Nn.h"
#include "training/loss/ElementLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class BceWithLogitsLoss final : public ElementLoss {
public:
  Value build(Tensor output, Value target) const override {
    OpBuilder &builder = output.getBuilder();
    return builder.create<nn::BceWithLogitsOp>(
        output.getLoc(), output.get(), target, /*weight=*/Value(), /*pos_weight=*/Value(),
        nn::ReductionAttr::get(builder.getContext(), nn::Reduction::mean));
  }
};
} // namespace

std::unique_ptr<Loss> accc::createBceWithLogitsLoss(Spec &) {
  return std::make_unique<BceWithLogitsLoss>();
}
