// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/InPlace.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

bool accc::prim::readsInPlace(Block &body, KernelKind kind, unsigned argument) {
  // Other kernels read an input in an order of their own.
  if (kind != KernelKind::loop && kind != KernelKind::each)
    return false;
  // Every path from the argument to an output is pointwise; a reshape keeps the row-major order.
  SmallVector<Value> pending{body.getArgument(argument)};
  DenseSet<Operation *> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (!isa<Pointwise, ReshapeOp>(user))
        return false;
      pending.append(user->result_begin(), user->result_end());
    }
  return true;
}
