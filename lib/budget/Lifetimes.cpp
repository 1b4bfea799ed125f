// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/Lifetimes.h"

#include "schedule/memory/WriteOver.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

Lifetimes::Lifetimes(func::FuncOp function, Order given) : order(std::move(given)) {
  DenseSet<Value> returned;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    returned.insert(storageOf(value));
  for (auto [i, step] : llvm::enumerate(order.steps)) {
    auto at = static_cast<int64_t>(i);
    for (Value operand : step->getOperands())
      if (auto it = kept.find(storageOf(operand)); it != kept.end())
        if (SmallVector<int64_t> &uses = it->second.uses; uses.empty() || uses.back() != at)
          uses.push_back(at);
    for (Value result : step->getResults())
      if (!returned.contains(result))
        kept[result] = {tensorBytes(cast<RankedTensorType>(result.getType())), at, {}};
  }
  DenseMap<Value, Value> writtenOver =
      findWrittenOver(order, [&](Value value) { return kept.contains(value); });
  bytes.assign(order.steps.size() + 1, 0);
  for (const auto &[value, each] : kept) {
    bytes[each.first + (writtenOver.contains(value) ? 1 : 0)] += each.bytes;
    bytes[each.last() + 1] -= each.bytes;
  }
  bytes.pop_back(); // what is live behind the last step
  for (size_t i = 1; i < bytes.size(); ++i)
    bytes[i] += bytes[i - 1];
}

int64_t Lifetimes::peak() const {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}
