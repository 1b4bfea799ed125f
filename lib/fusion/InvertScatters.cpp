// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/KnownIndices.h"
#include "fusion/Passes.h"
#include "ir/prim/Infer.h"
#include "ir/prim/Tensor.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_INVERTSCATTERSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// The updates of each row, in their order.
using Inverse = std::vector<SmallVector<int32_t, 2>>;

/// Nothing where an index is out of range.
std::optional<Inverse> invert(DenseIntElementsAttr indices, int64_t rows) {
  Inverse inverse(rows);
  for (auto [i, index] : llvm::enumerate(indices.getValues<APInt>())) {
    int64_t row = index.getSExtValue();
    if (row < 0 || row >= rows)
      return std::nullopt;
    inverse[row].push_back(static_cast<int32_t>(i));
  }
  return inverse;
}

int64_t mostUpdates(const Inverse &inverse) {
  size_t most = 0;
  for (const auto &updates : inverse)
    most = std::max(most, updates.size());
  return static_cast<int64_t>(most);
}

/// The updates that rows get, as gathers.
class Gathers {
public:
  /// `updates`: one for each index along `axis`, of the data's shape otherwise.
  Gathers(const Inverse &inverse, Tensor updates, int64_t axis)
      : updates(updates), axis(axis), most(mostUpdates(inverse)),
        rows(static_cast<int64_t>(inverse.size())) {
    SmallVector<int32_t> counts, places(most * rows, 0);
    for (auto [row, those] : llvm::enumerate(inverse)) {
      counts.push_back(static_cast<int32_t>(those.size()));
      for (auto [i, update] : llvm::enumerate(those))
        places[static_cast<int64_t>(i) * rows + static_cast<int64_t>(row)] = update;
    }
    least = *llvm::min_element(counts);
    count = constant(counts, {rows});
    place = constant(places, {most, rows});
  }

  int64_t size() const { return most; }
  /// Of each row the update number `i`, and what `other` has where a row has fewer.
  Tensor get(int64_t i, Tensor other) const {
    Tensor places = updates.wrap(place).sliceDim(0, i, i + 1).reshape({rows});
    Tensor found = updates.gather(places, axis);
    if (i < least)
      return found;
    Tensor counts = updates.wrap(count).broadcast(found.shape(), {axis});
    return prim::select(counts > static_cast<double>(i), found, other);
  }
  /// The sums of the rows' updates, as one reduction.
  Tensor sum() const {
    Tensor all = updates.gather(updates.wrap(place).reshape({most * rows}), axis);
    SmallVector<int64_t> shape(all.shape());
    shape[axis] = rows;
    shape.insert(shape.begin() + axis, most);
    all = all.reshape(shape);
    if (least < most) {
      Tensor counts = updates.wrap(count).broadcast(shape, {axis + 1});
      Tensor number = prim::iota(all.getBuilder(), all.getLoc(), prim::tensorType(counts), axis);
      all = prim::select(number < counts, all, 0.0);
    }
    return prim::reduce(prim::ReduceKind::sum, all, {axis});
  }

private:
  Value constant(ArrayRef<int32_t> elements, ArrayRef<int64_t> shape) const {
    OpBuilder &b = updates.getBuilder();
    return b.create<prim::ConstantOp>(updates.getLoc(),
                                      cast<ElementsAttr>(DenseIntElementsAttr::get(
                                          RankedTensorType::get(shape, b.getI32Type()), elements)));
  }

  Tensor updates;
  int64_t axis, most, rows;
  int64_t least; // that a row gets
  Value count, place;
};

struct InvertScattersPass : TargetedPass<accc::impl::InvertScattersPassBase<InvertScattersPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<prim::ScatterOp> scatters;
    getOperation().walk([&](prim::ScatterOp op) { scatters.push_back(op); });
    for (prim::ScatterOp op : scatters)
      if (std::optional<Inverse> inverse = findInverse(op))
        rewrite(op, *inverse);
  }

private:
  /// Nothing where the scatter stays.
  std::optional<Inverse> findInverse(prim::ScatterOp op) const {
    DenseIntElementsAttr indices = findKnownIndices(op.getIndices());
    if (!indices || indices.empty() || indices.size() > std::numeric_limits<int32_t>::max() ||
        (op.getKind() != prim::ScatterKind::add && op.getKind() != prim::ScatterKind::set))
      return std::nullopt;
    int64_t rows = op.getData().getType().getDimSize(static_cast<unsigned>(op.getAxis()));
    if (!getTarget().gathersUpdates(rows, indices.size(), /*most=*/1))
      return std::nullopt; // an inverse is as large as the data
    std::optional<Inverse> inverse = invert(indices, rows);
    if (inverse && op.getKind() == prim::ScatterKind::set)
      for (auto &updates : *inverse) // the last one wins
        if (updates.size() > 1)
          updates = {updates.back()};
    if (!inverse || !getTarget().gathersUpdates(rows, indices.size(), mostUpdates(*inverse)))
      return std::nullopt;
    return inverse;
  }

  static void rewrite(prim::ScatterOp op, const Inverse &inverse) {
    constexpr int64_t kMostNamed = 8; // updates that a kernel has as code, one by one
    OpBuilder builder(op);
    Tensor data(builder, op.getLoc(), op.getData()), updates = data.wrap(op.getUpdates());
    auto axis = static_cast<int64_t>(op.getAxis());
    SmallVector<int64_t> shape(data.shape());
    shape[axis] = data.wrap(op.getIndices()).size();
    Gathers gathers(inverse, updates.reshape(shape), axis);
    Tensor result = data;
    if (op.getKind() == prim::ScatterKind::set) {
      result = gathers.get(0, data);
    } else if (gathers.size() > kMostNamed) {
      result = prim::splatNumber(data) == 0.0 ? gathers.sum() : data + gathers.sum();
    } else {
      for (int64_t i = 0; i < gathers.size(); ++i) {
        Tensor added = gathers.get(i, data.full(0.0));
        bool isFirst = i == 0 && prim::splatNumber(data) == 0.0;
        result = isFirst ? added : result + added;
      }
    }
    op.replaceAllUsesWith(result.get());
    op.erase();
  }
};

} // namespace
