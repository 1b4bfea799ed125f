// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers and scatters whose indices are known: of neighbours in order they are slices and pads.
#include "transforms/simplify/Patterns.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

/// n for the indices n, n + 1, n + 2, ... below `extent`.
std::optional<int64_t> firstOfRun(Value indices, int64_t extent) {
  DenseIntElementsAttr elements;
  if (!matchPattern(indices, m_Constant(&elements)) || elements.getNumElements() == 0)
    return std::nullopt;
  std::optional<int64_t> first;
  int64_t expected = 0;
  for (const APInt &index : elements.getValues<APInt>()) {
    if (!first)
      first = expected = index.getSExtValue();
    if (index.getSExtValue() != expected || expected < 0 || expected >= extent)
      return std::nullopt;
    ++expected;
  }
  return first;
}

LogicalResult gatherOfRun(GatherOp op, PatternRewriter &rewriter) {
  Tensor data = tensor(rewriter, op, op.getData());
  auto axis = static_cast<int64_t>(op.getAxis());
  std::optional<int64_t> first = firstOfRun(op.getIndices(), data.dim(axis));
  if (!first)
    return failure();
  int64_t count = tensorType(op.getIndices()).getNumElements();
  return replace(op, rewriter,
                 data.sliceDim(axis, *first, *first + count).reshape(op.getType().getShape()));
}

// data + updates in their place; for `set` only where the data is 0 anyway.
LogicalResult scatterOfRun(ScatterOp op, PatternRewriter &rewriter) {
  Tensor data = tensor(rewriter, op, op.getData());
  auto axis = static_cast<int64_t>(op.getAxis());
  bool adds = op.getKind() == ScatterKind::add;
  if (!adds && !(op.getKind() == ScatterKind::set && isSplat(data, 0)))
    return failure();
  std::optional<int64_t> first = firstOfRun(op.getIndices(), data.dim(axis));
  if (!first)
    return failure();
  int64_t count = tensorType(op.getIndices()).getNumElements();
  SmallVector<int64_t> shape(data.shape()), low(data.rank(), 0), high(data.rank(), 0);
  shape[axis] = count;
  low[axis] = *first;
  high[axis] = data.dim(axis) - *first - count;
  Tensor placed = data.wrap(op.getUpdates()).reshape(shape).pad(0.0, low, high);
  return replace(op, rewriter, adds ? data + placed : placed);
}

} // namespace

void transforms::populateKnownIndexRules(RewritePatternSet &patterns) {
  patterns.add(gatherOfRun).add(scatterOfRun);
}
