// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "ir/prim/Tensor.h"
#include "transforms/Passes.h"

namespace accc {
#define GEN_PASS_DEF_FORMATTENTIONPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

bool isWhole(nn::AttentionOp op) {
  return !op.getMask() && op.getSoftcap() <= 0.0 && op.getK().getType().getDimSize(2) > 0 &&
         op.getQ().getType().getDimSize(3) > 0;
}

void form(nn::AttentionOp op) {
  OpBuilder b(op);
  auto positionsFirst = [&](Value heads) {
    return Tensor(b, op.getLoc(), heads).transpose({0, 2, 1, 3});
  };
  auto made = b.create<prim::AttentionOp>(
      op.getLoc(), positionsFirst(op.getQ()), positionsFirst(op.getK()), positionsFirst(op.getV()),
      b.getF64FloatAttr(op.getScale()), b.getBoolAttr(op.getCausal()));
  op.replaceAllUsesWith(positionsFirst(made.getResult()).get());
  op.erase();
}

struct FormAttentionPass : accc::impl::FormAttentionPassBase<FormAttentionPass> {
  void runOnOperation() override {
    getOperation().walk([](nn::AttentionOp op) {
      if (isWhole(op))
        form(op);
    });
  }
};

} // namespace
