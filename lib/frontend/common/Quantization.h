// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers rounded to a grid of integers.
#ifndef ACCC_FRONTEND_COMMON_QUANTIZATION_H
#define ACCC_FRONTEND_COMMON_QUANTIZATION_H

#include "ir/prim/Tensor.h"

namespace accc::frontend {

/// Floats that are integers in [low, high], and where nothing had to be clamped.
struct Quantized {
  prim::Tensor value, isInside;
};

/// `scaled` (x over its scale) to the nearest integer, ties to even, shifted by `zero` and clamped.
Quantized quantize(prim::Tensor scaled, prim::Tensor zero, double low, double high);

/// The least and the greatest integer of a type.
std::pair<double, double> limitsOf(mlir::IntegerType type);

/// `value`, whose gradient goes to x unchanged where `isInside`, and nowhere else: the
/// straight-through estimator as PyTorch's fake_quantize defines it.
prim::Tensor straightThrough(prim::Tensor value, prim::Tensor x, prim::Tensor isInside);

} // namespace accc::frontend

#endif
