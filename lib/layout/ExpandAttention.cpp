// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout/Passes.h"
#include "support/DeadCode.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_EXPANDATTENTIONPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

namespace {

struct ExpandAttentionPass
    : TargetedPass<accc::impl::ExpandAttentionPassBase<ExpandAttentionPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<Operation *> expanded;
    auto find = [&](AttentionLike op) {
      if (!getTarget().runsInLibrary(op))
        expanded.push_back(op);
    };
    getOperation().walk(find);
    bool isAny = !expanded.empty();
    while (!expanded.empty()) {
      Operation *op = expanded.pop_back_val();
      OpBuilder b(op);
      Operation *before = op->getPrevNode();
      SmallVector<Value> values;
      if (failed(cast<Decomposable>(op).decompose(b, values)))
        return signalPassFailure();
      // Of views it becomes one of tensors.
      for (Operation *made = op->getPrevNode(); made != before; made = made->getPrevNode())
        if (auto attention = dyn_cast<AttentionLike>(made))
          find(attention);
      op->replaceAllUsesWith(values);
      op->erase();
    }
    if (isAny) // a gradient has more parts than somebody may read
      eraseDeadCode(getOperation().front());
  }
};

} // namespace
