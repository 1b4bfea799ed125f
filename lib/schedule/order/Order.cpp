// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/order/Order.h"

#include "ir/prim/FunctionContract.h"
#include "ir/prim/Prim.h"
#include "support/Fault.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

bool accc::isAlias(Operation *op) {
  auto slice = dyn_cast<prim::SliceOp>(op);
  return isa<prim::ReshapeOp>(op) || (slice && slice.getContiguousBegin());
}

Storage accc::storageAndBegin(Value value) {
  Storage storage{value};
  while (Operation *op = storage.value.getDefiningOp()) {
    if (!isAlias(op))
      break;
    if (auto slice = dyn_cast<prim::SliceOp>(op))
      storage.begin += *slice.getContiguousBegin() * elementBytes(slice.getType());
    storage.value = op->getOperand(0);
  }
  return storage;
}

namespace {
bool isFusion(Operation *op) { return isa<prim::FusionOp, prim::FusionEachOp>(op); }

/// Finds the steps that may run behind the check.
class LateSteps {
public:
  explicit LateSteps(func::FuncOp function) : function(function) {
    for (Operation &op : llvm::reverse(function.getBody().front().without_terminator()))
      if (isFusion(&op) && isLate(op))
        late.insert(&op);
  }
  bool contains(Operation *op) const { return late.contains(op); }

private:
  /// More than this is not worth keeping alive to the end of the step.
  static constexpr int64_t kFewNumbers = 64;

  bool isLate(Operation &op) const {
    if (prim::mayReportErrors(op.getRegion(0).front()))
      return false;
    for (Value result : op.getResults())
      for (OpOperand &use : result.getUses()) {
        if (use.getOwner()->hasTrait<OpTrait::IsTerminator>()) {
          if (!isUpdate(function, use))
            return false;
          continue;
        }
        if (!late.contains(use.getOwner()) ||
            cast<RankedTensorType>(result.getType()).getNumElements() > kFewNumbers)
          return false;
      }
    return true;
  }

  func::FuncOp function;
  DenseSet<Operation *> late;
};
} // namespace

FailureOr<Order> accc::orderSteps(func::FuncOp function) {
  LateSteps late(function);
  Order order;
  SmallVector<Operation *> updates;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isAlias(&op) || isa<prim::ConstantOp>(op))
      continue;
    if (!isFusion(&op) && !prim::isCall(&op))
      return emitBug(op.getLoc()) << "this op reached the schedule outside a fusion";
    (late.contains(&op) ? updates : order.steps).push_back(&op);
  }
  order.firstUpdate = order.size();
  order.steps.append(updates);
  for (auto [i, op] : llvm::enumerate(order.steps))
    order.index[op] = static_cast<int64_t>(i);
  return order;
}
