// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer nadam: torch.optim.NAdam.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g    = g + weight_decay p, or p = p (1 - lr weight_decay) if decoupled
// mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2)
// M    = M mu_t, 1 at first
// m    = m + (1 - beta1) (g - m)
// v    = beta2 v + (1 - beta2) g^2
// p    = p - lr ((1 - mu_t) / (1 - M) g + mu_(t+1) / (1 - M mu_(t+1)) m) / (sqrt(v) / sqrt(1 -
// beta2^t) + eps) Source: Dozat, 2016.
class NAdamOptimizer final : public SingleOptimizer {
public:
  explicit NAdamOptimizer(Spec &spec)
      : beta1(spec.number("beta1", 0.9, 0.0, kBelowOne)),
        beta2(spec.number("beta2", 0.999, 0.0, kBelowOne)),
        epsilon(spec.number("eps", 1e-8, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        momentumDecay(spec.number("momentum_decay", 4e-3, 0.0, kInfinity)),
        decoupled(spec.flag("decoupled_weight_decay")), maximize(spec.flag("maximize")) {
    learningRate = 2e-3;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"exp_avg", "exp_avg_sq"});
  }

  // 1 - M, which starts as zero and loses nothing where M is almost 1.
  std::vector<std::string> sharedSlots() const override { return {"one_minus_mu_product"}; }

  bool countsSteps() const override { return true; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor> state) const override {
    Tensor mu = momentum(*step), next = momentum(*step + 1.0);
    Tensor &rest = state.front();
    rest = (1.0 - mu) + mu * rest;
    Tensor ofGradient = learningRate * (1.0 - mu) / rest;
    Tensor ofAverage = learningRate * next / ((1.0 - next) + next * rest);
    Tensor rootScale = rsqrt(biasCorrection(beta2, *step));
    return {ofGradient, ofAverage, rootScale, learningRate * weightDecay};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, decoupled ? 0.0 : weightDecay);
    if (decoupled && weightDecay != 0.0)
      p = p * (1.0 - shared[3]);
    Tensor &m = state[0], &v = state[1];
    m = lerp(m, g, 1.0 - beta1);
    v = v * beta2 + (g * g) * (1.0 - beta2);
    return p - (g * shared[0] + m * shared[1]) / (sqrt(v) * shared[2] + epsilon);
  }

private:
  Tensor momentum(Tensor step) const {
    return (1.0 - exp(step * (momentumDecay * std::log(0.96))) * 0.5) * beta1;
  }

  double beta1, beta2, epsilon, weightDecay, momentumDecay;
  bool decoupled, maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createNAdamOptimizer(Spec &spec) {
  return std::make_unique<NAdamOptimizer>(spec);
}
