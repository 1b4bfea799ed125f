// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/DeadCode.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

// Users stand behind what they use: one walk from the end finds all.
void accc::eraseDeadCode(Block &block, llvm::function_ref<bool(Operation *)> isPure) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) || (isPure && op.use_empty() && isPure(&op)))
      op.erase();
}
