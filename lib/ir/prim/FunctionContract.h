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
inline constexpr const char kUnclearAttr[] = "accc.unclear";
inline constexpr const char kAssumedAttr[] = "accc.assumed";
inline constexpr const char kOrderAttr[] = "accc.order";
inline constexpr const char kTrainingAttr[] = "accc.training";

// The entry points of training.
inline constexpr llvm::StringLiteral kTrainStep = "train_step", kGradStep = "grad_step",
                                     kApplyStep = "apply_step", kEvalStep = "eval_step",
                                     kAccumulateStep = "accumulate_step",
                                     kUpdateStep = "update_step",
                                     kAverageEvalStep = "average_eval_step";

/// The entry point of a kind that belongs to a training step: `train_step.d`, and `train_step` of
/// the only step, which has no name.
std::string entryName(llvm::StringRef kind, llvm::StringRef step);
/// The kind of an entry point: what stands before the first dot.
llvm::StringRef entryKind(llvm::StringRef entry);
/// The training step that an entry point belongs to: what stands behind it.
llvm::StringRef stepName(llvm::StringRef entry);
/// Whether an entry point bears the name of one of these kinds.
bool isEntryName(llvm::StringRef entry);
/// Whether an entry point updates by gradients that are there, and takes no data.
bool updatesAlone(llvm::StringRef entry);

/// The text of an attribute of argument or result number `i`; empty where there is none.
llvm::StringRef argumentText(mlir::func::FuncOp function, unsigned i, llvm::StringRef attribute);
llvm::StringRef resultText(mlir::func::FuncOp function, unsigned i, llvm::StringRef attribute);

/// The role of argument or result number `i`; none where it does not say.
std::optional<Role> argumentRole(mlir::func::FuncOp function, unsigned i);
std::optional<Role> resultRole(mlir::func::FuncOp function, unsigned i);

/// The order in which the dimensions of a variable lie, argument number `i`: its type is that of
/// the tensor in memory, whose dimension j is number order[j] of the one that users see. Empty
/// where they are the same.
llvm::ArrayRef<int64_t> argumentOrder(mlir::func::FuncOp function, unsigned i);

/// Whether `order` names each of `rank` dimensions once.
bool isOrder(llvm::ArrayRef<int64_t> order, int64_t rank);

/// The type that users see of what lies in memory as a tensor of `type`, in an order.
mlir::RankedTensorType typeForUsers(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> order);

/// Whether an argument of this role persists between calls.
bool isVariable(std::optional<Role> role);

/// Whether `use` returns the new value of a variable.
bool isUpdate(mlir::func::FuncOp function, mlir::OpOperand &use);

} // namespace accc

#endif
