// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transforms/precision/ExactReaders.h"

#include "ir/prim/RoundingErrors.h"

using namespace mlir;
using namespace accc;
using accc::transforms::ExactReaders;

ExactReaders::ExactReaders(Block &block, Type narrow) : losesSmall(narrow.isF16()) {
  for (Operation &op : llvm::reverse(block))
    for (Value result : op.getResults()) {
      Shown shown;
      for (OpOperand &use : result.getUses()) {
        Shown here = shownBy(use);
        shown = {shown.asItIs || here.asItIs, shown.inSum || here.inSum};
      }
      exact[result] = shown;
    }
}

ExactReaders::Shown ExactReaders::shownBy(OpOperand &use) const {
  auto magnifies = [&](bool inSum) {
    return prim::magnifiesError(use, {.inSum = inSum, .losesSmall = losesSmall});
  };
  Shown shown = {magnifies(false), magnifies(true)};
  if (!prim::passesOn(use))
    return shown;
  Shown later = exact.lookup(use.getOwner()->getResult(0));
  if (prim::mayCancel(use))
    later.asItIs = later.inSum;
  return {shown.asItIs || later.asItIs, shown.inSum || later.inSum};
}
