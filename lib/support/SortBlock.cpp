// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/SortBlock.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

#include <queue>

using namespace mlir;
using namespace accc;

void accc::sortBlock(Block &block, const DenseMap<Operation *, int64_t> &rank,
                     ArrayRef<std::pair<Operation *, Operation *>> pairs) {
  DenseMap<Operation *, SmallVector<Operation *>> before, behind; // beside producers and users
  for (auto [first, second] : pairs) {
    before[second].push_back(first);
    behind[first].push_back(second);
  }
  DenseMap<Operation *, int64_t> missing;
  using Entry = std::pair<int64_t, Operation *>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (Operation &op : block.without_terminator()) {
    DenseSet<Operation *> producers;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    for (Operation *other : before.lookup(&op))
      producers.insert(other);
    missing[&op] = static_cast<int64_t>(producers.size());
    if (producers.empty())
      ready.push({rank.lookup(&op), &op});
  }
  Operation *terminator = block.getTerminator();
  while (!ready.empty()) {
    Operation *op = ready.top().second;
    ready.pop();
    op->moveBefore(terminator);
    DenseSet<Operation *> users(op->user_begin(), op->user_end());
    for (Operation *other : behind.lookup(op))
      users.insert(other);
    for (Operation *user : users)
      if (user != terminator && --missing[user] == 0)
        ready.push({rank.lookup(user), user});
  }
}
