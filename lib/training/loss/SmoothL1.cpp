// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss smooth_l1: torch.nn.functional.smooth_l1_loss.
#include "training/loss/ElementLosses.h"

#include <limits>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class SmoothL1Loss final : public ElementLoss {
public:
  explicit SmoothL1Loss(Spec &spec)
      : beta(spec.number("beta", 1.0, 0.0, std::numeric_limits<double>::max())) {}

  Value build(Tensor output, Value target) const override {
    return meanLoss<nn::SmoothL1LossOp>(output, target, output.getBuilder().getF64FloatAttr(beta));
  }

private:
  double beta;
};
} // namespace

std::unique_ptr<Loss> accc::createSmoothL1Loss(Spec &spec) {
  return std::make_unique<SmoothL1Loss>(spec);
}
