// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer adamax: torch.optim.Adamax.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g = g + weight_decay p
// m = m + (1 - beta1) (g - m)
// u = max(beta2 u, |g| + eps)
// p = p - lr / (1 - beta1^t) * m / u
// Source: Kingma and Ba, 2015, section 7.
class AdamaxOptimizer final : public SingleOptimizer {
public:
  explicit AdamaxOptimizer(Spec &spec)
      : beta1(spec.number("beta1", 0.9, 0.0, kBelowOne)),
        beta2(spec.number("beta2", 0.999, 0.0, kBelowOne)),
        epsilon(spec.number("eps", 1e-8, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        maximize(spec.flag("maximize")) {
    learningRate = 2e-3;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"exp_avg", "exp_inf"});
  }

  bool countsSteps() const override { return true; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor>) const override {
    return {learningRate / biasCorrection(beta1, *step)};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, weightDecay);
    Tensor &m = state[0], &u = state[1];
    m = lerp(m, g, 1.0 - beta1);
    u = max(u * beta2, abs(g) + epsilon);
    return p - m * shared[0] / u;
  }

private:
  double beta1, beta2, epsilon, weightDecay;
  bool maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createAdamaxOptimizer(Spec &spec) {
  return std::make_unique<AdamaxOptimizer>(spec);
}
