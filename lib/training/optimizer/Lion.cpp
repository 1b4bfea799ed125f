// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer lion, which torch.optim does not have.
#include "training/optimizer/Optimizer.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// p = p (1 - lr weight_decay)
// p = p - lr sign(beta1 m + (1 - beta1) g)
// m = beta2 m + (1 - beta2) g
// Source: Chen et al., 2023, with its defaults.
class LionOptimizer final : public SingleOptimizer {
public:
  explicit LionOptimizer(Spec &spec)
      : beta1(spec.number("beta1", 0.9, 0.0, kBelowOne)),
        beta2(spec.number("beta2", 0.99, 0.0, kBelowOne)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        maximize(spec.flag("maximize")) {
    learningRate = 1e-4;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"exp_avg"});
  }

  bool countsSteps() const override { return false; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor>,
                              MutableArrayRef<Tensor>) const override {
    return {learningRate, learningRate * weightDecay};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, /*weightDecay=*/0.0);
    if (weightDecay != 0.0)
      p = p * (1.0 - shared[1]);
    Tensor &m = state[0];
    Tensor direction = sign(m * beta1 + g * (1.0 - beta1));
    m = m * beta2 + g * (1.0 - beta2);
    return p - direction * shared[0];
  }

private:
  double beta1, beta2, weightDecay;
  bool maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createLionOptimizer(Spec &spec) {
  return std::make_unique<LionOptimizer>(spec);
}
