// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/AddedBias.h"
#include "ir/prim/Tensor.h"
#include "support/DeadCode.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// Whether the value is in memory without a kernel that computes it, but for one that rounds it.
bool isInMemory(Value value) {
  while (isa_and_nonnull<prim::ReshapeOp, prim::ConvertOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return isa<BlockArgument>(value);
}

/// The op that alone reads the value, if that rounds it to the type.
prim::ConvertOp onlyRounded(Value value, Type element) {
  auto convert = value.hasOneUse() ? dyn_cast<prim::ConvertOp>(*value.user_begin()) : nullptr;
  return convert && convert.getType().getElementType() == element ? convert : nullptr;
}

/// What was converted from the type; null where nothing was.
Value beforeWidening(Value value, Type element) {
  auto convert = value.getDefiningOp<prim::ConvertOp>();
  return convert && getElementTypeOrSelf(convert.getOperand()) == element ? convert.getOperand()
                                                                          : Value();
}

/// A wide result that is read rounded alone, with a bias of as few bits, is rounded by the library.
void addBias(prim::DotGeneralOp op) {
  std::optional<AddedBias> added = AddedBias::find(op);
  if (!added || !isInMemory(added->row))
    return;
  Value replaced = added->addition, row = added->row;
  bool isWide = op.getWideResult();
  if (isWide) {
    Type narrow = getElementTypeOrSelf(op.getLhs());
    prim::ConvertOp rounded = onlyRounded(replaced, narrow);
    Value before = beforeWidening(row, narrow);
    if (rounded && before) {
      replaced = rounded;
      row = before;
      isWide = false;
    }
  }
  OpBuilder builder(replaced.getDefiningOp()); // the bias may come after the product
  Tensor bias(builder, added->addition.getLoc(), row);
  Tensor result = bias.wrap(builder.create<prim::GemmOp>(
      op.getLoc(), op.getLhs(), op.getRhs(), bias.reshape(added->extents), /*views=*/nullptr,
      op.getLhsBatch(), op.getRhsBatch(), op.getLhsContracting(), op.getRhsContracting(),
      op.getFullPrecision(), isWide));
  replaced.replaceAllUsesWith(
      result.reshape(cast<RankedTensorType>(replaced.getType()).getShape()).get());
}

struct FuseEpiloguesPass : TargetedPass<accc::impl::FuseEpiloguesPassBase<FuseEpiloguesPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<prim::DotGeneralOp> products(getOperation().getOps<prim::DotGeneralOp>());
    for (prim::DotGeneralOp op : products)
      if (getTarget().addsBias(op))
        addBias(op);
    eraseDeadCode(getOperation().front());
  }
};

} // namespace
