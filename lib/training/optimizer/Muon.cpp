// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --optimizer muon: torch.optim.Muon.
#include "training/optimizer/Optimizer.h"
#include "training/optimizer/OptimizerValues.h"

#include "llvm/ADT/MapVector.h"

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

  // Matrices of one shape are one, in a batch: a product of each alone is too small for a GPU.
  void updateAll(MutableArrayRef<Update> updates, ArrayRef<Tensor> shared) const override {
    llvm::MapVector<Type, SmallVector<Update *>> batches;
    for (Update &each : updates)
      batches[each.parameter.type()].push_back(&each);
    for (auto &[type, members] : batches) {
      SmallVector<Tensor> directions, own;
      for (Update *each : members)
        directions.push_back(direction(each->gradient, each->state[0]));
      for (Tensor scalar : shared)
        own.push_back(scalar.convert(members.front()->parameter.elementType()));
      for (auto [each, orthogonal] : llvm::zip_equal(members, orthogonalize(directions)))
        each->parameter = move(each->parameter, orthogonal, own);
    }
  }

private:
  double stepScale(int64_t rows, int64_t columns) const {
    auto m = static_cast<double>(rows), n = static_cast<double>(columns);
    return matchAdamW ? 0.2 * std::sqrt(std::max(m, n)) : std::sqrt(std::max(1.0, m / n));
  }

  /// What the momentum, which becomes the new one, and a gradient point to.
  Tensor direction(Tensor g, Tensor &buffer) const {
    buffer = lerp(buffer, g, 1.0 - momentum);
    return nesterov ? lerp(g, buffer, momentum) : buffer;
  }

  Tensor move(Tensor p, Tensor orthogonal, ArrayRef<Tensor> shared) const {
    if (weightDecay != 0.0)
      p = p * (1.0 - shared[1]);
    return p - orthogonal * (shared[0] * stepScale(p.dim(0), p.dim(1)));
  }

  /// About the nearest matrices with orthonormal rows, or columns if they are tall: a quintic
  /// iteration of Newton and Schulz, which brings all singular values near 1. All are of one shape.
  SmallVector<Tensor> orthogonalize(ArrayRef<Tensor> directions) const {
    const int64_t rows = directions.front().dim(0), columns = directions.front().dim(1);
    const bool isTall = rows > columns;
    // A sums over the greater dimension: (X X^T) X is X (X^T X).
    const int64_t inner = isTall ? 1 : 2;
    SmallVector<Tensor> normalized;
    for (Tensor x : directions)
      normalized.push_back((x / max(sqrt(sumAll(x * x)), epsilon)).reshape({1, rows, columns}));
    Tensor x = concatenate(normalized, 0);
    for (int64_t i = 0; i < iterations; ++i) {
      Tensor gram = dotGeneral(x, x, {0}, {0}, {inner}, {inner});
      Tensor polynomial = gram * kB + dotGeneral(gram, gram, {0}, {0}, {2}, {1}) * kC;
      Tensor product = isTall ? dotGeneral(x, polynomial, {0}, {0}, {2}, {1})
                              : dotGeneral(polynomial, x, {0}, {0}, {2}, {1});
      x = x * kA + product;
    }
    SmallVector<Tensor> results;
    for (size_t i = 0; i < directions.size(); ++i) {
      auto at = static_cast<int64_t>(i);
      results.push_back(x.sliceDim(0, at, at + 1).reshape({rows, columns}));
    }
    return results;
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
