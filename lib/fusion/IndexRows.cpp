// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "fusion/PlacesInLines.h"
#include "ir/prim/DimensionGroups.h"
#include "ir/prim/Tensor.h"

namespace accc {
#define GEN_PASS_DEF_INDEXROWSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// Whether all elements along the dimension are known to be equal.
bool repeatsAlong(Value value, int64_t dimension) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  Operation *op = value.getDefiningOp();
  if (shape[dimension] == 1)
    return true;
  if (!op)
    return false;
  if (auto broadcast = dyn_cast<prim::BroadcastOp>(op)) {
    const auto *from = llvm::find(broadcast.getDimensions(), dimension);
    return from == broadcast.getDimensions().end() ||
           repeatsAlong(broadcast.getOperand(), from - broadcast.getDimensions().begin());
  }
  if (auto reshape = dyn_cast<prim::ReshapeOp>(op)) {
    auto from = cast<RankedTensorType>(reshape.getOperand().getType()).getShape();
    for (const prim::DimensionGroup &group : prim::matchGroups(from, shape))
      if (llvm::is_contained(group.to, dimension))
        return group.to.size() == 1 && llvm::all_of(group.from, [&](int64_t d) {
                 return repeatsAlong(reshape.getOperand(), d);
               });
    return false;
  }
  return prim::splatNumber(value) || (isa<Pointwise>(op) && op->getNumOperands() > 0 &&
                                      llvm::all_of(op->getOperands(), [&](Value operand) {
                                        return repeatsAlong(operand, dimension);
                                      }));
}

/// Whole rows of flat data, one for each index.
struct Rows {
  int64_t columns;
  Value indices; // of the rows
};

std::optional<Rows> findRows(Tensor indices, int64_t elements) {
  std::optional<PlacesInLines> places = findPlaces(indices, elements);
  if (!places || places->updates() == 1)
    return std::nullopt;
  SmallVector<int64_t> shape(cast<RankedTensorType>(places->place.getType()).getShape());
  int64_t columns = 1;
  auto rank = static_cast<int64_t>(shape.size()), kept = rank;
  for (ArrayRef<PlacesInLines::Dimension> data = places->data; kept > 0 && !data.empty(); --kept) {
    bool isOwn = data.back().from == kept - 1 && data.back().extent == shape[kept - 1];
    if (isOwn && repeatsAlong(places->place, kept - 1)) {
      columns *= data.back().extent;
      data = data.drop_back();
    } else if (shape[kept - 1] != 1) {
      break;
    }
  }
  if (columns == 1)
    return std::nullopt;
  // The first element's index is a multiple of the columns, or -1.
  SmallVector<int64_t> limits(shape), zeros(shape.size(), 0);
  std::fill(limits.begin() + kept, limits.end(), 1);
  Tensor first =
      indices.reshape(shape).slice(zeros, limits).reshape(ArrayRef(shape).take_front(kept));
  Tensor row = first / static_cast<double>(columns);
  if (places->mayBeOutside)
    row = prim::select(first < 0.0, first, row);
  return Rows{columns, row};
}

struct IndexRowsPass : accc::impl::IndexRowsPassBase<IndexRowsPass> {
  void runOnOperation() override {
    found.clear();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<prim::GatherOp, prim::ScatterOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto gather = dyn_cast<prim::GatherOp>(op))
        gatherRows(gather);
      else
        scatterRows(cast<prim::ScatterOp>(op));
    }
  }

private:
  const std::optional<Rows> &rowsOf(Value data, Value indices) {
    auto type = cast<RankedTensorType>(data.getType());
    auto [it, isNew] = found.try_emplace({indices, type.getNumElements()});
    if (isNew && type.getRank() == 1) {
      OpBuilder builder(indices.getContext());
      builder.setInsertionPointAfterValue(indices);
      it->second = findRows(Tensor(builder, indices.getLoc(), indices), type.getNumElements());
    }
    return it->second;
  }

  static Tensor asRows(Tensor data, int64_t columns) {
    return data.reshape({data.size() / columns, columns});
  }

  void gatherRows(prim::GatherOp op) {
    const std::optional<Rows> &rows = rowsOf(op.getData(), op.getIndices());
    if (!rows)
      return;
    OpBuilder builder(op);
    Tensor data(builder, op.getLoc(), op.getData());
    Tensor result = asRows(data, rows->columns).gather(data.wrap(rows->indices), 0);
    op.replaceAllUsesWith(Value(result.reshape(op.getType().getShape())));
    op.erase();
  }

  void scatterRows(prim::ScatterOp op) {
    const std::optional<Rows> &rows = rowsOf(op.getData(), op.getIndices());
    if (!rows)
      return;
    OpBuilder builder(op);
    Tensor data(builder, op.getLoc(), op.getData()), indices = data.wrap(rows->indices);
    SmallVector<int64_t> shape(indices.shape());
    shape.push_back(rows->columns);
    Tensor updates = data.wrap(op.getUpdates()).reshape(shape);
    Tensor result = asRows(data, rows->columns).scatter(indices, updates, 0, op.getKind());
    op.replaceAllUsesWith(Value(result.reshape(data.shape())));
    op.erase();
  }

  DenseMap<std::pair<Value, int64_t>, std::optional<Rows>> found; // by indices and elements
};

} // namespace
