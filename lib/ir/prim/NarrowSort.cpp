// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/NarrowSort.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

LogicalResult prim::narrowSort(SortOp sort, RewriterBase &rewriter) {
  auto dimension = static_cast<size_t>(sort.getDimension());
  int64_t first = sort.getCount(), end = 0; // of what is read, within what the sort gives
  SmallVector<SliceOp> slices;
  for (Operation *user : sort->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getType().getNumElements() == 0)
      return failure();
    slices.push_back(slice);
    first = std::min(first, slice.getStarts()[dimension]);
    end = std::max(end, slice.getLimits()[dimension]);
  }
  if (slices.empty() || end - first == sort.getCount())
    return failure();

  rewriter.setInsertionPoint(sort);
  int64_t before = sort.getFirst();
  auto narrow = rewriter.create<SortOp>(
      sort.getLoc(), sort.getOperand(), sort.getDimension(), sort.getDescending(),
      rewriter.getDenseI64ArrayAttr({before + first, before + end}));
  for (SliceOp slice : slices) {
    SmallVector<int64_t> starts(slice.getStarts()), limits(slice.getLimits());
    starts[dimension] -= first;
    limits[dimension] -= first;
    Value from = slice.getOperand() == sort.getValues() ? narrow.getValues() : narrow.getIndices();
    rewriter.setInsertionPoint(slice);
    if (slice.getType() == from.getType())
      rewriter.replaceOp(slice, from);
    else
      rewriter.replaceOpWithNewOp<SliceOp>(slice, from, starts, limits, slice.getStrides());
  }
  rewriter.eraseOp(sort);
  return success();
}
