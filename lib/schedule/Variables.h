// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state block: what persists between calls, and where in it.
#ifndef ACCC_SCHEDULE_VARIABLES_H
#define ACCC_SCHEDULE_VARIABLES_H

#include "ir/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace accc {

/// Variable name -> offset in the state block, in bytes.
using VariableTable = llvm::StringMap<int64_t>;

/// Declares the variables of all functions of `module` in `program`, as exec.variable: parameters,
/// then optimizer state, then buffers, so that what an optimizer streams through lies together.
mlir::FailureOr<VariableTable> declareVariables(mlir::ModuleOp module, mlir::ModuleOp program);

} // namespace accc

#endif
