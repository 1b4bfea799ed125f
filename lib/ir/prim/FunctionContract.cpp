// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/FunctionContract.h"

using namespace mlir;
using namespace accc;

std::string accc::entryName(StringRef kind, StringRef step) {
  return (step.empty() ? kind : kind + "." + step).str();
}

StringRef accc::entryKind(StringRef entry) { return entry.split('.').first; }

StringRef accc::stepName(StringRef entry) { return entry.split('.').second; }

bool accc::isEntryName(StringRef entry) {
  return llvm::is_contained({kTrainStep, kGradStep, kApplyStep, kEvalStep, kAccumulateStep,
                             kUpdateStep, kAverageEvalStep},
                            entryKind(entry));
}

bool accc::updatesAlone(StringRef entry) {
  return llvm::is_contained({kApplyStep, kUpdateStep}, entryKind(entry));
}

StringRef accc::argumentText(func::FuncOp function, unsigned i, StringRef attribute) {
  auto text = function.getArgAttrOfType<StringAttr>(i, attribute);
  return text ? text.getValue() : StringRef();
}

StringRef accc::resultText(func::FuncOp function, unsigned i, StringRef attribute) {
  auto text = function.getResultAttrOfType<StringAttr>(i, attribute);
  return text ? text.getValue() : StringRef();
}

static std::optional<Role> valueOf(prim::RoleAttr role) {
  return role ? std::optional(role.getValue()) : std::nullopt;
}

std::optional<Role> accc::argumentRole(func::FuncOp function, unsigned i) {
  return valueOf(function.getArgAttrOfType<prim::RoleAttr>(i, kRoleAttr));
}

std::optional<Role> accc::resultRole(func::FuncOp function, unsigned i) {
  return valueOf(function.getResultAttrOfType<prim::RoleAttr>(i, kRoleAttr));
}

ArrayRef<int64_t> accc::argumentOrder(func::FuncOp function, unsigned i) {
  auto order = function.getArgAttrOfType<DenseI64ArrayAttr>(i, kOrderAttr);
  return order ? order.asArrayRef() : ArrayRef<int64_t>();
}

bool accc::isOrder(ArrayRef<int64_t> order, int64_t rank) {
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  return sorted == llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

RankedTensorType accc::typeForUsers(RankedTensorType type, ArrayRef<int64_t> order) {
  if (order.empty())
    return type;
  SmallVector<int64_t> shape(order.size());
  for (auto [d, extent] : llvm::zip_equal(order, type.getShape()))
    shape[d] = extent;
  return type.clone(shape);
}

bool accc::isVariable(std::optional<Role> role) {
  return role == Role::Parameter || role == Role::Buffer || role == Role::OptimizerState;
}

bool accc::isUpdate(func::FuncOp function, OpOperand &use) {
  return use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
         resultRole(function, use.getOperandNumber()) == Role::Update;
}
