// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss mse: torch.nn.functional.mse_loss.
#include "training/loss/ElementLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class MseLoss final : public ElementLoss {
public:
  Value build(Tensor output, Value target) const override {
    return meanLoss<nn::MseLossOp>(output, target);
  }
};
} // namespace

std::unique_ptr<Loss> accc::createMseLoss(Spec &) { return std::make_unique<MseLoss>(); }
