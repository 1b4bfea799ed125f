// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --loss cross_entropy: torch.nn.functional.cross_entropy with class indices, or with
// probabilities.
#include "ir/nn/Nn.h"
#include "training/loss/ClassLosses.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
class CrossEntropyLoss final : public ClassLoss {
public:
  explicit CrossEntropyLoss(Spec &spec)
      : ClassLoss(spec), labelSmoothing(spec.number("label_smoothing", 0.0, 0.0, 1.0)),
        ofProbabilities(spec.flag("probabilities")) {
    if (ofProbabilities && spec.integer("ignore_index"))
      spec.addError("'ignore_index' is a class, and the target holds probabilities");
  }

  FailureOr<RankedTensorType> targetType(RankedTensorType output, Location loc) const override {
    if (ofProbabilities && output.getRank() == 3 && !namesClassDimension())
      return emitError(loc) << "the scores " << output << " can be [N, C, d] or [N, d, C], and a "
                            << "target of probabilities does not tell them apart; say which in "
                               "--loss: class_dim=1, or class_dim=2";
    auto ofClasses = ClassLoss::targetType(output, loc);
    return succeeded(ofClasses) && ofProbabilities ? output : ofClasses;
  }

  Value build(Tensor output, Value target) const override {
    OpBuilder &builder = output.getBuilder();
    Tensor logits = classesSecond(output);
    if (ofProbabilities)
      return buildOfProbabilities(logits, classesSecond(output.wrap(target)));
    return builder.create<nn::CrossEntropyOp>(
        output.getLoc(), logits.get(), target, weightConstant(output), ignoreIndexAttr(builder),
        builder.getF64FloatAttr(labelSmoothing),
        nn::ReductionAttr::get(builder.getContext(), nn::Reduction::mean));
  }

private:
  /// With y = (1 - s) target + s / C, for label smoothing s, and n = size / C:
  /// -sum(weight y log_softmax(logits)) / n, as at::cross_entropy_loss_prob_target.
  Value buildOfProbabilities(Tensor logits, Tensor target) const {
    int64_t dimension = logits.rank() == 1 ? 0 : 1;
    auto classes = static_cast<double>(logits.dim(dimension));
    if (labelSmoothing != 0.0)
      target = target * (1.0 - labelSmoothing) + labelSmoothing / classes;
    if (Value weight = weightConstant(logits))
      target = target * logits.wrap(weight).broadcast(logits.shape(), {dimension});
    Tensor logs = logits.wrap(
        logits.getBuilder().create<nn::LogSoftmaxOp>(logits.getLoc(), logits.get(), dimension));
    return sumAll(logs * target) * (-classes / static_cast<double>(logits.size()));
  }

  double labelSmoothing;
  bool ofProbabilities;
};
} // namespace

std::unique_ptr<Loss> accc::createCrossEntropyLoss(Spec &spec) {
  return std::make_unique<CrossEntropyLoss>(spec);
}
