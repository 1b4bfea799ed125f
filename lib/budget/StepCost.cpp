// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/StepCost.h"

#include "ir/prim/Cost.h"
#include "ir/prim/Prim.h"
#include "support/TensorBytes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace accc;

double accc::costOfFunctions(ArrayRef<Operation *> ops, const Target &target) {
  double bytes = 0;
  for (Operation *op : ops)
    if (op->hasTrait<Expensive>())
      bytes +=
          static_cast<double>(target.getExpensiveOpBytes() *
                              cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
  return bytes;
}

double accc::costOfStep(Operation *step, const Target &target) {
  double bytes = 0;
  llvm::SmallSetVector<Value, 8> read(step->operand_begin(), step->operand_end());
  for (Value operand : read)
    bytes += static_cast<double>(tensorBytes(operand));
  for (Value result : step->getResults())
    bytes += static_cast<double>(tensorBytes(result));
  if (step->getNumRegions() == 0) {
    bytes = std::max(bytes, flopsOf(step) / target.getFlopsPerByte());
  } else {
    SmallVector<Operation *> body;
    for (Operation &op : step->getRegion(0).front())
      body.push_back(&op);
    bytes += costOfFunctions(body, target);
  }
  return static_cast<double>(target.getLaunchBytes()) + bytes;
}

double accc::costOfSteps(const Order &order, const Target &target) {
  double sum = 0;
  for (Operation *step : order.steps)
    sum += costOfStep(step, target);
  return sum;
}
