// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Raise.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace accc;

// Once from top to bottom: a composite stands where its last part stood, so that rules further
// down, which build on it (a scale after a normalisation), see it.
void accc::raiseComposites(Block &block) {
  SmallVector<RaiseRule> rules(raiseActivations());
  llvm::append_range(rules, raiseNormalizations());
  llvm::append_range(rules, raiseLinears());
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumResults() != 1)
      continue;
    OpBuilder builder(&op);
    for (RaiseRule rule : rules)
      if (Value raised = rule(&op, builder)) {
        op.getResult(0).replaceAllUsesWith(raised);
        break;
      }
  }
}
