// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer radam: torch.optim.RAdam.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g = g + weight_decay p, or p = p (1 - lr weight_decay) if decoupled
// m = m + (1 - beta1) (g - m)
// v = beta2 v + (1 - beta2) g^2
// R = 2 / (1 - beta2) - 1, and r = R - 2 t beta2^t / (1 - beta2^t)
// p = p - lr / (1 - beta1^t) * m * s, where s is 1 while r <= 5, and then
//   sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r)) sqrt(1 - beta2^t) / (sqrt(v) + eps)
// Source: Liu et al., 2020.
class RAdamOptimizer final : public SingleOptimizer {
public:
  explicit RAdamOptimizer(Spec &spec)
      : beta1(spec.number("beta1", 0.9, 0.0, kBelowOne)),
        beta2(spec.number("beta2", 0.999, 0.0, kBelowOne)),
        epsilon(spec.number("eps", 1e-8, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        decoupled(spec.flag("decoupled_weight_decay")), maximize(spec.flag("maximize")) {}

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"exp_avg", "exp_avg_sq"});
  }

  bool countsSteps() const override { return true; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor>) const override {
    return {learningRate / biasCorrection(beta1, *step), rectification(*step),
            learningRate * weightDecay};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, decoupled ? 0.0 : weightDecay);
    if (decoupled && weightDecay != 0.0)
      p = p * (1.0 - shared[2]);
    Tensor &m = state[0], &v = state[1];
    m = lerp(m, g, 1.0 - beta1);
    v = v * beta2 + (g * g) * (1.0 - beta2);
    Tensor rectification = shared[1];
    Tensor scale = select(rectification > 0.0, rectification / (sqrt(v) + epsilon), p.full(1.0));
    return p - m * shared[0] * scale;
  }

private:
  /// What stands above sqrt(v) + eps, or 0 while nothing does. In double precision: of R and what
  /// is taken from it, 1999 and 1998 in the first step, f32 would leave four digits.
  Tensor rectification(Tensor step) const {
    const double limit = 2.0 / (1.0 - beta2) - 1.0;
    if (limit <= 5.0)
      return step.full(0.0);
    Tensor t = step.convert(step.getBuilder().getF64Type());
    Tensor bias = biasCorrection(beta2, t);
    Tensor length = limit - t * exp(t * std::log(beta2)) * 2.0 / bias;
    Tensor ratio =
        (length - 4.0) * (length - 2.0) * (limit / ((limit - 4.0) * (limit - 2.0))) / length;
    return select(length > 5.0, sqrt(ratio * bias), t.full(0.0)).convert(step.elementType());
  }

  double beta1, beta2, epsilon, weightDecay;
  bool decoupled, maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createRAdamOptimizer(Spec &spec) {
  return std::make_unique<RAdamOptimizer>(spec);
}
