// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much rounding may change a result: Monte Carlo arithmetic.
#ifndef ACCC_TEST_RANDOM_NOISE_H
#define ACCC_TEST_RANDOM_NOISE_H

#include "Random.h"

#include "ir/interfaces/ReferenceArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc::test {

struct NoiseOptions {
  double units;
  bool roundsHalf = false; ///< 16-bit results are computed with errors of f32, and rounded once
  mlir::Type factors = {}; ///< what factors of contractions of f32 are rounded to, if anything
};

/// Interprets a function of primitives as arithmetic with rounding errors: every result that the
/// element type cannot hold exactly is off by up to `units` of its unit roundoff, at random, and
/// rounded; so is every term of a sum or product of many. Exact operations stay exact. What differs
/// between such runs depends on rounding; a kernel may differ from the reference by as much.
/// Source: Parker, "Monte Carlo arithmetic", 1997 (random rounding of inexact operations).
mlir::LogicalResult interpretWithNoise(mlir::func::FuncOp function,
                                       llvm::ArrayRef<ReferenceArray> arguments,
                                       llvm::SmallVectorImpl<ReferenceArray> &results,
                                       Random &random, const NoiseOptions &options);

/// Interprets a function of kernels, each of which adds and multiplies in an order of its own: what
/// is rounded in sums and products of many terms is off by up to `units` of its unit roundoff, the
/// same sum in another kernel by something else. With `roundsHalf` 16-bit results are rounded.
mlir::LogicalResult interpretInOtherOrders(mlir::func::FuncOp function,
                                           llvm::ArrayRef<ReferenceArray> arguments,
                                           llvm::SmallVectorImpl<ReferenceArray> &results,
                                           Random &random, const NoiseOptions &options);

} // namespace accc::test

#endif
