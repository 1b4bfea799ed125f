// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Discrete Fourier transforms.
#ifndef ACCC_FRONTEND_COMMON_FOURIER_H
#define ACCC_FRONTEND_COMMON_FOURIER_H

#include "frontend/common/Complex.h"

namespace accc::frontend {

struct FourierOptions {
  /// The number of elements that are transformed: others are cut, missing ones are 0.
  int64_t length = 0;
  /// The sum of x_j exp(2 pi i j k / length); else that of x_j exp(-2 pi i j k / length).
  bool isInverse = false;
  /// Only the first length / 2 + 1 elements, of which those of a real signal are made: what comes
  /// out, or, of the inverse, what goes in; this gives the real signal.
  bool isOneSided = false;
  /// What the sums are multiplied with.
  double scale = 1;
};

/// The transform along an axis: products with matrices of small factors of the length, or with one
/// matrix of a length that is small or prime (FourierPlan). Throws ImportError for a transform
/// without elements.
Complex fourier(NodeBuilder &node, const Complex &x, int64_t axis, const FourierOptions &options);

} // namespace accc::frontend

#endif
