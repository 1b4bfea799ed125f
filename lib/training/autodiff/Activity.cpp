// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/autodiff/Activity.h"

#include "ir/interfaces/Interfaces.h"

using namespace mlir;
using namespace accc;

bool accc::isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

Activity::Activity(Value loss, ArrayRef<Value> wanted, Jumps jumps) {
  Block *block = loss.getParentBlock();
  auto stops = [&](Operation &op) {
    return op.hasTrait<ZeroGradient>() &&
           !(jumps == Jumps::Pass && op.hasTrait<PiecewiseConstant>());
  };
  varying.insert(wanted.begin(), wanted.end());
  for (Operation &op : *block) {
    if (stops(op) ||
        llvm::none_of(op.getOperands(), [&](Value operand) { return varies(operand); }))
      continue;
    for (Value result : op.getResults())
      if (isFloatTensor(result.getType()))
        varying.insert(result);
  }

  useful.insert(loss);
  for (Operation &op : llvm::reverse(*block)) {
    if (stops(op) ||
        llvm::none_of(op.getResults(), [&](Value result) { return useful.contains(result); }))
      continue;
    for (Value operand : op.getOperands())
      if (isFloatTensor(operand.getType()))
        useful.insert(operand);
  }
}

bool Activity::isActive(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) { return varies(operand); }) &&
         llvm::any_of(op->getResults(), [&](Value result) { return isActive(result); });
}
