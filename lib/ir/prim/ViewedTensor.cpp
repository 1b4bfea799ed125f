// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/ViewedTensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

// ---- as a tensor ----

/// Where the view's elements are in the whole.
static Tensor placesOf(OpBuilder &builder, Location loc, const StridedView &view) {
  auto type = RankedTensorType::get(view.shape, builder.getI64Type());
  Tensor places = full(builder, loc, type, static_cast<double>(view.offset));
  for (auto [d, stride] : llvm::enumerate(view.strides))
    places =
        places + iota(builder, loc, type, static_cast<int64_t>(d)) * static_cast<double>(stride);
  return places;
}

Tensor prim::viewed(OpBuilder &builder, Location loc, Value whole, const StridedView &view) {
  Tensor flat(builder, loc, whole);
  return flat.reshape({flat.type().getNumElements()}).gather(placesOf(builder, loc, view), 0);
}

Tensor prim::put(Tensor whole, Tensor part, const StridedView &view) {
  OpBuilder &builder = whole.getBuilder();
  Tensor flat = whole.reshape({whole.type().getNumElements()});
  return flat.scatter(placesOf(builder, whole.getLoc(), view), part, 0, ScatterKind::set)
      .reshape(whole.shape());
}

// ---- as numbers ----

static size_t placeOf(const StridedView &view, ArrayRef<int64_t> index) {
  int64_t place = view.offset;
  for (auto [i, stride] : llvm::zip_equal(index, view.strides))
    place += i * stride;
  return static_cast<size_t>(place);
}

ReferenceArray prim::viewed(const ReferenceArray &whole, const StridedView &view) {
  ReferenceArray result(view.shape);
  ReferenceArray::forEachIndex(view.shape, [&](ArrayRef<int64_t> index) {
    result.at(index) = whole.values[placeOf(view, index)];
  });
  return result;
}

void prim::put(ReferenceArray &whole, const ReferenceArray &part, const StridedView &view) {
  ReferenceArray::forEachIndex(view.shape, [&](ArrayRef<int64_t> index) {
    whole.values[placeOf(view, index)] = part.at(index);
  });
}
