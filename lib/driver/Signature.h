// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a module, as docs/function-contract.md describes them.
#ifndef ACCC_DRIVER_SIGNATURE_H
#define ACCC_DRIVER_SIGNATURE_H

#include "mlir/IR/BuiltinOps.h"

namespace accc {

/// Fails, with an error for each, unless the module holds functions of one block alone: @forward,
/// or else entry points; whose arguments and results are tensors of fixed shape, with distinct
/// names, and roles that fit the function and their type.
mlir::LogicalResult checkSignatures(mlir::ModuleOp module, bool isForward);

/// Whether the op's results are tensors so small (2^40 bytes) that computing with their sizes does
/// not overflow.
bool hasModestResults(mlir::Operation *op);

} // namespace accc

#endif
