// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/ContractionSide.h"
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

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The extents of the product's columns: the free ones of its right operand.
SmallVector<int64_t> columnExtents(prim::DotGeneralOp op) {
  ContractionSide rhs = ContractionSide::rhsOf(op);
  return llvm::map_to_vector(rhs.free(), [&](int64_t d) { return rhs.shape()[d]; });
}

/// The addition that alone reads the product, perhaps as another shape.
prim::AddOp onlyReader(Value product) {
  while (product.hasOneUse()) {
    Operation *user = *product.user_begin();
    if (!isa<prim::ReshapeOp>(user))
      return dyn_cast<prim::AddOp>(user);
    product = user->getResult(0);
  }
  return {};
}

/// Whether the value is in memory without a kernel that computes it.
bool isInMemory(Value value) {
  while (auto reshape = value.getDefiningOp<prim::ReshapeOp>())
    value = reshape.getOperand();
  return isa<BlockArgument>(value);
}

/// What `value` repeats along its outer dimensions, if that is as many elements as the inner ones
/// have, which are the `columns` of a product.
Value rowOf(Value value, int64_t columns) {
  auto broadcast = value.getDefiningOp<prim::BroadcastOp>();
  if (!broadcast)
    return {};
  Value row = broadcast.getOperand();
  int64_t first = static_cast<int64_t>(shapeOf(value).size()), inner = 1;
  while (first > 0 && inner < columns)
    inner *= shapeOf(value)[--first];
  if (inner != columns || ReferenceArray::count(shapeOf(row)) != columns)
    return {};
  for (auto [extent, d] : llvm::zip(shapeOf(row), broadcast.getDimensions()))
    if (extent != 1 && d < first)
      return {};
  return row;
}

void addBias(prim::DotGeneralOp op) {
  prim::AddOp add = onlyReader(op.getResult());
  if (!add)
    return;
  SmallVector<int64_t> extents = columnExtents(op);
  for (Value summand : add->getOperands()) {
    Value row = rowOf(summand, ReferenceArray::count(extents));
    if (!row || !isInMemory(row))
      continue;
    OpBuilder builder(add); // the bias may come after the product
    Tensor bias(builder, add.getLoc(), row);
    Tensor result = bias.wrap(builder.create<prim::DotGeneralBiasOp>(
        op.getLoc(), op.getLhs(), op.getRhs(), bias.reshape(extents), op.getLhsBatch(),
        op.getRhsBatch(), op.getLhsContracting(), op.getRhsContracting(), op.getFullPrecision()));
    add.replaceAllUsesWith(result.reshape(shapeOf(add.getResult())).get());
    return;
  }
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
