// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer sgd: torch.optim.SGD.
#include "training/optimizer/Optimizer.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// g' = g + weight_decay p
// b  = momentum b + (1 - dampening) g', and b = g' in the first step
// p  = p - lr (g' + momentum b if nesterov, else b)
class SgdOptimizer final : public SingleOptimizer {
public:
  explicit SgdOptimizer(Spec &spec)
      : momentum(spec.number("momentum", 0.0, 0.0, kInfinity)),
        dampening(spec.number("dampening", 0.0, -kInfinity, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        nesterov(spec.flag("nesterov")), maximize(spec.flag("maximize")) {
    if (nesterov && (momentum == 0.0 || dampening != 0.0))
      spec.addError("nesterov needs a momentum and no dampening");
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    if (momentum == 0.0)
      return {};
    return slotsLike(parameter, {"momentum_buffer"});
  }

  // Without dampening a buffer that starts as zeros gives b = g' by itself.
  bool countsSteps() const override { return momentum != 0.0 && dampening != 0.0; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor>) const override {
    SmallVector<Tensor> shared = {learningRate};
    if (step)
      shared.push_back(select(*step <= 1.0, step->full(1.0), step->full(1.0 - dampening)));
    return shared;
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, weightDecay);
    if (momentum != 0.0) {
      Tensor &buffer = state.front();
      buffer = buffer * momentum + (countsSteps() ? g * shared[1] : g);
      g = nesterov ? g + buffer * momentum : buffer;
    }
    return p - g * shared[0];
  }

private:
  double momentum, dampening, weightDecay;
  bool nesterov, maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createSgdOptimizer(Spec &spec) {
  return std::make_unique<SgdOptimizer>(spec);
}
