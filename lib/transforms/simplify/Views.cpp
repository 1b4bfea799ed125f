// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views that do nothing, and views of views: reshape, transpose, broadcast, reverse.
#include "ir/prim/ViewChain.h"
#include "transforms/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

// ---- what does nothing ----

LogicalResult dropReshape(ReshapeOp op, PatternRewriter &rewriter) {
  if (op.getOperand().getType() != op.getType())
    return failure();
  return replace(op, rewriter, op.getOperand());
}

LogicalResult dropTranspose(TransposeOp op, PatternRewriter &rewriter) {
  if (!llvm::is_sorted(op.getPermutation()))
    return failure();
  return replace(op, rewriter, op.getOperand());
}

LogicalResult dropBroadcast(BroadcastOp op, PatternRewriter &rewriter) {
  if (op.getOperand().getType() != op.getType())
    return failure();
  return replace(op, rewriter, op.getOperand());
}

// Along an extent of 1 there is nothing to reverse.
LogicalResult dropReverse(ReverseOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> proper;
  for (int64_t d : op.getDimensions())
    if (op.getType().getDimSize(d) > 1)
      proper.push_back(d);
  if (proper.size() == op.getDimensions().size() && !proper.empty())
    return failure();
  if (proper.empty())
    return replace(op, rewriter, op.getOperand());
  rewriter.replaceOpWithNewOp<ReverseOp>(op, op.getOperand(), proper);
  return success();
}

// ---- what is a reshape, which costs nothing anywhere ----

LogicalResult transposeOfUnits(TransposeOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> proper;
  for (int64_t from : op.getPermutation())
    if (tensorType(op.getOperand()).getDimSize(from) != 1)
      proper.push_back(from);
  if (!llvm::is_sorted(proper))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
  return success();
}

LogicalResult broadcastOfUnits(BroadcastOp op, PatternRewriter &rewriter) {
  if (tensorType(op.getOperand()).getNumElements() != op.getType().getNumElements())
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
  return success();
}

// ---- views of views ----

LogicalResult reshapeOfReshape(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
  return success();
}

LogicalResult transposeOfTranspose(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> permutation;
  for (int64_t from : op.getPermutation())
    permutation.push_back(inner.getPermutation()[from]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getOperand(), permutation);
  return success();
}

// Transposes with reshapes between them, as what splits heads from features and brings them before
// positions: often one transpose, or none. A contraction reads what is transposed last where it
// lies.
template <typename Op> LogicalResult shorterChain(Op op, PatternRewriter &rewriter) {
  auto isContraction = [](Operation *user) { return isa<DotGeneralOp>(user); };
  if (isa<TransposeOp>(op) && llvm::any_of(op->getUsers(), isContraction))
    return failure();
  ViewChain chain = followViews(op.getResult(), /*isPrivate=*/true);
  if (chain.length < 3 || chain.opsNeeded() >= chain.length)
    return failure();
  return replace(op, rewriter, chain.build(rewriter, op.getLoc()).get());
}

LogicalResult broadcastOfBroadcast(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> dimensions;
  for (int64_t d : inner.getDimensions())
    dimensions.push_back(op.getDimensions()[d]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getOperand(), dimensions);
  return success();
}

/// Where each dimension of `from` went, if `to` is `from` with extents of 1 put in between.
std::optional<SmallVector<int64_t>> insertedUnits(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> places;
  for (auto [d, extent] : llvm::enumerate(to))
    if (places.size() < from.size() && from[places.size()] == extent)
      places.push_back(static_cast<int64_t>(d));
    else if (extent != 1)
      return std::nullopt;
  if (places.size() != from.size())
    return std::nullopt;
  return places;
}

LogicalResult broadcastOfInsertedUnits(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  auto places =
      insertedUnits(tensorType(inner.getOperand()).getShape(), inner.getType().getShape());
  if (!places)
    return failure();
  SmallVector<int64_t> dimensions;
  for (int64_t d : *places)
    dimensions.push_back(op.getDimensions()[d]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getOperand(), dimensions);
  return success();
}

// A broadcast can put dimensions in another place, as long as their order stays.
LogicalResult transposeOfBroadcast(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> places(op.getPermutation().size()), dimensions;
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    places[from] = static_cast<int64_t>(to);
  for (int64_t d : inner.getDimensions())
    dimensions.push_back(places[d]);
  if (!llvm::is_sorted(dimensions))
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getOperand(), dimensions);
  return success();
}

LogicalResult reverseOfReverse(ReverseOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReverseOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> once;
  for (int64_t d = 0; d < op.getType().getRank(); ++d)
    if (llvm::is_contained(op.getDimensions(), d) != llvm::is_contained(inner.getDimensions(), d))
      once.push_back(d);
  rewriter.replaceOpWithNewOp<ReverseOp>(op, inner.getOperand(), once);
  return success();
}

} // namespace

void transforms::populateViewRules(RewritePatternSet &patterns) {
  patterns.add(dropReshape).add(dropTranspose).add(dropBroadcast).add(dropReverse);
  patterns.add(transposeOfUnits).add(broadcastOfUnits);
  patterns.add(reshapeOfReshape).add(transposeOfTranspose).add(broadcastOfBroadcast);
  patterns.add(shorterChain<ReshapeOp>).add(shorterChain<TransposeOp>);
  patterns.add(broadcastOfInsertedUnits).add(transposeOfBroadcast).add(reverseOfReverse);
}
