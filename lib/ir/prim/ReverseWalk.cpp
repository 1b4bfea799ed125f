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

LogicalResult accc::differentiateParts(Operation *op, Gradients &gradients) {
  OpBuilder &builder = gradients.builder();
  Operation *before = &*std::prev(builder.getInsertionPoint());
  SmallVector<Value> values;
  if (failed(cast<Decomposable>(op).decompose(builder, values)))
    return failure();
  SmallVector<Operation *> parts;
  for (Operation *part = &*std::prev(builder.getInsertionPoint()); part != before;
       part = part->getPrevNode())
    parts.push_back(part); // the last one first
  ReverseWalk walk(
      [&](Value value) {
        return llvm::is_contained(parts, value.getDefiningOp()) ||
               (llvm::is_contained(op->getOperands(), value) && gradients.wants(value));
      },
      builder);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (gradients.has(result))
      walk.seed(value, gradients.of(result));
  for (Operation *part : parts)
    if (isa<Differentiable>(part) &&
        llvm::any_of(part->getResults(), [&](Value result) { return walk.has(result); }) &&
        failed(walk.visit(part)))
      return failure();
  llvm::SmallSetVector<Value, 6> operands(op->operand_begin(), op->operand_end());
  for (Value operand : operands)
    if (Value cotangent = walk.find(operand))
      gradients.add(operand, cotangent);
  return success();
}
