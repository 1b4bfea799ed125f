// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!elements || elements.empty() || elements.isSplat() || elements.getElementType().isInteger(1))
    return std::nullopt;
  // The second element along that dimension is the only one next to the first that is 1.
  ArrayRef<int64_t> shape = elements.getType().getShape();
  auto values = elements.getValues<APInt>();
  int64_t count = elements.getNumElements(), stride = count;
  for (unsigned d = 0; d < shape.size(); ++d) {
    stride /= shape[d];
    if (shape[d] == 1 || values[static_cast<uint64_t>(stride)] != 1)
      continue;
    for (auto [i, value] : llvm::enumerate(values))
      if (value.getActiveBits() > 63 || value.getZExtValue() != i / static_cast<uint64_t>(stride) %
                                                                    static_cast<uint64_t>(shape[d]))
        return std::nullopt;
    return d;
  }
  return std::nullopt;
}

/// Whether what reads the value becomes a kernel: neither a library nor the caller does.
bool isReadByKernels(Value value, const Target &target) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<prim::ReshapeOp>(user))
      return isReadByKernels(user->getResult(0), target);
    return !user->hasTrait<OpTrait::IsTerminator>() && !target.runsInLibrary(user) &&
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
      if (!dimension || !isReadByKernels(op, getTarget()))
        continue;
      OpBuilder builder(op);
      auto type = cast<RankedTensorType>(op.getType());
      op.replaceAllUsesWith(Value(prim::iota(builder, op.getLoc(), type, *dimension)));
      op.erase();
    }
  }
};

} // namespace
