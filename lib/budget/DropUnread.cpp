// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/DropUnread.h"

#include "budget/PartOfKernel.h"
#include "ir/prim/KernelReductions.h"
#include "ir/prim/Pieces.h"
#include "support/DeadCode.h"

using namespace mlir;
using namespace accc;

/// Whether these results are a kernel's: each an element of the iteration space, or of what its
/// reductions keep of that.
static bool walkOneSpace(ArrayRef<Operation *> ops, ArrayRef<Value> results) {
  SmallVector<prim::ReduceOp> all;
  for (Operation *op : ops)
    if (auto reduction = dyn_cast<prim::ReduceOp>(op))
      all.push_back(reduction);
  std::optional<prim::KernelReductions> reductions = prim::sortReductions(all);
  if (!reductions || (reductions->rows.empty() && !all.empty()))
    return false;
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  SmallVector<int64_t> space(prim::spaceOf(results));
  std::optional<ArrayRef<int64_t>> kept;
  if (!all.empty()) {
    space = SmallVector<int64_t>(shapeOf(reductions->rows.front().getOperand()));
    kept = shapeOf(reductions->rows.front().getResult());
  }
  return llvm::all_of(results, [&](Value result) {
    return reductions->isColumn(result) || prim::isWalkedOver(result, space) ||
           kept == shapeOf(result);
  });
}

/// `fusion` with the results that are read only; as it is where that would be no kernel.
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
  if (!walkOneSpace(ops, yielded))
    return;
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
