// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of nothing, of views and of reductions.
#include "ir/prim/DimensionGroups.h"
#include "transforms/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

// Sums and products of 16-bit floats are accumulated in f32 (prim.reduce says so); of the rest f32
// is what CPUs compare.
LogicalResult reduceOfHalves(ReduceOp op, PatternRewriter &rewriter) {
  Type element = op.getType().getElementType();
  if (!element.isF16() && !element.isBF16())
    return failure();
  Tensor wide = tensor(rewriter, op, op.getOperand()).convert(rewriter.getF32Type());
  return replace(op, rewriter, reduce(op.getKind(), wide, op.getDimensions()).convert(element));
}

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

// Reduces what was reshaped in its own shape, where a group of dimensions is reduced wholly or not
// at all. Other users of the reshape must not mind; those that a kernel could share with the
// reduction would.
LogicalResult reduceOfReshape(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner || inner.getType().getNumElements() == 0)
    return failure();
  for (Operation *user : inner->getUsers())
    if (!isa<ReduceOp, DotGeneralOp>(user))
      return failure();
  SmallVector<int64_t> reduced;
  for (const DimensionGroup &group :
       matchGroups(tensorType(inner.getOperand()).getShape(), inner.getType().getShape())) {
    int64_t all = 0, hit = 0;
    for (int64_t d : group.to)
      if (inner.getType().getDimSize(d) != 1) {
        ++all;
        hit += llvm::is_contained(op.getDimensions(), d);
      }
    if (hit == 0)
      continue;
    if (hit != all)
      return failure();
    llvm::append_range(reduced, group.from);
  }
  Tensor x = tensor(rewriter, op, inner.getOperand());
  return replace(op, rewriter, reduce(op.getKind(), x, reduced).reshape(op.getType().getShape()));
}

// -x of sums outside, where there are fewer elements.
LogicalResult sumOfNegated(ReduceOp op, PatternRewriter &rewriter) {
  auto neg = op.getOperand().getDefiningOp<NegOp>();
  if (!neg || op.getKind() != ReduceKind::sum)
    return failure();
  return replace(op, rewriter, -sum(tensor(rewriter, op, neg.getOperand()), op.getDimensions()));
}

} // namespace

void transforms::populateReductionRules(RewritePatternSet &patterns) {
  patterns.add(reduceOfHalves).add(reduceOfUnits).add(reduceOfReduce).add(reduceOfBroadcast);
  patterns.add(reduceOfTranspose).add(reduceOfReshape).add(sumOfNegated);
}
