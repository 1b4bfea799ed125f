// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer adagrad: torch.optim.Adagrad, whose sums start as zeros.
#include "training/optimizer/Optimizer.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g = g + weight_decay p
// s = s + g^2
// p = p - lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps)
// Source: Duchi et al., 2011.
class AdagradOptimizer final : public SingleOptimizer {
public:
  explicit AdagradOptimizer(Spec &spec)
      : rateDecay(spec.number("lr_decay", 0.0, 0.0, kInfinity)),
        epsilon(spec.number("eps", 1e-10, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        maximize(spec.flag("maximize")) {
    learningRate = 1e-2;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"sum"});
  }

  bool countsSteps() const override { return rateDecay != 0.0; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor>) const override {
    if (!step)
      return {learningRate};
    return {learningRate / ((*step - 1.0) * rateDecay + 1.0)};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, weightDecay);
    state[0] = state[0] + g * g;
    return p - g * shared[0] / (sqrt(state[0]) + epsilon);
  }

private:
  double rateDecay, epsilon, weightDecay;
  bool maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createAdagradOptimizer(Spec &spec) {
  return std::make_unique<AdagradOptimizer>(spec);
}
