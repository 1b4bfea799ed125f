// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/FourierPlan.h"

#include <optional>

using namespace accc::frontend;

/// Matrices of more elements are not made: 2 MB of f32.
static constexpr int64_t kLargestMatrix = int64_t(1) << 19;
/// So many operations a library does while kernels multiply a complex number by a root of unity and
/// store it for the next product, which reads it and stores its own.
static constexpr double kPass = 400;

const FourierStep &FourierPlan::step(int64_t n, bool isReal) {
  auto it = steps.find({n, isReal});
  if (it == steps.end())
    it = steps.insert({{n, isReal}, choose(n, isReal)}).first;
  return it->second;
}

int64_t FourierPlan::paddedLength(int64_t n) {
  int64_t padded = 1;
  while (padded < 2 * n - 1)
    padded *= 2;
  return padded;
}

FourierStep FourierPlan::choose(int64_t n, bool isReal) {
  // Of reals half of the transform says everything: a quarter of the matrix, and after the first
  // factor half of the numbers.
  int64_t matrix = isReal ? n * (n + 2) : 4 * n * n;
  double part = isReal ? 0.5 : 1;
  FourierStep product{2 * static_cast<double>(matrix) / static_cast<double>(n),
                      FourierMethod::Product};
  constexpr int64_t kAnySize = 64;
  bool isPossible = n <= kAnySize || matrix <= kLargestMatrix;
  std::optional<FourierStep> best;
  if (isPossible)
    best = product;
  for (int64_t a = 2; a * a <= n; ++a) {
    if (n % a)
      continue;
    // The larger factor first, of which half is nearer to a half.
    int64_t first = n / a;
    double cost = step(first, isReal).cost + part * (step(a, false).cost + kPass);
    if (!best || cost < best->cost)
      best = {cost, FourierMethod::Factors, first};
  }
  if (best)
    return *best;
  int64_t padded = paddedLength(n);
  double growth = static_cast<double>(padded) / static_cast<double>(n);
  return {2 * growth * (step(padded, false).cost + kPass), FourierMethod::Convolution};
}
