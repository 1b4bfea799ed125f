// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/SameBits.h"

#include "ir/prim/RoundingErrors.h"
#include "schedule/order/Order.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace accc;

static bool jumpsAnywhere(Operation *op) { return llvm::any_of(op->getOpOperands(), prim::jumps); }

/// Of a kernel's inputs, where of its results the second are wanted.
static SmallVector<bool> inputsWanted(prim::FusionOp kernel, ArrayRef<bool> outputs) {
  Block &body = kernel.getBody().front();
  DenseSet<Value> wanted;
  for (auto [yielded, isWanted] : llvm::zip(body.getTerminator()->getOperands(), outputs))
    if (isWanted)
      wanted.insert(yielded);
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool isWanted =
        llvm::any_of(op.getResults(), [&](Value result) { return wanted.contains(result); });
    for (OpOperand &use : op.getOpOperands())
      if (isWanted || prim::jumps(use))
        wanted.insert(use.get());
  }
  return llvm::map_to_vector(body.getArguments(),
                             [&](Value argument) { return wanted.contains(argument); });
}

SmallVector<bool> SameBits::operandsWanted(Operation *op) const {
  SmallVector<bool> outputs =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return areWanted(result); });
  if (auto kernel = dyn_cast<prim::FusionOp>(op))
    return inputsWanted(kernel, outputs);
  // Nobody knows what a custom operator does.
  bool all = llvm::is_contained(outputs, true) || isa<CustomCallLike>(op);
  if (auto each = dyn_cast<prim::FusionEachOp>(op))
    all |= llvm::any_of(each.getBody().front(),
                        [](Operation &inside) { return jumpsAnywhere(&inside); });
  return llvm::map_to_vector(op->getOpOperands(),
                             [&](OpOperand &use) { return all || prim::jumps(use); });
}

SameBits::SameBits(Block &block) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    // What an alias stands for is read where the alias is.
    Operation *reader = isAlias(&op) ? last.lookup(op.getResult(0)) : &op;
    for (auto [operand, isWanted] : llvm::zip(op.getOperands(), operandsWanted(&op)))
      if (isWanted && !areWanted(operand, reader))
        last[operand] = reader;
  }
}
