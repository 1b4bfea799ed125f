// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss cross_entropy: torch.nn.functional.cross_entropy with class indices.
#include "ir/nn/Nn.h"
#include "training/loss/ClassLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class CrossEntropyLoss final : public ClassLoss {
public:
  explicit CrossEntropyLoss(Spec &spec)
      : ClassLoss(spec), labelSmoothing(spec.number("label_smoothing", 0.0, 0.0, 1.0)) {}

  Value build(Tensor output, Value target) const override {
    OpBuilder &builder = output.getBuilder();
    Tensor logits = classesSecond(output);
    return builder.create<nn::CrossEntropyOp>(
        output.getLoc(), logits.get(), target, weightConstant(output), ignoreIndexAttr(builder),
        builder.getF64FloatAttr(labelSmoothing),
        nn::ReductionAttr::get(builder.getContext(), nn::Reduction::mean));
  }

private:
  double labelSmoothing;
};
} // namespace

std::unique_ptr<Loss> accc::createCrossEntropyLoss(Spec &spec) {
  return std::make_unique<CrossEntropyLoss>(spec);
}
