// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/ReverseWalk.h"

#include "ir/prim/Tensor.h"
#include "support/ModuleLocation.h"
#include "support/WorkScope.h"

using namespace mlir;
using namespace accc;

Value ReverseWalk::of(Value result) {
  if (Value known = cotangents.lookup(result))
    return known;
  auto type = cast<RankedTensorType>(result.getType());
  return build.create<prim::ConstantOp>(result.getLoc(), type, prim::splat(type, 0.0));
}

void ReverseWalk::add(Value operand, Value cotangent) {
  if (!wants(operand))
    return;
  if (cotangent.getType() != operand.getType()) {
    current->emitOpError("has a derivative rule that gives ")
        << cotangent.getType() << " for an operand of type " << operand.getType();
    broken = true;
    return;
  }
  Value &sum = cotangents[operand];
  sum = sum ? build.create<prim::AddOp>(current->getLoc(), sum, cotangent).getResult() : cotangent;
}

LogicalResult ReverseWalk::visit(Operation *op) {
  WorkScope scope(op);
  current = op;
  Operation *before = lastBuilt();
  if (failed(cast<Differentiable>(op).differentiate(*this)) || broken)
    return failure();
  for (Operation *built = lastBuilt(); built != before; built = built->getPrevNode())
    built->setLoc(inBackward(built->getLoc()));
  return success();
}

LogicalResult accc::decomposeInPlace(Operation *op, MutableArrayRef<Value> tracked) {
  WorkScope scope(op);
  OpBuilder builder(op);
  SmallVector<Value> values;
  if (failed(cast<Decomposable>(op).decompose(builder, values)))
    return failure();
  for (Value &value : tracked)
    if (auto result = dyn_cast<OpResult>(value); result && result.getOwner() == op)
      value = values[result.getResultNumber()];
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}
