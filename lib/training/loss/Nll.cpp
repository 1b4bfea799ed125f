// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss nll: torch.nn.functional.nll_loss, for an output of log probabilities.
#include "ir/nn/Nn.h"
#include "training/loss/ClassLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class NllLoss final : public ClassLoss {
public:
  using ClassLoss::ClassLoss;

  Value build(Tensor output, Value target) const override {
    OpBuilder &builder = output.getBuilder();
    Tensor logProbs = classesSecond(output);
    return builder.create<nn::NllLossOp>(
        output.getLoc(), logProbs.get(), target, weightConstant(output), ignoreIndexAttr(builder),
        nn::ReductionAttr::get(builder.getContext(), nn::Reduction::mean));
  }
};
} // namespace

std::unique_ptr<Loss> accc::createNllLoss(Spec &spec) { return std::make_unique<NllLoss>(spec); }
