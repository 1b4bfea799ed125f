// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What may exist between two phases.
#ifndef ACCC_DRIVER_BOUNDARIES_H
#define ACCC_DRIVER_BOUNDARIES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace accc {

/// Fails, with an error for each, where a verified module holds what the phase after `phase` cannot
/// take, though it is valid IR. Up to `fuse`: the schedule has a verifier of its own.
mlir::LogicalResult checkBoundary(mlir::ModuleOp module, llvm::StringRef phase);

/// Reads IR text, which the import gives and takes. Fails, with errors, for text that does not
/// parse or is not as the import would give it; `path` is what they call it.
mlir::OwningOpRef<mlir::ModuleOp> readModelText(llvm::StringRef text, llvm::StringRef path,
                                                mlir::MLIRContext &context);

} // namespace accc

#endif
