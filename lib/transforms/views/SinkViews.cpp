// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "ir/prim/ViewChain.h"
#include "transforms/Passes.h"
#include "transforms/simplify/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace accc {
#define GEN_PASS_DEF_SINKVIEWSPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;
using accc::prim::ViewChain;

namespace {

/// Whether all that is read of the value, through views of it and of parts of it, has the rows in
/// their own order: the dimensions before `rows` of what was walked from.
bool hasRowsInOrder(Value value, const prim::ViewWalk &at, size_t rows) {
  SmallVector<int64_t> read;
  for (int64_t which : at.order)
    if (at.dimensions[which] < static_cast<int64_t>(rows))
      read.push_back(which);
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    prim::ViewWalk next = at;
    if (!isa<prim::TransposeOp, prim::ReshapeOp, prim::SliceOp>(user))
      return llvm::is_sorted(read);
    return next.pass(user) && hasRowsInOrder(user->getResult(0), next, rows);
  });
}

/// The number of the chain's factors that are rows: those before the last `width` elements of the
/// source, which the result has as its last dimension as well. Nothing if it has not.
std::optional<size_t> countRows(const ViewChain &chain, int64_t width) {
  size_t rows = chain.factors.size();
  for (int64_t inside = 1; inside < width; inside *= chain.factors[rows])
    if (rows-- == 0 || chain.order[rows] != static_cast<int64_t>(rows))
      return std::nullopt;
  int64_t all = 1;
  for (int64_t extent : ArrayRef(chain.factors).drop_front(rows))
    all *= extent;
  return all == width ? std::optional(rows) : std::nullopt;
}

/// Computes a layer of the rows where they lie, and permutes what it gives.
bool sink(nn::LinearOp op) {
  RankedTensorType type = op.getType();
  int64_t width = cast<RankedTensorType>(op.getX().getType()).getShape().back();
  ViewChain chain = prim::followViews(op.getX(), /*isPrivate=*/false);
  if (!chain.permutes())
    return false;
  std::optional<size_t> rows = countRows(chain, width);
  if (!rows)
    return false;
  SmallVector<int64_t> shape(ArrayRef(chain.factors).take_front(*rows)),
      permutation(ArrayRef(chain.order).take_front(*rows));
  shape.push_back(type.getShape().back());
  permutation.push_back(static_cast<int64_t>(*rows));
  prim::ViewWalk walk(shape);
  walk.permute(permutation);
  if (!walk.reshape(type.getShape()) || !hasRowsInOrder(op.getResult(), walk, *rows))
    return false;

  OpBuilder b(op);
  shape.back() = width;
  Tensor x = Tensor(b, op.getLoc(), chain.source).reshape(shape);
  Tensor y = x.wrap(
      b.create<nn::LinearOp>(op.getLoc(), x, op.getW(), op.getBias(), op.getTransposeWAttr()));
  op.replaceAllUsesWith(y.transpose(permutation).reshape(type.getShape()).get());
  op.erase();
  return true;
}

struct SinkViewsPass : accc::impl::SinkViewsPassBase<SinkViewsPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    transforms::populateViewRules(set);
    transforms::populateSliceRules(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    SmallVector<nn::LinearOp> layers;
    getOperation().walk([&](nn::LinearOp op) { layers.push_back(op); });
    bool any = false;
    for (nn::LinearOp op : layers)
      any |= sink(op);
    if (!any)
      return;
    // What is left of the views is what the derivative undoes.
    GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    (void)applyPatternsAndFoldGreedily(getOperation(), patterns, config);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
