// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Tensor.h"
#include "layout/OrderChoice.h"
#include "layout/Passes.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_LAYOUTCONVOLUTIONSPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::layout;
using accc::prim::Tensor;

namespace {

/// Writes a block anew in the orders that were chosen. Views are written where they are read.
class Rewriter {
public:
  Rewriter(Block &block, const OpOrders &chosen)
      : block(block), chosen(chosen), builder(block.getParentOp()->getContext()) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops)
      rewrite(op);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && (isView(op) || chosen.contains(op)))
        op->erase();
  }

private:
  void rewrite(Operation *op) {
    if (isView(op))
      return;
    builder.setInsertionPoint(op);
    auto it = chosen.find(op);
    if (it == chosen.end()) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(get(operand.get(), ownOrder(shapeOf(operand.get()).size())));
      return;
    }
    SmallVector<Value> operands;
    for (auto [operand, order] : llvm::zip(op->getOperands(), it->second.operands))
      operands.push_back(get(operand, order));
    made[op->getResult(0)] = {createInOrder(builder, op, it->second, operands), it->second.result};
  }

  /// The value as it lies in `order`: a tensor of its shape in that order.
  Value get(Value value, const DimensionOrder &order) {
    for (const OrderedValue &known : copies[value])
      if (known.order == order)
        return known.value;
    Value result = find(value, order);
    copies[value].push_back({result, order});
    return result;
  }

  Value find(Value value, const DimensionOrder &order) {
    Operation *op = value.getDefiningOp();
    DimensionOrder own = ownOrder(order.size());
    if (isFree(value))
      return order == own ? value : createFree(builder, value, order);
    if (isView(op))
      if (std::optional<OrderedValue> operand = operandOfView(op, order))
        return createView(builder, op, get(operand->value, operand->order), order);
    OrderedValue from{value, own};
    if (auto it = made.find(value); it != made.end())
      from = it->second;
    else if (isView(op))
      from.value = get(value, own);
    Tensor tensor(builder, value.getLoc(), from.value);
    if (sameMemory(shapeOf(value), from.order, order))
      return tensor.reshape(inOrder(shapeOf(value), order));
    SmallVector<int64_t> permutation;
    for (int64_t d : order)
      permutation.push_back(placeOf(d, from.order));
    return tensor.transpose(permutation);
  }

  Block &block;
  const OpOrders &chosen;
  OpBuilder builder;
  DenseMap<Value, OrderedValue> made;                // results of ops that were written anew
  DenseMap<Value, SmallVector<OrderedValue>> copies; // what there is of a value
};

struct LayOutConvolutionsPass
    : TargetedPass<accc::impl::LayOutConvolutionsPassBase<LayOutConvolutionsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    Block &block = getOperation().front();
    ConvolutionOrders convolutions{getTarget(), tf32};
    OpOrders chosen =
        chooseOrders(block, followConvolutions(getOperation(), convolutions).ops, convolutions);
    if (!chosen.empty())
      Rewriter(block, chosen).run();
  }
};

} // namespace
