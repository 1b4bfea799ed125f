// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Counts.h"
#include "fusion/Passes.h"
#include "ir/prim/Tensor.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_COMPUTECOUNTSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

namespace {

/// The dimension along which the constant's elements are their index.
std::optional<unsigned> dimensionOfCount(prim::ConstantOp op) {
  std::optional<SmallVector<int64_t>> steps = stepsOf(op);
  auto isStep = [](int64_t step) { return step != 0; };
  if (!steps || llvm::count_if(*steps, isStep) != 1)
    return std::nullopt;
  const auto *step = llvm::find_if(*steps, isStep);
  return *step == 1 ? std::optional(static_cast<unsigned>(step - steps->begin())) : std::nullopt;
}

/// Whether what reads the value becomes a kernel: neither a library nor the caller does.
bool isReadByKernels(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<prim::ReshapeOp>(user))
      return isReadByKernels(user->getResult(0));
    return !user->hasTrait<OpTrait::IsTerminator>() && !prim::isCall(user) &&
           !isa<prim::OptimizationBarrierOp>(user);
  });
}

struct ComputeCountsPass : TargetedPass<accc::impl::ComputeCountsPassBase<ComputeCountsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    if (!getTarget().computesCounts())
      return;
    SmallVector<prim::ConstantOp> constants(getOperation().front().getOps<prim::ConstantOp>());
    for (prim::ConstantOp op : constants) {
      std::optional<unsigned> dimension = dimensionOfCount(op);
      if (!dimension || !isReadByKernels(op))
        continue;
      OpBuilder builder(op);
      auto type = cast<RankedTensorType>(op.getType());
      op.replaceAllUsesWith(Value(prim::iota(builder, op.getLoc(), type, *dimension)));
      op.erase();
    }
  }
};

} // namespace
