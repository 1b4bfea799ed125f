// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/KnownIndices.h"
#include "fusion/Passes.h"
#include "fusion/PlacesInLines.h"
#include "ir/prim/Tensor.h"
#include "target/TargetedPass.h"

#include <numeric>

namespace accc {
#define GEN_PASS_DEF_SORTSCATTERSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// Indices in ascending order [n], and the place that each had before.
struct Sorted {
  Value indices;
  Value order; // null: the same
};

Sorted sortKnown(DenseIntElementsAttr elements, Tensor like) {
  SmallVector<APInt> values(elements.getValues<APInt>());
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    return values[i] == values[j] ? i < j : values[i].slt(values[j]);
  });
  auto constant = [&](Attribute attribute) {
    return like.getBuilder().create<prim::ConstantOp>(like.getLoc(), cast<ElementsAttr>(attribute));
  };
  SmallVector<APInt> sorted;
  for (int64_t i : order)
    sorted.push_back(values[i]);
  auto count = static_cast<int64_t>(order.size());
  Value indices = constant(
      DenseIntElementsAttr::get(RankedTensorType::get({count}, elements.getElementType()), sorted));
  if (llvm::is_sorted(order))
    return {indices, nullptr};
  auto type = RankedTensorType::get({count}, like.getBuilder().getI64Type());
  return {indices, constant(DenseIntElementsAttr::get(type, ArrayRef<int64_t>(order)))};
}

struct SortScattersPass : TargetedPass<accc::impl::SortScattersPassBase<SortScattersPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    sorted.clear();
    SmallVector<prim::ScatterOp> scatters;
    getOperation().walk([&](prim::ScatterOp op) { scatters.push_back(op); });
    for (prim::ScatterOp op : scatters) {
      auto updates = cast<RankedTensorType>(op.getIndices().getType()).getNumElements();
      ArrayRef<int64_t> data = cast<RankedTensorType>(op.getData().getType()).getShape();
      auto axis = static_cast<size_t>(op.getAxis());
      int64_t rows = data[axis];
      if (op.getIndicesAreSorted())
        continue;
      std::optional<PlacesInLines> places = findPlaces(op.getIndices(), rows);
      if (places && places->isPermutation())
        op.setUniqueIndices(true);
      else if (getTarget().sortsUpdates(rows * ShapedType::getNumElements(data.take_front(axis)),
                                        updates, findKnownIndices(op.getIndices()) != nullptr))
        sortUpdates(op);
    }
  }

private:
  const Sorted &sortOnce(Value indices) {
    auto [it, isNew] = sorted.try_emplace(indices);
    if (!isNew)
      return it->second;
    OpBuilder builder(indices.getContext());
    builder.setInsertionPointAfterValue(indices);
    Tensor all(builder, indices.getLoc(), indices);
    if (DenseIntElementsAttr known = findKnownIndices(indices))
      return it->second = sortKnown(known, all);
    auto sort = builder.create<prim::SortOp>(indices.getLoc(), all.reshape({all.size()}),
                                             /*dimension=*/0, /*descending=*/false);
    return it->second = {sort.getValues(), sort.getIndices()};
  }

  void sortUpdates(prim::ScatterOp op) {
    const Sorted &by = sortOnce(op.getIndices());
    OpBuilder builder(op);
    Tensor data(builder, op.getLoc(), op.getData()), updates = data.wrap(op.getUpdates());
    auto axis = static_cast<int64_t>(op.getAxis());
    SmallVector<int64_t> shape(data.shape());
    shape[axis] = data.wrap(by.indices).size();
    Tensor ordered = updates.reshape(shape);
    if (by.order)
      ordered = ordered.gather(data.wrap(by.order), axis);
    op.replaceAllUsesWith(Value(builder.create<prim::ScatterOp>(op.getLoc(), data, by.indices,
                                                                ordered, op.getAxis(), op.getKind(),
                                                                /*indices_are_sorted=*/true,
                                                                /*unique_indices=*/false)));
    op.erase();
  }

  DenseMap<Value, Sorted> sorted; // by the indices as they were
};

} // namespace
