// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout/CheapestSplit.h"
#include "layout/OrderChoice.h"
#include "support/TensorBytes.h"

#include <map>

using namespace mlir;
using namespace accc;
using namespace accc::layout;

namespace {

class Chooser {
public:
  Chooser(Block &block, const OpOrders &possible, const ConvolutionOrders &convolutions)
      : possible(possible), convolutions(convolutions) {
    for (auto &[op, order] : possible)
      choice[op] = split.add();
    for (Operation &op : block)
      if (!isView(&op))
        needOperands(&op);
    for (auto &[what, users] : needs)
      addCosts(values[what.first], what.second, users);
    for (auto &[op, order] : possible)
      if (std::optional<ConvolutionLayout> layout = convolutions.layoutOf(op))
        split.costOfYesAndNo(split.yes(), choice[op], costOfLeaving(op, order, *layout));
  }

  OpOrders choose() {
    std::vector<bool> yes = split.choose();
    OpOrders result;
    for (auto &[op, order] : possible)
      if (yes[choice[op]])
        result.insert({op, order});
    return result;
  }

private:
  using Choice = CheapestSplit::Choice;

  /// Who needs a value in some order: always, or if the choice is yes or no.
  struct Users {
    bool always = false;
    SmallVector<Choice> ifYes, ifNo;
  };

  void needOperands(Operation *op) {
    auto it = possible.find(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      DimensionOrder own = ownOrder(shapeOf(operand).size());
      if (it == possible.end()) {
        need(operand, own, [](Users &users) { users.always = true; });
        continue;
      }
      need(operand, own, [&](Users &users) { users.ifNo.push_back(choice[op]); });
      need(operand, it->second.operands[i],
           [&](Users &users) { users.ifYes.push_back(choice[op]); });
    }
  }

  /// Finds what has to be in memory, through views.
  void need(Value value, DimensionOrder order, function_ref<void(Users &)> add) {
    while (isView(value.getDefiningOp())) {
      Operation *view = value.getDefiningOp();
      std::optional<OrderedValue> operand = operandOfView(view, order);
      if (!operand) { // copied from what lies in its own order
        add(needsOf(value, order));
        operand = OrderedValue{view->getOperand(0), ownOrder(shapeOf(view->getOperand(0)).size())};
      }
      value = operand->value;
      order = operand->order;
    }
    if (!isFree(value))
      add(needsOf(value, order));
  }

  Users &needsOf(Value value, ArrayRef<int64_t> order) {
    auto [it, isNew] = number.try_emplace(value, values.size());
    if (isNew)
      values.push_back(value);
    SmallVector<int64_t> apart = withoutUnits(shapeOf(value), order); // one for the same memory
    return needs[{it->second, std::vector<int64_t>(apart.begin(), apart.end())}];
  }

  /// What it costs to have `value` in an order, given without extents of 1.
  void addCosts(Value value, ArrayRef<int64_t> order, const Users &users) {
    auto is = [&](ArrayRef<int64_t> other) {
      return ArrayRef<int64_t>(withoutUnits(shapeOf(value), other)) == order;
    };
    auto it = possible.find(value.getDefiningOp());
    bool isOwn = is(ownOrder(shapeOf(value).size()));
    bool isOther = it != possible.end() ? is(it->second.result) : isOwn;
    if (isOwn && isOther)
      return;
    int64_t cost = 2 * tensorBytes(value) + convolutions.target.getLaunchBytes();
    // Copied if the maker's choice is no and any user's is yes, or the other way round; one copy
    // serves all users, which the choice `copied` stands for.
    Choice maker = it != possible.end() ? choice[value.getDefiningOp()] : split.no();
    Choice copied = split.add();
    if (!isOwn && !isOther && !users.always && users.ifYes.empty()) {
      // Nobody makes it so, and users whose choice is no want it: `copied` is no if one does.
      split.costOfYesAndNo(split.yes(), copied, cost);
      for (Choice user : users.ifNo)
        split.costOfYesAndNo(copied, user, CheapestSplit::kNever);
    } else if (isOwn) {
      split.costOfYesAndNo(maker, copied, cost);
      for (Choice user : users.ifNo)
        split.costOfYesAndNo(copied, user, CheapestSplit::kNever);
      if (users.always || !users.ifYes.empty())
        split.costOfYesAndNo(copied, split.no(), CheapestSplit::kNever);
    } else {
      split.costOfYesAndNo(copied, isOther ? maker : split.no(), cost);
      for (Choice user : users.ifYes)
        split.costOfYesAndNo(user, copied, CheapestSplit::kNever);
      if (users.always || !users.ifNo.empty())
        split.costOfYesAndNo(split.yes(), copied, CheapestSplit::kNever);
    }
  }

  /// The copies that the library makes to its own layouts and back of what a convolution reads and
  /// writes as it is. Activations channels last go with no other filters than it wants.
  static int64_t costOfLeaving(Operation *op, const OpOrder &order,
                               const ConvolutionLayout &layout) {
    if (layout.filtersLast && cast<ConvolutionLike>(op).getChannelsLast())
      return CheapestSplit::kNever;
    int64_t cost = 0;
    auto add = [&](Value value, ArrayRef<int64_t> wanted) {
      if (!isOwnOrder(value, wanted))
        cost += layout.copiedBytes * tensorBytes(value) + layout.launchedBytes;
    };
    for (auto [operand, wanted] : llvm::zip(op->getOperands(), order.operands))
      add(operand, wanted);
    add(op->getResult(0), order.result);
    return cost;
  }

  const OpOrders &possible;
  const ConvolutionOrders &convolutions;
  CheapestSplit split;
  DenseMap<Operation *, Choice> choice;
  DenseMap<Value, size_t> number;
  std::vector<Value> values;
  std::map<std::pair<size_t, std::vector<int64_t>>, Users> needs; // ordered: the same every time
};

} // namespace

OpOrders layout::chooseOrders(Block &block, const OpOrders &possible,
                              const ConvolutionOrders &convolutions) {
  return Chooser(block, possible, convolutions).choose();
}
