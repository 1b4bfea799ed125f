// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions carry a model: the attributes of their arguments and results
// (docs/function-contract.md), and who reads them.
#ifndef ACCC_IR_PRIM_FUNCTIONCONTRACT_H
#define ACCC_IR_PRIM_FUNCTIONCONTRACT_H

#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

using prim::Role, prim::stringifyRole;

inline constexpr const char kNameAttr[] = "accc.name";
inline constexpr const char kRoleAttr[] = "accc.role";
inline constexpr const char kUpdatesAttr[] = "accc.updates";
inline constexpr const char kFrozenAttr[] = "accc.frozen";

/// The text of an attribute of argument or result number `i`; empty where there is none.
llvm::StringRef argumentText(mlir::func::FuncOp function, unsigned i, llvm::StringRef attribute);
llvm::StringRef resultText(mlir::func::FuncOp function, unsigned i, llvm::StringRef attribute);

/// The role of argument or result number `i`; none where it does not say.
std::optional<Role> argumentRole(mlir::func::FuncOp function, unsigned i);
std::optional<Role> resultRole(mlir::func::FuncOp function, unsigned i);

/// Whether an argument of this role persists between calls.
bool isVariable(std::optional<Role> role);

/// Whether `use` returns the new value of a variable.
bool isUpdate(mlir::func::FuncOp function, mlir::OpOperand &use);

} // namespace accc

#endif
