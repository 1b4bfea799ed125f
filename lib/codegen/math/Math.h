// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions of generated kernels. Emitters create `math` ops; the patterns here expand
// them into arithmetic, so that a kernel calls no library for them.

#ifndef ACCC_CODEGEN_MATH_MATH_H
#define ACCC_CODEGEN_MATH_MATH_H

#include "mlir/IR/PatternMatch.h"

namespace accc::codegen {

/// Expands acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, erf, exp, exp2, expm1, log,
/// log10, log1p, log2, powf, rsqrt, sin, sinh, tan and tanh of the `math` dialect, on scalars and
/// fixed-length vectors of f32, f16 and bf16, into branch-free `arith`, `math.fma`, `math.sqrt`,
/// `math.absf`, `math.copysign` and bit casts. The last four are single instructions on every
/// target named by the design (the host must have FMA) and stay, as do floor, ceil, round,
/// roundeven and trunc.
///
/// f32 results are within the bounds of MathBounds.def over the whole range of floats: subnormal
/// operands and results, signed zeros, infinities and NaN as in C's <math.h>. f16 and bf16 are
/// computed in f32 and rounded once more. The code relies on rounding to nearest; products and sums
/// may be contracted to fma later, but no other liberty be taken with floating point. sin, cos,
/// tan and powf use f64 inside.
void populateElementaryFunctionPatterns(mlir::RewritePatternSet &patterns,
                                        mlir::PatternBenefit benefit = 2);

/// For CPUs: turns the same functions on f64 (and vectors of it, element by element) into calls of
/// the C library. Declares `func.func private @exp(f64) -> f64` and so on in the nearest symbol
/// table, so the rewrite must be driven from a pass on that table's op or above. Remainders of f32,
/// f16 and bf16 become arithmetic of f64, with a branch for quotients of 2^28 and more.
void populateHostPatterns(mlir::RewritePatternSet &patterns);

/// For GPUs: functions of f32, f16 and bf16 that instructions compute well enough
/// (MathDeviceBounds.def), in place of the formulas; 1 / x, maxima, minima and rounding to bf16
/// likewise. Functions of f64 become calls of CUDA's device library (`@__nv_exp`), as do remainders
/// of f32 and f64, for which there is no instruction.
void populateDevicePatterns(mlir::RewritePatternSet &patterns);

} // namespace accc::codegen

#endif // ACCC_CODEGEN_MATH_MATH_H
