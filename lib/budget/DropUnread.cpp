// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/DropUnread.h"

#include "budget/PartOfKernel.h"
#include "support/DeadCode.h"

using namespace mlir;
using namespace accc;

/// `fusion` with the results that are read only.
static void keepReadResults(prim::FusionOp fusion) {
  OpBuilder b(fusion);
  Block &body = fusion.getBody().front();
  SmallVector<OpResult> kept;
  SmallVector<Value> yielded;
  for (OpResult result : fusion->getOpResults())
    if (!result.use_empty()) {
      kept.push_back(result);
      yielded.push_back(body.getTerminator()->getOperand(result.getResultNumber()));
    }
  DenseSet<Operation *> needed;
  llvm::MapVector<Value, Value> read;
  SmallVector<Value> pending(yielded);
  while (!pending.empty()) {
    Value inside = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(inside))
      read[inside] = fusion.getInputs()[argument.getArgNumber()];
    else if (needed.insert(inside.getDefiningOp()).second)
      llvm::append_range(pending, inside.getDefiningOp()->getOperands());
  }
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (needed.contains(&op))
      ops.push_back(&op);
  auto made = makePartOf(fusion, b, read, ops, yielded);
  for (auto [old, now] : llvm::zip_equal(kept, made.getOutputs()))
    old.replaceAllUsesWith(now);
  fusion.erase();
}

void accc::dropUnreadResults(func::FuncOp function) {
  Block &block = function.getBody().front();
  // Readers first: what they read no more may be all that was read of another kernel.
  SmallVector<prim::FusionOp> fusions(block.getOps<prim::FusionOp>());
  for (prim::FusionOp fusion : llvm::reverse(fusions)) {
    if (fusion->use_empty())
      continue; // goes with the dead code
    bool walksFreely =
        fusion.getKind() == prim::KernelKind::loop || fusion.getKind() == prim::KernelKind::reduce;
    bool isUnread = llvm::any_of(fusion->getOpResults(), [](OpResult r) { return r.use_empty(); });
    if (walksFreely && isUnread && !prim::mayReportErrors(fusion.getBody().front()))
      keepReadResults(fusion);
  }
  eraseDeadCode(block);
}
