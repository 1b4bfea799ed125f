// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer adadelta: torch.optim.Adadelta.
#include "training/optimizer/Optimizer.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g = g + weight_decay p
// v = rho v + (1 - rho) g^2
// d = sqrt(a + eps) / sqrt(v + eps) * g
// a = rho a + (1 - rho) d^2
// p = p - lr d
// Source: Zeiler, 2012.
class AdadeltaOptimizer final : public SingleOptimizer {
public:
  explicit AdadeltaOptimizer(Spec &spec)
      : rho(spec.number("rho", 0.9, 0.0, 1.0)), epsilon(spec.number("eps", 1e-6, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        maximize(spec.flag("maximize")) {
    learningRate = 1.0;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"square_avg", "acc_delta"});
  }

  bool countsSteps() const override { return false; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor>,
                              MutableArrayRef<Tensor>) const override {
    return {learningRate};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, weightDecay);
    Tensor &v = state[0], &a = state[1];
    v = v * rho + (g * g) * (1.0 - rho);
    Tensor delta = sqrt(a + epsilon) / sqrt(v + epsilon) * g;
    a = a * rho + (delta * delta) * (1.0 - rho);
    return p - delta * shared[0];
  }

private:
  double rho, epsilon, weightDecay;
  bool maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createAdadeltaOptimizer(Spec &spec) {
  return std::make_unique<AdadeltaOptimizer>(spec);
}
