// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss bce: torch.nn.functional.binary_cross_entropy.
#include "training/loss/ElementLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class BceLoss final : public ElementLoss {
public:
  Value build(Tensor output, Value target) const override {
    return meanLoss<nn::BceOp>(output, target, /*weight=*/Value());
  }
};
} // namespace

std::unique_ptr<Loss> accc::createBceLoss(Spec &) { return std::make_unique<BceLoss>(); }
