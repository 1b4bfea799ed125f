// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/SortBlock.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

#include <queue>

using namespace mlir;
using namespace accc;

void accc::sortBlock(Block &block, const DenseMap<Operation *, int64_t> &rank) {
  DenseMap<Operation *, int64_t> missing;
  using Entry = std::pair<int64_t, Operation *>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (Operation &op : block.without_terminator()) {
    DenseSet<Operation *> producers;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
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
    for (Operation *user : users)
      if (user != terminator && --missing[user] == 0)
        ready.push({rank.lookup(user), user});
  }
}
