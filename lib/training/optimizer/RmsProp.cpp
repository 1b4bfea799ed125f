// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer rmsprop: torch.optim.RMSprop.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g = g + weight_decay p
// v = alpha v + (1 - alpha) g^2
// a = a + (1 - alpha) (g - a), and v - a^2 in place of v below, if centered
// b = momentum b + g / (sqrt(v) + eps)
// p = p - lr b
// Sources: Tieleman and Hinton, 2012; centered: Graves, 2013.
class RmsPropOptimizer final : public SingleOptimizer {
public:
  explicit RmsPropOptimizer(Spec &spec)
      : alpha(spec.number("alpha", 0.99, 0.0, 1.0)),
        epsilon(spec.number("eps", 1e-8, 0.0, kInfinity)),
        momentum(spec.number("momentum", 0.0, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        centered(spec.flag("centered")), maximize(spec.flag("maximize")) {
    learningRate = 1e-2;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    SmallVector<StringRef> names = {"square_avg"};
    if (centered)
      names.push_back("grad_avg");
    if (momentum != 0.0)
      names.push_back("momentum_buffer");
    return slotsLike(parameter, names);
  }

  bool countsSteps() const override { return false; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor>,
                              MutableArrayRef<Tensor>) const override {
    return {learningRate};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, weightDecay);
    Tensor &v = state[0];
    v = v * alpha + (g * g) * (1.0 - alpha);
    Tensor second = v;
    if (centered) {
      Tensor &average = state[1];
      average = lerp(average, g, 1.0 - alpha);
      second = v - average * average;
    }
    Tensor step = g / (sqrt(second) + epsilon);
    if (momentum != 0.0)
      step = state.back() = state.back() * momentum + step;
    return p - step * shared[0];
  }

private:
  double alpha, epsilon, momentum, weightDecay;
  bool centered, maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createRmsPropOptimizer(Spec &spec) {
  return std::make_unique<RmsPropOptimizer>(spec);
}
