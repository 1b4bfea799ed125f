// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/memory/InPlace.h"

#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;

bool accc::readsInPlace(Block &body, prim::KernelKind kind, unsigned argument) {
  // Other kernels read an input in an order of their own.
  if (kind != prim::KernelKind::loop && kind != prim::KernelKind::each)
    return false;
  // Every path from the argument to an output is pointwise; a reshape keeps the row-major order.
  SmallVector<Value> pending{body.getArgument(argument)};
  DenseSet<Operation *> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<prim::YieldOp>(user) || !seen.insert(user).second)
        continue;
      auto fusible = dyn_cast<Fusible>(user);
      if (!fusible ||
          (fusible.getFusionClass() != FusionClass::Pointwise && !isa<prim::ReshapeOp>(user)))
        return false;
      pending.append(user->result_begin(), user->result_end());
    }
  return true;
}
