// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/FunctionAttributes.h"

using namespace mlir;
using namespace accc;

StringRef accc::argumentText(func::FuncOp function, unsigned i, StringRef attribute) {
  auto text = function.getArgAttrOfType<StringAttr>(i, attribute);
  return text ? text.getValue() : StringRef();
}

StringRef accc::resultText(func::FuncOp function, unsigned i, StringRef attribute) {
  auto text = function.getResultAttrOfType<StringAttr>(i, attribute);
  return text ? text.getValue() : StringRef();
}

bool accc::isVariableRole(StringRef role) {
  return role == role::kParameter || role == role::kBuffer || role == role::kOptimizerState;
}

bool accc::isUpdate(func::FuncOp function, OpOperand &use) {
  return use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
         resultText(function, use.getOperandNumber(), kRoleAttr) == role::kUpdate;
}
