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

/// Indices as they were, and the elements of the data whose lines are sorted each by itself, or 0.
using SortedBy = std::pair<Value, int64_t>;

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
      if (places && places->isPermutation()) {
        op.setUniqueIndices(true);
        continue;
      }
      bool known = findKnownIndices(op.getIndices()) != nullptr;
      bool byLines = places && !known && data.size() == 1 && sortsLines(op, *places);
      if (!getTarget().sortsUpdates(rows * ShapedType::getNumElements(data.take_front(axis)),
                                    updates, byLines ? places->updates() : updates, known))
        continue;
      if (byLines)
        sortLines(op, *places);
      else
        sortUpdates(op);
    }
  }

private:
  /// Whether lines may be sorted each by itself. A place outside of its line would be one of
  /// another's then, which nobody would report.
  bool sortsLines(prim::ScatterOp op, const PlacesInLines &places) const {
    std::optional<int64_t> most = getTarget().getMaxSortedElements(sizeof(int64_t));
    return most && places.updates() <= *most && !(places.mayBeOutside && !reportsElsewhere(op));
  }

  const Sorted &sortOnce(Value indices) {
    auto [it, isNew] = sorted.try_emplace(SortedBy(indices, 0));
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

  /// Indices into data whose lines lie one behind the other, and places in updates that do.
  const Sorted &sortLinesOnce(Value indices, int64_t elements, const PlacesInLines &places) {
    auto [it, isNew] = sorted.try_emplace(SortedBy(indices, elements));
    if (!isNew)
      return it->second;
    OpBuilder builder(indices.getContext());
    builder.setInsertionPointAfterValue(indices);
    Tensor lines = byLine(Tensor(builder, indices.getLoc(), places.place), places);
    if (places.extent() <= std::numeric_limits<int32_t>::max())
      lines = lines.convert(builder.getI32Type());
    auto sort = builder.create<prim::SortOp>(indices.getLoc(), lines,
                                             /*dimension=*/lines.rank() - 1, /*descending=*/false);
    SmallVector<int64_t> extents; // of the data's lines
    for (const PlacesInLines::Dimension &dimension : places.data)
      if (dimension.from)
        extents.push_back(dimension.extent);
    auto inLines = [&](Value inLine, int64_t length, ArrayRef<int64_t> extents) {
      Tensor index = lines.wrap(inLine).convert(builder.getI64Type());
      for (size_t d = extents.size(); d-- > 0; length *= extents[d])
        index =
            index + prim::iota(builder, indices.getLoc(), index.type(), static_cast<int64_t>(d)) *
                        index.full(static_cast<double>(length));
      return Value(index.reshape({index.size()}));
    };
    return it->second = {inLines(sort.getValues(), places.extent(), extents),
                         inLines(sort.getIndices(), lines.dim(-1), lines.shape().drop_back())};
  }

  void sortLines(prim::ScatterOp op, const PlacesInLines &places) {
    OpBuilder builder(op);
    Tensor data(builder, op.getLoc(), op.getData()), updates = data.wrap(op.getUpdates());
    const Sorted &by = sortLinesOnce(op.getIndices(), data.size(), places);
    SmallVector<int64_t> extents, toLines; // the places' dimension last
    int64_t along = 0;
    for (auto [d, dimension] : llvm::enumerate(places.data)) {
      extents.push_back(dimension.extent);
      if (dimension.from)
        toLines.push_back(static_cast<int64_t>(d));
      else
        along = static_cast<int64_t>(d);
    }
    toLines.push_back(along);
    Tensor ordered = byLine(updates.reshape(data.wrap(places.place).shape()), places);
    ordered = ordered.reshape({ordered.size()}).gather(data.wrap(by.order), 0);
    Tensor lines = data.reshape(extents).transpose(toLines);
    SmallVector<int64_t> moved(lines.shape()), back(toLines.size());
    for (auto [to, from] : llvm::enumerate(toLines))
      back[static_cast<size_t>(from)] = static_cast<int64_t>(to);
    Value result = builder.create<prim::ScatterOp>(op.getLoc(), lines.reshape({lines.size()}),
                                                   by.indices, ordered, 0, op.getKind(),
                                                   /*indices_are_sorted=*/true,
                                                   /*unique_indices=*/false);
    result = data.wrap(result).reshape(moved).transpose(back).reshape(data.shape());
    op.replaceAllUsesWith(result);
    op.erase();
  }

  DenseMap<SortedBy, Sorted> sorted;
};

} // namespace
