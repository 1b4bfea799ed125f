// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer muon: torch.optim.Muon.
#include "training/optimizer/Optimizer.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
// b = b + (1 - momentum) (g - b)
// u = g + momentum (b - g) if nesterov, else b
// X = u / max(norm(u), eps), and ns_steps times X = a X + (b A + c A^2) X, where A = X X^T
// p = p (1 - lr weight_decay)
// p = p - lr s X, where s is sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns)) to match
//   AdamW's steps
// PyTorch computes X in bf16; here products have the precision of all others (--precision).
// Sources: Jordan et al., 2024; match_rms_adamw: Liu et al., 2025.
class MuonOptimizer final : public Optimizer {
public:
  explicit MuonOptimizer(Spec &spec)
      : momentum(spec.number("momentum", 0.95, 0.0, kInfinity)),
        weightDecay(spec.number("weight_decay", 0.1, 0.0, kInfinity)),
        epsilon(spec.number("eps", 1e-7, 0.0, kInfinity)),
        iterations(spec.integer("ns_steps").value_or(5)),
        nesterov(spec.flag("nesterov", /*fallback=*/true)),
        matchAdamW(spec.flag("match_rms_adamw")) {
    if (iterations < 0 || iterations >= 100)
      spec.addError("ns_steps must be between 0 and 99, and is " + std::to_string(iterations));
  }

  std::string whyNot(RankedTensorType parameter) const override {
    return parameter.getRank() == 2 ? "" : "it updates matrices";
  }

  std::vector<Slot> slots(RankedTensorType parameter) const override {
    return slotsLike(parameter, {"momentum_buffer"});
  }

  bool countsSteps() const override { return false; }

  SmallVector<Tensor> prepare(Tensor learningRate, std::optional<Tensor>,
                              MutableArrayRef<Tensor>) const override {
    return {learningRate, learningRate * weightDecay};
  }

  Tensor update(Tensor p, Tensor g, MutableArrayRef<Tensor> state,
                ArrayRef<Tensor> shared) const override {
    Tensor &buffer = state[0];
    buffer = buffer + (g - buffer) * (1.0 - momentum);
    Tensor direction = orthogonalize(nesterov ? g + (buffer - g) * momentum : buffer);
    if (weightDecay != 0.0)
      p = p * (1.0 - shared[1]);
    return p - direction * (shared[0] * stepScale(p.dim(0), p.dim(1)));
  }

private:
  double stepScale(int64_t rows, int64_t columns) const {
    auto m = static_cast<double>(rows), n = static_cast<double>(columns);
    return matchAdamW ? 0.2 * std::sqrt(std::max(m, n)) : std::sqrt(std::max(1.0, m / n));
  }

  /// About the nearest matrix with orthonormal rows, or columns if it is tall: a quintic iteration
  /// of Newton and Schulz, which brings all singular values near 1.
  Tensor orthogonalize(Tensor x) const {
    const bool isTall = x.dim(0) > x.dim(1);
    // A sums over the greater dimension: (X X^T) X is X (X^T X).
    const int64_t inner = isTall ? 0 : 1;
    x = x / max(sqrt(sumAll(x * x)), epsilon);
    for (int64_t i = 0; i < iterations; ++i) {
      Tensor gram = dotGeneral(x, x, {}, {}, {inner}, {inner});
      Tensor polynomial = gram * kB + dotGeneral(gram, gram, {}, {}, {1}, {0}) * kC;
      Tensor product = isTall ? dotGeneral(x, polynomial, {}, {}, {1}, {0})
                              : dotGeneral(polynomial, x, {}, {}, {1}, {0});
      x = x * kA + product;
    }
    return x;
  }

  static constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
  double momentum, weightDecay, epsilon;
  int64_t iterations;
  bool nesterov, matchAdamW;
};
} // namespace

std::unique_ptr<Optimizer> accc::createMuonOptimizer(Spec &spec) {
  return std::make_unique<MuonOptimizer>(spec);
}
