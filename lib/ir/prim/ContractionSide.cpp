// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/ContractionSide.h"

#include "ir/prim/MergedDimensions.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

static std::optional<StridedView> viewOf(MatrixProduct op, size_t side) {
  auto gemm = dyn_cast<GemmOp>(*op);
  ArrayAttr views = gemm ? gemm.getViewsAttr() : ArrayAttr();
  return views ? std::optional(StridedView::at(views, side)) : std::nullopt;
}

ContractionSide ContractionSide::lhsOf(MatrixProduct op) {
  return {op.getLhs(), SmallVector<int64_t>(op.getLhsBatch()),
          SmallVector<int64_t>(op.getLhsContracting()), viewOf(op, 0)};
}

ContractionSide ContractionSide::rhsOf(MatrixProduct op) {
  return {op.getRhs(), SmallVector<int64_t>(op.getRhsBatch()),
          SmallVector<int64_t>(op.getRhsContracting()), viewOf(op, 1)};
}

SmallVector<int64_t> ContractionSide::free() const {
  SmallVector<int64_t> result;
  for (int64_t d = 0; d < static_cast<int64_t>(shape().size()); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d))
      result.push_back(d);
  return result;
}

bool ContractionSide::isReadable() const {
  StridedView lies = view.value_or(StridedView::all(shape()));
  auto outer = prim::mergeDimensions(lies, free());
  auto inner = prim::mergeDimensions(lies, contracting);
  if (!outer || !inner)
    return false;
  if (outer->extent == 1 || inner->extent == 1) // a vector; of one element it may lie anywhere
    return outer->extent == 1 ? inner->stride == 1 : outer->stride == 1;
  return outer->stride == 1 || inner->stride == 1;
}

bool prim::isReadable(MatrixProduct op) {
  ContractionSide rhs = ContractionSide::rhsOf(op), panel = rhs;
  if (SmallVector<int64_t> free = rhs.free(); !free.empty())
    panel.batch.push_back(free.front());
  return ContractionSide::lhsOf(op).isReadable() && (rhs.isReadable() || panel.isReadable());
}

Value prim::createContraction(OpBuilder &builder, MatrixProduct op, const ContractionSide &lhs,
                              const ContractionSide &rhs) {
  return builder.create<prim::DotGeneralOp>(op.getLoc(), lhs.value, rhs.value, lhs.batch, rhs.batch,
                                            lhs.contracting, rhs.contracting, op.getFullPrecision(),
                                            op.getWideResult());
}
