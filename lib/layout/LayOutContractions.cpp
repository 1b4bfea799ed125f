// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/ContractionSide.h"
#include "ir/prim/Tensor.h"
#include "layout/Passes.h"
#include "target/TargetedPass.h"

#include <numeric>

namespace accc {
#define GEN_PASS_DEF_LAYOUTCONTRACTIONSPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// The pairs of contracted dimensions in the order in which `side` names them ascending.
void sortPairs(ContractionSide &side, ContractionSide &other) {
  SmallVector<size_t> order(side.contracting.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) { return side.contracting[a] < side.contracting[b]; });
  SmallVector<int64_t> sorted, paired;
  for (size_t k : order) {
    sorted.push_back(side.contracting[k]);
    paired.push_back(other.contracting[k]);
  }
  side.contracting = sorted;
  other.contracting = paired;
}

/// The order of the pairs is ours to choose: takes one that more of the sides can be read in.
void choosePairOrder(ContractionSide &lhs, ContractionSide &rhs) {
  auto readable = [](const ContractionSide &a, const ContractionSide &b) {
    return a.isReadable() + b.isReadable();
  };
  ContractionSide bestLhs = lhs, bestRhs = rhs;
  ContractionSide l = lhs, r = rhs;
  sortPairs(l, r);
  if (readable(l, r) > readable(bestLhs, bestRhs))
    bestLhs = l, bestRhs = r;
  sortPairs(r, l);
  if (readable(l, r) > readable(bestLhs, bestRhs))
    bestLhs = l, bestRhs = r;
  lhs = bestLhs;
  rhs = bestRhs;
}

/// The side with its batch dimensions first. The others follow in their own order if they can be
/// read in it, else the free ones and then the contracting ones.
ContractionSide reordered(OpBuilder &builder, Location loc, const ContractionSide &side) {
  SmallVector<int64_t> permutation(side.batch), rest = side.free();
  llvm::append_range(rest, side.contracting);
  if (side.isReadable())
    llvm::sort(rest);
  llvm::append_range(permutation, rest);
  ContractionSide result{Tensor(builder, loc, side.value).transpose(permutation), {}, {}};
  for (size_t d = 0; d < side.batch.size(); ++d)
    result.batch.push_back(static_cast<int64_t>(d));
  for (int64_t d : side.contracting)
    result.contracting.push_back(llvm::find(permutation, d) - permutation.begin());
  return result;
}

/// Of a side with its batch dimensions first: all of them as one.
ContractionSide withOneBatch(OpBuilder &builder, Location loc, const ContractionSide &side) {
  size_t batches = side.batch.size();
  SmallVector<int64_t> shape{ReferenceArray::count(side.shape().take_front(batches))};
  llvm::append_range(shape, side.shape().drop_front(batches));
  ContractionSide result{Tensor(builder, loc, side.value).reshape(shape), {0}, {}};
  for (int64_t d : side.contracting)
    result.contracting.push_back(d - static_cast<int64_t>(batches) + 1);
  return result;
}

void layOut(prim::DotGeneralOp op, const Target &target) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  bool manyBatches = lhs.batch.size() > target.getMaxBatchDimensions();
  if (lhs.isReadable() && rhs.isReadable() && !manyBatches)
    return;
  choosePairOrder(lhs, rhs);
  for (ContractionSide *side : {&lhs, &rhs}) {
    if (!side->isReadable() || manyBatches)
      *side = reordered(builder, loc, *side);
    if (manyBatches)
      *side = withOneBatch(builder, loc, *side);
  }
  Tensor result(builder, loc, createContraction(builder, op, lhs, rhs));
  op.replaceAllUsesWith(result.reshape(op.getType().getShape()).get());
  op.erase();
}

struct LayOutContractionsPass
    : TargetedPass<accc::impl::LayOutContractionsPassBase<LayOutContractionsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<prim::DotGeneralOp> contractions;
    getOperation().walk([&](prim::DotGeneralOp op) { contractions.push_back(op); });
    for (prim::DotGeneralOp op : contractions)
      layOut(op, getTarget());
  }
};

} // namespace
