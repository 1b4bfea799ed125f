// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a discrete Fourier transform is made of matrix products.
#ifndef ACCC_FRONTEND_COMMON_FOURIERPLAN_H
#define ACCC_FRONTEND_COMMON_FOURIERPLAN_H

#include <cstdint>
#include <map>
#include <utility>

namespace accc::frontend {

enum class FourierMethod {
  /// A product with one matrix.
  Product,
  /// Transforms of `first` elements, then of n / first.
  Factors,
  /// A convolution, by transforms of a power of two.
  Convolution,
};

struct FourierStep {
  double cost; // in floating-point operations for each of the n elements
  FourierMethod method;
  int64_t first = 1;
};

/// Chooses for each number of elements the method that costs least: matrices of large factors take
/// operations, many factors passes over memory.
class FourierPlan {
public:
  /// For a transform of n numbers, real or complex; its inverse is made alike.
  const FourierStep &step(int64_t n, bool isReal);

  /// The least power of two in which a convolution of n elements does not reach around.
  static int64_t paddedLength(int64_t n);

private:
  FourierStep choose(int64_t n, bool isReal);

  std::map<std::pair<int64_t, bool>, FourierStep> steps;
};

} // namespace accc::frontend

#endif
