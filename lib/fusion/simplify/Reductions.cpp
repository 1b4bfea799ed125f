// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of nothing, of views and of reductions.
#include "fusion/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::fusion;
using namespace accc::prim;

namespace {

// Along extents of 1 there is nothing to combine.
LogicalResult reduceOfUnits(ReduceOp op, PatternRewriter &rewriter) {
  if (tensorType(op.getOperand()).getNumElements() != op.getType().getNumElements() ||
      op.getType().getNumElements() == 0)
    return failure();
  return replace(op, rewriter,
                 tensor(rewriter, op, op.getOperand()).reshape(op.getType().getShape()));
}

LogicalResult reduceOfReduce(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReduceOp>();
  if (!inner || inner.getKind() != op.getKind() || !inner->hasOneUse())
    return failure();
  SmallVector<int64_t> dimensions(inner.getDimensions()), kept;
  for (int64_t d = 0; d < tensorType(inner.getOperand()).getRank(); ++d)
    if (!llvm::is_contained(dimensions, d))
      kept.push_back(d);
  for (int64_t d : op.getDimensions())
    dimensions.push_back(kept[d]);
  return replace(op, rewriter,
                 reduce(op.getKind(), tensor(rewriter, op, inner.getOperand()), dimensions));
}

// What was repeated and is reduced again: a factor for sums, nothing for the rest.
LogicalResult reduceOfBroadcast(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!inner || op.getKind() == ReduceKind::prod)
    return failure();
  Tensor x = tensor(rewriter, op, inner.getOperand());
  ArrayRef<int64_t> shape = inner.getType().getShape();
  SmallVector<int64_t> reduced;    // dimensions of x that are reduced
  SmallVector<int64_t> keptPlaces; // where the others go in the result
  SmallVector<int64_t> resultPlace(shape.size(), -1);
  for (int64_t d = 0, next = 0; d < static_cast<int64_t>(shape.size()); ++d)
    if (!llvm::is_contained(op.getDimensions(), d))
      resultPlace[d] = next++;
  int64_t repeats = 1;
  for (int64_t d : op.getDimensions())
    repeats *= shape[d];
  for (auto [i, d] : llvm::enumerate(inner.getDimensions())) {
    if (resultPlace[d] >= 0) {
      keptPlaces.push_back(resultPlace[d]);
      continue;
    }
    reduced.push_back(static_cast<int64_t>(i));
    if (x.dim(i) != 0)
      repeats /= x.dim(i);
  }
  if (repeats <= 1) // nothing was repeated, or everything is empty
    return failure();
  Tensor value = reduce(op.getKind(), x, reduced);
  if (op.getKind() == ReduceKind::sum)
    value = value * static_cast<double>(repeats);
  return replace(op, rewriter, value.broadcast(op.getType().getShape(), keptPlaces));
}

// The order of the reduced dimensions does not matter; that of the others does.
LogicalResult reduceOfTranspose(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> reduced, kept;
  for (auto [to, from] : llvm::enumerate(inner.getPermutation()))
    (llvm::is_contained(op.getDimensions(), static_cast<int64_t>(to)) ? reduced : kept)
        .push_back(from);
  SmallVector<int64_t> order(kept);
  llvm::sort(order);
  Tensor smaller = reduce(op.getKind(), tensor(rewriter, op, inner.getOperand()), reduced);
  SmallVector<int64_t> permutation;
  for (int64_t d : kept)
    permutation.push_back(llvm::find(order, d) - order.begin());
  return replace(op, rewriter, smaller.transpose(permutation));
}

// A reshape that only puts in or takes out extents of 1 is not worth a view.
LogicalResult reduceOfSqueezed(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  ArrayRef<int64_t> from = tensorType(inner.getOperand()).getShape(),
                    to = inner.getType().getShape();
  SmallVector<int64_t> fromProper, toProper, reduced;
  for (auto [d, extent] : llvm::enumerate(from))
    if (extent != 1)
      fromProper.push_back(static_cast<int64_t>(d));
  for (auto [d, extent] : llvm::enumerate(to))
    if (extent != 1)
      toProper.push_back(static_cast<int64_t>(d));
  if (fromProper.size() != toProper.size())
    return failure();
  for (auto [f, t] : llvm::zip(fromProper, toProper)) {
    if (from[f] != to[t])
      return failure();
    if (llvm::is_contained(op.getDimensions(), t))
      reduced.push_back(f);
  }
  Tensor value = reduce(op.getKind(), tensor(rewriter, op, inner.getOperand()), reduced);
  return replace(op, rewriter, value.reshape(op.getType().getShape()));
}

// -x of sums outside, where there are fewer elements.
LogicalResult sumOfNegated(ReduceOp op, PatternRewriter &rewriter) {
  auto neg = op.getOperand().getDefiningOp<NegOp>();
  if (!neg || op.getKind() != ReduceKind::sum)
    return failure();
  return replace(op, rewriter, -sum(tensor(rewriter, op, neg.getOperand()), op.getDimensions()));
}

} // namespace

void fusion::populateReductionRules(RewritePatternSet &patterns) {
  patterns.add(reduceOfUnits).add(reduceOfReduce).add(reduceOfBroadcast);
  patterns.add(reduceOfTranspose).add(reduceOfSqueezed).add(sumOfNegated);
}
