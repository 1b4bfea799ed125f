// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer adafactor: torch.optim.Adafactor.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// w = t^beta2_decay
// a = max(eps2, rms(p)) min(lr, 1 / sqrt(t))
// p = p (1 - lr weight_decay)
// Of matrices, which are the last two dimensions:
//   r = r + w (mean of g^2 along rows - r), c = c + w (mean of g^2 along columns - c)
//   v = r c / max(mean of r, eps1)
// Of vectors and scalars:
//   v = v + w (g^2 - v)
// u = g / sqrt(max(v, eps1^2))
// p = p - a / max(1, rms(u) / d) u
// Source: Shazeer and Stern, 2018.
class AdafactorOptimizer final : public SingleOptimizer {
public:
  explicit AdafactorOptimizer(Spec &spec)
      : beta2Decay(spec.number("beta2_decay", -0.8, -kInfinity, 0.0)),
        epsilon1(spec.number("eps1", 0.0, kInfinity)),
        epsilon2(spec.number("eps2", 1e-3, 0.0, kInfinity)),
        threshold(spec.number("d", 1.0, 1.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.0, 0.0, kInfinity)),
        maximize(spec.flag("maximize")) {
    learningRate = 1e-2;
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    if (parameter.getRank() < 2)
      return slotsLike(parameter, {"variance"});
    SmallVector<int64_t> rows(parameter.getShape()), columns(parameter.getShape());
    rows[rows.size() - 1] = 1;
    columns[columns.size() - 2] = 1;
    return {{"row_var", parameter.clone(rows)}, {"col_var", parameter.clone(columns)}};
  }

  bool countsSteps() const override { return true; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor> step,
                              MutableArrayRef<Tensor>) const override {
    return {pow(*step, beta2Decay), min(learningRate, rsqrt(*step)), learningRate * weightDecay};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    g = withDecay(g, p, maximize, /*weightDecay=*/0.0);
    Tensor rate = max(rms(p), epsilon2) * shared[1];
    if (weightDecay != 0.0)
      p = p * (1.0 - shared[2]);
    const double epsilon = epsilonFor(p);
    Tensor variance = estimate(g, state, shared[0], epsilon);
    Tensor u = g * rsqrt(max(variance, epsilon * epsilon));
    return p - u * (rate / max(rms(u) / threshold, 1.0));
  }

private:
  static Tensor rms(Tensor x) { return sqrt(sumAll(x * x) / static_cast<double>(x.size())); }

  /// The mean of x along a dimension, which stays with an extent of 1.
  static Tensor meanAlong(Tensor x, int64_t dimension) {
    SmallVector<int64_t> shape(x.shape());
    shape[dimension] = 1;
    return mean(x, {dimension}).reshape(shape);
  }

  /// By default that of the type in which the parameter is updated.
  double epsilonFor(Tensor parameter) const {
    return epsilon1.value_or(parameter.elementType().isF64()
                                 ? std::numeric_limits<double>::epsilon()
                                 : std::numeric_limits<float>::epsilon());
  }

  static Tensor estimate(Tensor g, MutableArrayRef<Tensor> state, Tensor weight, double epsilon) {
    auto average = [&](Tensor &slot, Tensor now) { slot = lerp(slot, now, weight); };
    const int64_t rank = g.rank();
    if (rank < 2) {
      average(state[0], g * g);
      return state[0];
    }
    Tensor &rows = state[0], &columns = state[1];
    average(rows, meanAlong(g * g, rank - 1));
    average(columns, meanAlong(g * g, rank - 2));
    Tensor scaled = rows / max(meanAlong(rows, rank - 2), epsilon).broadcastTo(rows.shape());
    return scaled.broadcastTo(g.shape()) * columns.broadcastTo(g.shape());
  }

  double beta2Decay;
  std::optional<double> epsilon1;
  double epsilon2, threshold, weightDecay;
  bool maximize;
};
} // namespace

std::unique_ptr<Optimizer> accc::createAdafactorOptimizer(Spec &spec) {
  return std::make_unique<AdafactorOptimizer>(spec);
}
