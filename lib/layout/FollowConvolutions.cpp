// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/FunctionContract.h"
#include "layout/OrderChoice.h"

using namespace mlir;
using namespace accc;
using namespace accc::layout;

namespace {

/// Whether the value is in memory in any order that somebody asks for: what it is a view of need
/// not lie in another than its own, as the number that a broadcast repeats.
bool needsNoOrder(Value value, ArrayRef<int64_t> order) {
  if (isFree(value) || isOwnOrder(value, order))
    return true;
  if (!isView(value.getDefiningOp()))
    return false;
  std::optional<OrderedValue> operand = operandOfView(value.getDefiningOp(), order);
  return operand && needsNoOrder(operand->value, operand->order);
}

class Follower {
public:
  /// `throughAll`: from one reader of a value that needs no order to the others as well.
  explicit Follower(bool throughAll) : throughAll(throughAll) {}

  void start(Operation *op, const OpOrder &order) { add(op, order); }
  void start(const OrderedValue &value) { visit(value.value, value.order); }

  Followers follow() && {
    while (!pending.empty()) {
      OrderedValue next = pending.pop_back_val();
      for (Operation *user : next.value.getUsers())
        meet(user, next);
      if (Operation *op = next.value.getDefiningOp())
        meet(op, next);
    }
    return std::move(found);
  }

private:
  void add(Operation *op, const OpOrder &order) {
    if (!found.ops.insert({op, order}).second)
      return;
    for (auto [operand, its] : llvm::zip(op->getOperands(), order.operands))
      visit(operand, its);
    visit(op->getResult(0), order.result);
  }

  /// The first order that comes to a value stays; where another one comes, something is copied.
  void visit(Value value, ArrayRef<int64_t> order) {
    if (!throughAll && needsNoOrder(value, order))
      return;
    if (!isFree(value) && !isOwnOrder(value, order) &&
        found.values.insert({value, DimensionOrder(order)}).second)
      pending.push_back({value, DimensionOrder(order)});
  }

  /// An op that reads or gives an ordered value.
  void meet(Operation *op, const OrderedValue &at) {
    if (!isView(op)) {
      if (found.ops.contains(op))
        return;
      if (std::optional<OpOrder> order = followOrder(op, at.value, at.order))
        add(op, *order);
    } else if (at.value == op->getResult(0)) {
      if (std::optional<OrderedValue> operand = operandOfView(op, at.order))
        visit(operand->value, operand->order);
    } else if (std::optional<DimensionOrder> order = resultOfView(op, at.order)) {
      visit(op->getResult(0), *order);
    }
  }

  bool throughAll;
  Followers found;
  SmallVector<OrderedValue> pending;
};

} // namespace

Followers layout::followConvolutions(func::FuncOp function, const ConvolutionOrders &convolutions) {
  Follower follower(/*throughAll=*/true);
  for (Operation &op : function.front())
    if (std::optional<OpOrder> order = convolutions.of(&op))
      follower.start(&op, *order);
  // A variable in an order is transposed where the function begins.
  for (BlockArgument argument : function.getArguments())
    if (!argumentOrder(function, argument.getArgNumber()).empty())
      for (Operation *user : argument.getUsers())
        if (auto transpose = dyn_cast<prim::TransposeOp>(user))
          if (auto order = resultOfView(user, ownOrder(shapeOf(argument).size())))
            follower.start({transpose.getResult(), *order});
  return std::move(follower).follow();
}

Followers layout::followValues(ArrayRef<OrderedValue> values) {
  Follower follower(/*throughAll=*/false);
  for (const OrderedValue &value : values)
    follower.start(value);
  return std::move(follower).follow();
}
