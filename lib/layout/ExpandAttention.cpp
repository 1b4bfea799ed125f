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
    getOperation().walk([&](AttentionLike op) {
      if (!getTarget().runsInLibrary(op))
        expanded.push_back(op);
    });
    for (Operation *op : expanded) {
      OpBuilder b(op);
      SmallVector<Value> values;
      if (failed(cast<Decomposable>(op).decompose(b, values)))
        return signalPassFailure();
      op->replaceAllUsesWith(values);
      op->erase();
    }
    if (!expanded.empty()) // a gradient has more parts than somebody may read
      eraseDeadCode(getOperation().front());
  }
};

} // namespace
