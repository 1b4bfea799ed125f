// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/DeadCode.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

// Users stand behind what they use: one walk from the end finds all.
void accc::eraseDeadCode(Block &block, llvm::function_ref<bool(Operation *)> isPure,
                         llvm::function_ref<void(Operation *)> erasing) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) || (isPure && op.use_empty() && isPure(&op))) {
      if (erasing)
        erasing(&op);
      op.erase();
    }
}
