// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss l1: torch.nn.functional.l1_loss.
#include "training/loss/ElementLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class L1Loss final : public ElementLoss {
public:
  Value build(Tensor output, Value target) const override {
    return meanLoss<nn::L1LossOp>(output, target);
  }
};
} // namespace

std::unique_ptr<Loss> accc::createL1Loss(Spec &) { return std::make_unique<L1Loss>(); }
