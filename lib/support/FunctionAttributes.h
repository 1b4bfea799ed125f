// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads what functions say of their arguments and results (support/Attributes.h).
#ifndef ACCC_SUPPORT_FUNCTIONATTRIBUTES_H
#define ACCC_SUPPORT_FUNCTIONATTRIBUTES_H

#include "support/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// The text of an attribute of argument or result number `i`; empty where there is none.
llvm::StringRef argumentText(mlir::func::FuncOp function, unsigned i, llvm::StringRef attribute);
llvm::StringRef resultText(mlir::func::FuncOp function, unsigned i, llvm::StringRef attribute);

/// Whether an argument of this role persists between calls.
bool isVariableRole(llvm::StringRef role);

/// Whether `use` returns the new value of a variable.
bool isUpdate(mlir::func::FuncOp function, mlir::OpOperand &use);

} // namespace accc

#endif
