// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/WideNode.h"
#include "frontend/common/Fold.h"
#include "ir/interfaces/Interfaces.h"
#include "ir/prim/Prim.h"
#include "ir/prim/Tensor.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;

static bool isNarrow(Type type) { return prim::isHalf(getElementTypeOrSelf(type)); }
static bool readsOrGivesNarrow(Operation &op) {
  return llvm::any_of(op.getOperandTypes(), isNarrow) ||
         llvm::any_of(op.getResultTypes(), isNarrow);
}
static Type widenedType(Type type) {
  return isNarrow(type) ? cast<RankedTensorType>(type).clone(Float32Type::get(type.getContext()))
                        : type;
}

/// Whether the op gives elements of its operands as they are.
static bool isExact(Operation &op) { return moves(op) || isa<prim::GatherOp, prim::SelectOp>(op); }

static bool computesInNarrow(Operation &op) {
  return readsOrGivesNarrow(op) && !op.hasTrait<RoundsItself>() && !isExact(op) &&
         !isa<prim::ConstantOp, prim::ConvertOp>(op);
}

WideNode::WideNode(ArrayRef<Operation *> ops, OpBuilder &builder) : builder(builder) {
  if (llvm::any_of(ops, [](Operation *op) { return computesInNarrow(*op); }))
    for (Operation *op : ops)
      rebuild(*op);
}

void WideNode::rebuild(Operation &op) {
  auto isRebuilt = [&](Value operand) { return rebuilt.contains(operand); };
  bool isWide = readsOrGivesNarrow(op) && !op.hasTrait<RoundsItself>() &&
                !isa<prim::ConstantOp>(op) &&
                (!isExact(op) || llvm::any_of(op.getOperands(), isRebuilt));
  if (!isWide && llvm::none_of(op.getOperands(), isRebuilt))
    return;
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(isWide ? widened(operand) : narrowed(operand));
  Operation *made = builder.clone(op);
  made->setOperands(operands);
  for (auto [before, now] : llvm::zip_equal(op.getResults(), made->getResults())) {
    if (isWide)
      now.setType(widenedType(now.getType()));
    rebuilt[before] = now;
  }
  if (auto convert = dyn_cast<prim::ConvertOp>(made);
      convert && convert.getOperand().getType() == convert.getType()) {
    rebuilt[op.getResult(0)] = convert.getOperand();
    made->erase();
  }
}

static Value converted(OpBuilder &builder, Value value, Type element) {
  return prim::Tensor(builder, value.getLoc(), value).convert(element);
}

Value WideNode::widened(Value value) {
  if (Value known = rebuilt.lookup(value); known && !isNarrow(known.getType()))
    return known;
  if (!isNarrow(value.getType()))
    return value;
  Value &made = wide[value];
  if (!made)
    made = converted(builder, narrowed(value), builder.getF32Type());
  return made;
}

Value WideNode::narrowed(Value value) {
  Value known = rebuilt.lookup(value);
  if (!known)
    return value;
  Value &made = narrow[value];
  if (!made)
    made = converted(builder, known, getElementTypeOrSelf(value.getType()));
  return made;
}
