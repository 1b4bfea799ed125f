// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x[where(mask)] is x[mask]: no index is needed, and none is scattered at in the backward pass.
#include "frontend/aten/Selection.h"
#include "frontend/common/Fold.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

using Numbers = SmallVector<int64_t>;

/// Whether `predicate` is, for each row of a tensor of this shape, the mask's element.
static bool isMaskOfRows(Value predicate, ArrayRef<int64_t> shape, Value mask) {
  if (auto broadcast = predicate.getDefiningOp<prim::BroadcastOp>()) {
    auto type = cast<RankedTensorType>(broadcast.getOperand().getType());
    if (broadcast.getDimensions().empty() || broadcast.getDimensions().front() != 0 ||
        type.getDimSize(0) != shape.front())
      return false;
    predicate = broadcast.getOperand();
  }
  return isSameMask(predicate, mask);
}

static std::optional<Numbers> coordinatesIn(Value value, Value mask);

static std::optional<Numbers> slicedIn(prim::SliceOp slice, Value mask) {
  std::optional<Numbers> all = coordinatesIn(slice.getOperand(), mask);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(slice.getOperand().getType()).getShape();
  if (!all || shape.size() != 2)
    return std::nullopt;
  Numbers some;
  ArrayRef<int64_t> starts = slice.getStarts(), limits = slice.getLimits(),
                    strides = slice.getStrides();
  for (int64_t i = starts[0]; i < limits[0]; i += strides[0])
    for (int64_t j = starts[1]; j < limits[1]; j += strides[1])
      some.push_back((*all)[static_cast<size_t>(i * shape[1] + j)]);
  return some;
}

static std::optional<Numbers> transposedIn(prim::TransposeOp transpose, Value mask) {
  std::optional<Numbers> all = coordinatesIn(transpose.getOperand(), mask);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(transpose.getOperand().getType()).getShape();
  if (!all || shape.size() != 2)
    return std::nullopt;
  if (transpose.getPermutation().front() == 0)
    return all;
  Numbers turned;
  for (int64_t j = 0; j < shape[1]; ++j)
    for (int64_t i = 0; i < shape[0]; ++i)
      turned.push_back((*all)[static_cast<size_t>(i * shape[1] + j)]);
  return turned;
}

/// The known numbers that a value is made of where the mask is true, if nothing was computed with
/// them: they are only in other places.
static std::optional<Numbers> coordinatesIn(Value value, Value mask) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<prim::SelectOp>(op)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    DenseElementsAttr known = knownValue(select.getOnTrue());
    if (!known || shape.empty() || !isMaskOfRows(select.getPredicate(), shape, mask))
      return std::nullopt;
    return Numbers(llvm::map_range(known.getValues<APInt>(),
                                   [](const APInt &number) { return number.getSExtValue(); }));
  }
  if (auto reshape = dyn_cast_or_null<prim::ReshapeOp>(op))
    return coordinatesIn(reshape.getOperand(), mask);
  if (auto slice = dyn_cast_or_null<prim::SliceOp>(op))
    return slicedIn(slice, mask);
  if (auto transpose = dyn_cast_or_null<prim::TransposeOp>(op))
    return transposedIn(transpose, mask);
  return std::nullopt;
}

bool accc::aten::arePlaces(const SelectedCall &call, ArrayRef<Selection> columns) {
  Value mask = columns.front().mask;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(mask.getType()).getShape();
  if (columns.size() != shape.size())
    return false;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    if (columns[d].rank() != 1)
      return false;
    std::optional<Numbers> found = coordinatesIn(call.read(columns[d].elements), mask);
    if (!found)
      return false;
    for (auto [i, number] : llvm::enumerate(*found))
      if (number != static_cast<int64_t>(i) / stride % shape[d])
        return false;
  }
  return true;
}
