// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/layout/ContractionSide.h"

using namespace mlir;
using namespace accc;
using namespace accc::fusion;

ContractionSide ContractionSide::lhsOf(prim::DotGeneralOp op) {
  return {op.getLhs(), SmallVector<int64_t>(op.getLhsBatch()),
          SmallVector<int64_t>(op.getLhsContracting())};
}

ContractionSide ContractionSide::rhsOf(prim::DotGeneralOp op) {
  return {op.getRhs(), SmallVector<int64_t>(op.getRhsBatch()),
          SmallVector<int64_t>(op.getRhsContracting())};
}

SmallVector<int64_t> ContractionSide::free() const {
  SmallVector<int64_t> result;
  for (int64_t d = 0; d < static_cast<int64_t>(shape().size()); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d))
      result.push_back(d);
  return result;
}

/// The stride of `dimensions` walked as one, in this order; 0 if there is only one step to take,
/// nothing if they do not lie one inside the other.
static std::optional<int64_t> strideOfWalk(ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) {
  int64_t stride = 0, next = 0;
  for (int64_t d : llvm::reverse(dimensions)) {
    if (shape[d] == 1)
      continue;
    int64_t own = ReferenceArray::count(shape.drop_front(d + 1));
    if (stride == 0)
      stride = own;
    else if (own != next)
      return std::nullopt;
    next = own * shape[d];
  }
  return stride;
}

bool ContractionSide::isReadable() const {
  std::optional<int64_t> freeStride = strideOfWalk(shape(), free());
  std::optional<int64_t> innerStride = strideOfWalk(shape(), contracting);
  if (!freeStride || !innerStride)
    return false;
  return freeStride == 1 || innerStride == 1 || (freeStride == 0 && innerStride == 0);
}

bool fusion::isReadable(prim::DotGeneralOp op) {
  ContractionSide rhs = ContractionSide::rhsOf(op), panel = rhs;
  if (SmallVector<int64_t> free = rhs.free(); !free.empty())
    panel.batch.push_back(free.front());
  return ContractionSide::lhsOf(op).isReadable() && (rhs.isReadable() || panel.isReadable());
}

Value fusion::createContraction(OpBuilder &builder, Location loc, const ContractionSide &lhs,
                                const ContractionSide &rhs) {
  return builder.create<prim::DotGeneralOp>(loc, lhs.value, rhs.value, lhs.batch, rhs.batch,
                                            lhs.contracting, rhs.contracting);
}
