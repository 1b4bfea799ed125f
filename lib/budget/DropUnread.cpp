// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/DropUnread.h"

#include "ir/prim/Prim.h"
#include "support/DeadCode.h"

#include "mlir/IR/IRMapping.h"

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
  llvm::SetVector<Value> read;
  SmallVector<Value> pending(yielded);
  while (!pending.empty()) {
    Value inside = pending.pop_back_val();
    if (isa<BlockArgument>(inside))
      read.insert(inside);
    else if (needed.insert(inside.getDefiningOp()).second)
      llvm::append_range(pending, inside.getDefiningOp()->getOperands());
  }
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (needed.contains(&op))
      ops.push_back(&op);
  SmallVector<Value> inputs;
  for (Value argument : read)
    inputs.push_back(fusion.getInputs()[cast<BlockArgument>(argument).getArgNumber()]);
  SmallVector<Type> types;
  for (OpResult result : kept)
    types.push_back(result.getType());
  auto made = b.create<prim::FusionOp>(fusion.getLoc(), types, inputs, prim::kernelKind(ops),
                                       fusion.getName(), prim::KernelSpecAttr());
  Block &block = made.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value argument : read)
    mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&block);
  for (Operation *op : ops)
    inner.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value value : yielded)
    results.push_back(mapping.lookup(value));
  inner.create<prim::YieldOp>(fusion.getLoc(), results);
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
