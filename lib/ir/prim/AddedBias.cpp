// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/AddedBias.h"

#include "ir/prim/ContractionSide.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The extents of the product's columns: the free ones of its right operand.
SmallVector<int64_t> columnExtents(DotGeneralOp op) {
  ContractionSide rhs = ContractionSide::rhsOf(op);
  return llvm::map_to_vector(rhs.free(), [&](int64_t d) { return rhs.shape()[d]; });
}

/// The addition that alone reads the product, perhaps as another shape.
AddOp onlyReader(Value product) {
  while (product.hasOneUse()) {
    Operation *user = *product.user_begin();
    if (!isa<ReshapeOp>(user))
      return dyn_cast<AddOp>(user);
    product = user->getResult(0);
  }
  return {};
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

} // namespace

std::optional<AddedBias> AddedBias::find(DotGeneralOp product) {
  AddOp add = onlyReader(product.getResult());
  if (!add)
    return std::nullopt;
  SmallVector<int64_t> extents = columnExtents(product);
  for (Value summand : add->getOperands())
    if (Value row = rowOf(summand, ReferenceArray::count(extents)))
      return AddedBias{add, row, extents};
  return std::nullopt;
}
