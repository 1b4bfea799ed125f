// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From loops over vectors to the LLVM dialect.
#ifndef ACCC_CODEGEN_KERNEL_LOWER_H
#define ACCC_CODEGEN_KERNEL_LOWER_H

#include "codegen/math/Math.h"

#include "mlir/IR/BuiltinOps.h"

namespace accc::codegen {

/// Adds a target's own patterns: its instructions in place of formulas, which they are preferred
/// to, and calls of a library for functions of f64.
using PopulateFunctions = void(mlir::RewritePatternSet &patterns);

/// Lowers func, scf, arith, math and vector ops to the LLVM dialect, in place, in the modules
/// within `kernels`, side by side.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp kernels, PopulateFunctions *populateFunctions);

/// Makes modules of this context translatable.
void registerTranslations(mlir::MLIRContext &context);

/// Whether anything gives 16-bit floats.
bool hasHalfFloats(mlir::ModuleOp module);

/// Arithmetic of 16-bit floats becomes that of f32, rounded after each operation.
void computeHalvesInF32(mlir::ModuleOp module);

/// In a lowered module without arithmetic of bf16: what is moved as bf16 becomes i16. Fails where
/// there is such arithmetic. (To select or to store some lanes of bf16, LLVM computes in f32.)
mlir::LogicalResult keepBFloatsAsIntegers(mlir::ModuleOp module);

} // namespace accc::codegen

#endif
