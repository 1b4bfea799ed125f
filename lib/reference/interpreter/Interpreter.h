// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter: what a function computes, in double precision. Slow, obvious,
// complete.
#ifndef ACCC_REFERENCE_INTERPRETER_INTERPRETER_H
#define ACCC_REFERENCE_INTERPRETER_INTERPRETER_H

#include "ir/interfaces/ReferenceValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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

/// Changes what an op has evaluated to.
using ChangeResults =
    llvm::function_ref<void(mlir::Operation &, llvm::MutableArrayRef<ReferenceArray>)>;

/// The same, but that the results of every op, and of every op in a kernel, are changed.
mlir::LogicalResult interpretChanged(mlir::func::FuncOp function,
                                     llvm::ArrayRef<ReferenceArray> arguments,
                                     llvm::SmallVectorImpl<ReferenceArray> &results,
                                     ChangeResults change);

/// Rounds results of f16 and bf16 to numbers of their types.
void roundHalves(mlir::Operation &op, llvm::MutableArrayRef<ReferenceArray> results);

/// Changed by `roundHalves`.
mlir::LogicalResult interpretRounded(mlir::func::FuncOp function,
                                     llvm::ArrayRef<ReferenceArray> arguments,
                                     llvm::SmallVectorImpl<ReferenceArray> &results);

} // namespace accc

#endif
