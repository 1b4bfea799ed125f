// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer adam, adamw: torch.optim.Adam and torch.optim.AdamW.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g = g + weight_decay p (Adam), or p = p (1 - lr weight_decay) (AdamW)
// m = m + (1 - beta1) (g - m)
// v = beta2 v + (1 - beta2) g^2
// p = p - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
// With amsgrad, the greatest v so far stands in place of v in the last line.
// Sources: Kingma and Ba, 2015; Reddi et al., 2018; Loshchilov and Hutter, 2019.
class AdamOptimizer final : public SingleOptimizer {
public:
  AdamOptimizer(Spec &spec, bool decoupled)
      : beta1(spec.number("beta1", 0.9, 0.0, kBelowOne)),
        beta2(spec.number("beta2", 0.999, 0.0, kBelowOne)),
        epsilon(spec.number("eps", 1e-8, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", decoupled ? 0.01 : 0.0, 0.0, kInfinity)),
        amsgrad(spec.flag("amsgrad")), maximize(spec.flag("maximize")), decoupled(decoupled) {}

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    SmallVector<StringRef> names = {"exp_avg", "exp_avg_sq"};
    if (amsgrad)
      names.push_back("max_exp_avg_sq");
    return slotsLike(parameter, names);
  }

  bool countsSteps() const override { return true; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor>) const override {
    Tensor stepSize = learningRate / biasCorrection(beta1, *step);
    Tensor rootScale = rsqrt(biasCorrection(beta2, *step));
    SmallVector<Tensor> shared = {stepSize, rootScale};
    if (decoupled && weightDecay != 0.0)
      shared.push_back(learningRate * weightDecay);
    return shared;
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, decoupled ? 0.0 : weightDecay);
    if (weightDecay != 0.0 && decoupled)
      p = p * (1.0 - shared[2]); // in the parameter's type: in f32 a small rate is lost
    Tensor &m = state[0], &v = state[1];
    m = lerp(m, g, 1.0 - beta1);
    v = v * beta2 + (g * g) * (1.0 - beta2);
    Tensor second = v;
    if (amsgrad)
      second = state[2] = max(state[2], v);
    return p - m * shared[0] / (sqrt(second) * shared[1] + epsilon);
  }

private:
  double beta1, beta2, epsilon, weightDecay;
  bool amsgrad, maximize, decoupled;
};
} // namespace

std::unique_ptr<Optimizer> accc::createAdamOptimizer(Spec &spec) {
  return std::make_unique<AdamOptimizer>(spec, /*decoupled=*/false);
}

std::unique_ptr<Optimizer> accc::createAdamWOptimizer(Spec &spec) {
  return std::make_unique<AdamOptimizer>(spec, /*decoupled=*/true);
}
