// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/StridedView.h"

#include "ir/prim/Prim.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace accc::prim;

StridedView StridedView::all(ArrayRef<int64_t> shape) {
  return {SmallVector<int64_t>(shape), computeSuffixProduct(shape)};
}

std::optional<StridedView> StridedView::of(MemRefType type) {
  StridedView view;
  if (!type.hasStaticShape() || failed(getStridesAndOffset(type, view.strides, view.offset)) ||
      view.offset < 0 || llvm::any_of(view.strides, [](int64_t stride) { return stride < 0; }))
    return std::nullopt;
  view.shape = llvm::to_vector(type.getShape());
  return view;
}

MemRefType StridedView::type(Type elementType) const {
  return MemRefType::get(shape, elementType,
                         StridedLayoutAttr::get(elementType.getContext(), offset, strides));
}

std::optional<StridedView> StridedView::within(RankedTensorType whole, Attribute said) {
  auto attribute = dyn_cast<TypeAttr>(said);
  auto type = attribute ? dyn_cast<MemRefType>(attribute.getValue()) : MemRefType();
  std::optional<StridedView> view = type ? of(type) : std::nullopt;
  if (!view || type.getElementType() != whole.getElementType() ||
      llvm::is_contained(view->shape, 0) || view->last() >= whole.getNumElements())
    return std::nullopt;
  return view;
}

StridedView StridedView::at(ArrayAttr views, size_t i) {
  return *of(cast<MemRefType>(cast<TypeAttr>(views[i]).getValue()));
}

int64_t StridedView::elements() const { return computeProduct(shape); }

int64_t StridedView::last() const {
  int64_t place = offset;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides))
    place += (extent - 1) * stride;
  return place;
}

StridedView StridedView::transposed(ArrayRef<int64_t> permutation) const {
  return {applyPermutation(ArrayRef<int64_t>(shape), permutation),
          applyPermutation(ArrayRef<int64_t>(strides), permutation), offset};
}

std::optional<StridedView> StridedView::reshaped(ArrayRef<int64_t> to) const {
  // Neighbours that are walked as one, by the stride of the inner one.
  struct Run {
    int64_t extent, stride;
  };
  SmallVector<Run> runs;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    if (extent == 1)
      continue;
    if (!runs.empty() && runs.back().stride == extent * stride)
      runs.back() = {runs.back().extent * extent, stride};
    else
      runs.push_back({extent, stride});
  }
  StridedView result = {SmallVector<int64_t>(to), SmallVector<int64_t>(to.size(), 1), offset};
  // From the innermost, whose stride that of the next is a multiple of. One of extent 1 is walked
  // as if it had another element behind the whole of the inner ones.
  int64_t inner = 1, next = 1;
  for (size_t d = to.size(); d-- > 0;) {
    if (to[d] != 1 && inner == 1) {
      if (runs.empty())
        return std::nullopt;
      inner = runs.back().extent, next = runs.back().stride;
      runs.pop_back();
    }
    if (to[d] == 0 || inner % to[d] != 0)
      return std::nullopt;
    inner /= to[d];
    result.strides[d] = next;
    next *= to[d];
  }
  return result;
}

std::optional<StridedView> StridedView::sliced(ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                                               ArrayRef<int64_t> steps) const {
  StridedView result = *this;
  for (auto [d, start, limit, step] : llvm::enumerate(starts, limits, steps)) {
    if (limit <= start)
      return std::nullopt;
    result.offset += start * strides[d];
    result.shape[d] = (limit - start + step - 1) / step;
    result.strides[d] *= step;
  }
  return result;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

std::optional<StridedView> StridedView::through(Operation *view) const {
  if (auto transpose = dyn_cast<TransposeOp>(view))
    return transposed(transpose.getPermutation());
  if (auto reshape = dyn_cast<ReshapeOp>(view))
    return reshaped(shapeOf(reshape.getResult()));
  if (auto slice = dyn_cast<SliceOp>(view))
    return sliced(slice.getStarts(), slice.getLimits(), slice.getStrides());
  return std::nullopt;
}

std::optional<StridedView> StridedView::before(Operation *view) const {
  if (auto transpose = dyn_cast<TransposeOp>(view))
    return transposed(invertPermutationVector(transpose.getPermutation()));
  if (auto reshape = dyn_cast<ReshapeOp>(view))
    return reshaped(shapeOf(reshape->getOperand(0)));
  return std::nullopt;
}

ViewOf accc::prim::furthestView(Value value) {
  SmallVector<Operation *> chain; // the last one first
  for (Operation *op = value.getDefiningOp(); isa_and_nonnull<TransposeOp, ReshapeOp, SliceOp>(op);
       op = op->getOperand(0).getDefiningOp())
    chain.push_back(op);
  for (auto rest = ArrayRef(chain); !rest.empty(); rest = rest.drop_back()) {
    Value tensor = rest.back()->getOperand(0);
    std::optional<StridedView> view = StridedView::all(shapeOf(tensor));
    for (Operation *op : llvm::reverse(rest))
      if (view)
        view = view->through(op);
    if (view)
      return {tensor, *view};
  }
  return {value, StridedView::all(shapeOf(value))};
}
