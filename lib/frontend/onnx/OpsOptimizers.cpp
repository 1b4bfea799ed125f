// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of optimizers that a graph computes itself (ai.onnx.preview.training): inputs are the
// learning rate, the number of steps before, and for each of some tensors its value, gradient and
// state; outputs are the values and states after the step.
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// What an optimizer makes of one tensor: its value and its states.
using Updated = SmallVector<Tensor>;

/// The learning rate and the number of steps, and the tensors to update.
class Step {
public:
  /// With `states` tensors of state for each value.
  Step(Node &node, size_t states)
      : node(node), rate(scalarAt(0)), before(scalarAt(1)), kinds(states + 2) {
    if (node.inputs() < 2 + kinds || (node.inputs() - 2) % kinds != 0)
      fail("needs, after the learning rate and the number of steps, " + Twine(kinds) +
           " inputs for each tensor");
    count = (node.inputs() - 2) / kinds;
  }

  /// Applies `update` to each value, its gradient (with the penalty of `norm_coefficient`) and its
  /// states.
  Entities apply(function_ref<Updated(Tensor x, Tensor g, ArrayRef<Tensor> states)> update) const {
    SmallVector<Updated> all;
    for (size_t i = 0; i < count; ++i) {
      Tensor x = node.floatIn(2 + i), g = node.floatIn(2 + count + i);
      SmallVector<Tensor> states;
      for (size_t state = 2; state < kinds; ++state)
        states.push_back(node.floatIn(2 + state * count + i));
      if (g.type() != x.type() ||
          llvm::any_of(states, [&](Tensor state) { return state.type() != x.type(); }))
        fail("the gradient or a state of tensor " + Twine(i) + " has another type than the tensor");
      all.push_back(update(x, g + x * node.real("norm_coefficient", 0.0), states));
    }
    Entities results;
    for (size_t kind = 0; kind + 1 < kinds; ++kind)
      for (const Updated &each : all)
        results.push_back(each[kind]);
    return results;
  }

  /// A number as a factor of `x`.
  Tensor over(Tensor x, Tensor number) const {
    return node.broadcastTo(number.convert(x.elementType()), x.shape());
  }

  Node &node;
  Tensor rate, before;

private:
  Tensor scalarAt(size_t input) const { return node.reshape(node.numberIn(input), {}); }

  size_t kinds, count;
};

/// r = rate / (1 + decay t);  h += g^2;  x -= r g / (sqrt(h) + epsilon)
Entities adagrad(Node &node) {
  Step step(node, 1);
  Tensor t = step.before.convert(step.rate.elementType());
  Tensor rate = step.rate / (1.0 + t * node.real("decay_factor", 0.0));
  double epsilon = node.real("epsilon", 1e-6);
  return step.apply([&](Tensor x, Tensor g, ArrayRef<Tensor> states) -> Updated {
    Tensor h = states[0] + g * g;
    return {x - step.over(x, rate) * g / (prim::sqrt(h) + epsilon), h};
  });
}

/// v = alpha v + (1 - alpha) g;  h = beta h + (1 - beta) g^2;  x -= r v / (sqrt(h) + epsilon),
/// where r is the rate, corrected for the zeros at the start by sqrt(1 - beta^t) / (1 - alpha^t)
/// once t > 0.
Entities adam(Node &node) {
  Step step(node, 2);
  double alpha = node.real("alpha", 0.9), beta = node.real("beta", 0.999);
  double epsilon = node.real("epsilon", 1e-6);
  double kept = 1.0 - node.real("norm_coefficient_post", 0.0);
  Tensor t = step.before.convert(step.rate.elementType());
  Tensor corrected = step.rate * prim::sqrt(1.0 - prim::pow(t.full(beta), t)) /
                     (1.0 - prim::pow(t.full(alpha), t));
  Tensor rate = prim::select(t > 0.0, corrected, step.rate);
  return step.apply([&](Tensor x, Tensor g, ArrayRef<Tensor> states) -> Updated {
    Tensor v = states[0] * alpha + g * (1.0 - alpha), h = states[1] * beta + g * g * (1.0 - beta);
    Tensor moved = x - step.over(x, rate) * v / (prim::sqrt(h) + epsilon);
    return {kept == 1.0 ? moved : moved * kept, v, h};
  });
}

/// v = alpha v + b g, where b is 1 in the first step and beta later;  x -= rate v, or with Nesterov
/// x -= rate (g + alpha v)
Entities momentum(Node &node) {
  Step step(node, 1);
  double alpha = node.real("alpha"), beta = node.real("beta");
  std::string mode = node.string("mode");
  if (mode != "standard" && mode != "nesterov")
    fail("'mode' must be standard or nesterov, not '" + mode + "'");
  Type type = step.rate.elementType();
  Tensor taken = prim::select(step.before > step.before.full(0.0), node.scalar(beta, type),
                              node.scalar(1.0, type));
  return step.apply([&](Tensor x, Tensor g, ArrayRef<Tensor> states) -> Updated {
    Tensor v = states[0] * alpha + step.over(x, taken) * g;
    return {x - step.over(x, step.rate) * (mode == "nesterov" ? g + v * alpha : v), v};
  });
}

constexpr const char *kDomain = "ai.onnx.preview.training";

} // namespace

ArrayRef<OpRow> accc::onnx_import::optimizerOps() {
  static const OpRow rows[] = {
      {"Adagrad", adagrad, kDomain},
      {"Adam", adam, kDomain},
      {"Momentum", momentum, kDomain},
  };
  return rows;
}
