// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter: what a function computes, in double precision. Slow, obvious,
// complete.
#ifndef ACCC_REFERENCE_INTERPRETER_INTERPRETER_H
#define ACCC_REFERENCE_INTERPRETER_INTERPRETER_H

#include "ir/interfaces/ReferenceValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace accc {

/// Evaluates a function of one block. `arguments` has one array for each argument, of its shape and
/// with values its element type can hold; `results` is filled with one for each result. Understood
/// are ops with `Evaluable`, ops with `Decomposable` (which run as what they decompose into),
/// `prim.fusion`, and calls of functions with a body. A value lives until its last use.
///
/// Fails with a diagnostic at the op for an op without a value, for bad data (an index out of
/// range), and for arguments that do not fit the function.
mlir::LogicalResult interpret(mlir::func::FuncOp function, llvm::ArrayRef<ReferenceArray> arguments,
                              llvm::SmallVectorImpl<ReferenceArray> &results);

/// The same, but that every result of f16 and bf16 is rounded to a number of its type.
mlir::LogicalResult interpretRounded(mlir::func::FuncOp function,
                                     llvm::ArrayRef<ReferenceArray> arguments,
                                     llvm::SmallVectorImpl<ReferenceArray> &results);

} // namespace accc

#endif
