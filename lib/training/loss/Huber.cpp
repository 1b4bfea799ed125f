// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss huber: torch.nn.functional.huber_loss.
#include "training/loss/ElementLosses.h"

#include <limits>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class HuberLoss final : public ElementLoss {
public:
  explicit HuberLoss(Spec &spec)
      : delta(spec.number("delta", 1.0, std::numeric_limits<double>::min(),
                          std::numeric_limits<double>::max())) {}

  Value build(Tensor output, Value target) const override {
    return meanLoss<nn::HuberLossOp>(output, target, output.getBuilder().getF64FloatAttr(delta));
  }

private:
  double delta;
};
} // namespace

std::unique_ptr<Loss> accc::createHuberLoss(Spec &spec) {
  return std::make_unique<HuberLoss>(spec);
}
