// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout/OrderChoice.h"

using namespace mlir;
using namespace accc;
using namespace accc::layout;

namespace {

class Follower {
public:
  explicit Follower(Block &block) {
    for (Operation &op : block)
      if (std::optional<OpOrder> order = channelsLastOrder(&op))
        add(&op, *order);
    while (!pending.empty()) {
      OrderedValue next = pending.pop_back_val();
      for (Operation *user : next.value.getUsers())
        meet(user, next);
      if (Operation *op = next.value.getDefiningOp())
        meet(op, next);
    }
  }

  OpOrders found;

private:
  void add(Operation *op, const OpOrder &order) {
    if (!found.insert({op, order}).second)
      return;
    for (auto [operand, its] : llvm::zip(op->getOperands(), order.operands))
      visit(operand, its);
    visit(op->getResult(0), order.result);
  }

  /// The first order that comes to a value stays; where another one comes, something is copied.
  void visit(Value value, ArrayRef<int64_t> order) {
    if (!isFree(value) && !isOwnOrder(value, order) && seen.insert(value).second)
      pending.push_back({value, DimensionOrder(order)});
  }

  /// An op that reads or gives an ordered value.
  void meet(Operation *op, const OrderedValue &at) {
    if (!isView(op)) {
      if (found.contains(op))
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

  SmallVector<OrderedValue> pending;
  DenseSet<Value> seen;
};

} // namespace

OpOrders layout::followConvolutions(Block &block) { return std::move(Follower(block).found); }
