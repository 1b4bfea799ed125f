// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/memory/WriteOver.h"

#include "ir/prim/InPlace.h"
#include "ir/prim/Prim.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

/// Visits every use of the value and of its aliases until one returns false; returns whether none
/// did.
static bool allUses(Value value, function_ref<bool(OpOperand &)> visit) {
  SmallVector<Value> pending{value};
  while (!pending.empty())
    for (OpOperand &use : pending.pop_back_val().getUses()) {
      if (isAlias(use.getOwner()))
        pending.push_back(use.getOwner()->getResult(0));
      else if (!visit(use))
        return false;
    }
  return true;
}

/// Whether the step that computes `result` reads the operand `use` of it at the index at which it
/// writes that, so that the two may share their memory.
static bool mayShareMemory(OpOperand &use, Value result) {
  if (tensorBytes(use.get()) != tensorBytes(storageOf(use.get()))) // a part of it is read
    return false;
  if (!haveSamePlaces(cast<RankedTensorType>(use.get().getType()),
                      cast<RankedTensorType>(result.getType())))
    return false;
  Operation *step = use.getOwner();
  unsigned operand = use.getOperandNumber();
  if (auto fusion = dyn_cast<prim::FusionOp>(step)) {
    prim::KernelSpecAttr spec = fusion.getSpecAttr();
    return spec && llvm::is_contained(spec.getInPlace().asArrayRef(), operand);
  }
  if (step->hasTrait<Collective>()) // in place, each tensor for itself
    return operand == cast<OpResult>(result).getResultNumber() &&
           llvm::count(step->getOperands(), use.get()) == 1;
  auto each = dyn_cast<prim::FusionEachOp>(step);
  if (!each)
    return false;
  // Segments run at the same time.
  unsigned inputs = each.inputsPerSegment();
  unsigned segment = cast<OpResult>(result).getResultNumber() / each.outputsPerSegment();
  return operand / inputs == segment &&
         prim::readsInPlace(each.getBody().front(), prim::KernelKind::each, operand % inputs);
}

bool accc::mayWriteOver(Value result, Value old, const Order &order) {
  int64_t at = order.indexOf(result.getDefiningOp());
  return allUses(old, [&](OpOperand &use) {
    int64_t index = order.indexOf(use.getOwner());
    if (index < 0) // returned as it is
      return false;
    return index < at || (index == at && mayShareMemory(use, result));
  });
}

DenseMap<Value, Value> accc::findWrittenOver(const Order &order,
                                             function_ref<bool(Value)> isScratch) {
  DenseMap<Value, Value> writtenOver;
  for (Operation *step : ArrayRef(order.steps).take_front(order.firstUpdate)) {
    DenseSet<Value> taken; // by other results
    for (Value result : step->getResults()) {
      if (!isScratch(result))
        continue;
      for (Value operand : step->getOperands()) {
        Value old = storageOf(operand);
        if (!taken.contains(old) && isScratch(old) && mayWriteOver(result, old, order)) {
          writtenOver[result] = old;
          taken.insert(old);
          break;
        }
      }
    }
  }
  return writtenOver;
}
