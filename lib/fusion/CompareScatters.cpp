// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "fusion/PlacesInLines.h"
#include "ir/prim/Tensor.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_COMPARESCATTERSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// byLine(), filled up with zeros to the data's extents: there, nothing is added at any place.
Tensor inWholeLines(Tensor x, const PlacesInLines &places) {
  x = byLine(x, places);
  SmallVector<int64_t> high;
  for (const PlacesInLines::Dimension &dimension : places.data)
    if (dimension.from)
      high.push_back(dimension.extent - x.dim(static_cast<int64_t>(high.size())));
  high.push_back(0);
  if (llvm::all_of(high, [](int64_t more) { return more == 0; }))
    return x;
  return x.pad(0.0, SmallVector<int64_t>(high.size(), 0), high);
}

/// What the scatter adds to each element of the data: the updates whose place that is.
Tensor additions(Tensor indices, Tensor updates, const PlacesInLines &places) {
  Tensor place = indices.wrap(places.place);
  updates = inWholeLines(updates.reshape(place.shape()), places);
  place = inWholeLines(place, places);
  if (places.extent() <= std::numeric_limits<int32_t>::max())
    place = place.convert(IntegerType::get(place.type().getContext(), 32));
  // [data..., updates of a line], or without the last where there is one.
  SmallVector<int64_t> shape, along;
  for (auto [d, dimension] : llvm::enumerate(places.data)) {
    shape.push_back(dimension.extent);
    if (!dimension.from)
      along.push_back(static_cast<int64_t>(d));
  }
  int64_t count = place.dim(-1), line = along.front();
  shape.push_back(count);
  if (count == 1) {
    shape.pop_back();
    place = place.reshape(place.shape().drop_back());
    updates = updates.reshape(updates.shape().drop_back());
  }
  place = place.broadcastAlong(shape, along);
  Tensor here = prim::iota(place.getBuilder(), place.getLoc(), place.type(), line);
  Tensor found = prim::select(equal(here, place), updates.broadcastAlong(shape, along), 0.0);
  return count == 1 ? found : prim::sum(found, {static_cast<int64_t>(places.data.size())});
}

struct CompareScattersPass
    : TargetedPass<accc::impl::CompareScattersPassBase<CompareScattersPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<prim::ScatterOp> scatters;
    getOperation().walk([&](prim::ScatterOp op) { scatters.push_back(op); });
    for (prim::ScatterOp op : scatters) {
      auto type = cast<RankedTensorType>(op.getData().getType());
      if (op.getKind() != prim::ScatterKind::add || type.getRank() != 1)
        continue;
      std::optional<PlacesInLines> places = findPlaces(op.getIndices(), type.getNumElements());
      if (!places || places->isPermutation() || (places->mayBeOutside && !reportsElsewhere(op)) ||
          places->updates() > getTarget().getMaxComparedUpdates())
        continue;
      OpBuilder builder(op);
      Tensor data(builder, op.getLoc(), op.getData());
      Tensor added = additions(data.wrap(op.getIndices()), data.wrap(op.getUpdates()), *places);
      added = added.reshape(data.shape());
      op.replaceAllUsesWith(Value(prim::splatNumber(data) == 0.0 ? added : data + added));
      op.erase();
    }
  }
};

} // namespace
