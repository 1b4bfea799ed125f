// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/Tensor.h"
#include "target/TargetedPass.h"

#include "llvm/Support/MathExtras.h"

namespace accc {
#define GEN_PASS_DEF_SPLITSCANSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// x filled up with zeros along the dimension, and cut into runs of so many elements: [..., runs,
/// run, ...].
Tensor inRuns(Tensor x, int64_t dimension, int64_t run) {
  auto runs = static_cast<int64_t>(llvm::divideCeil(x.dim(dimension), run));
  if (int64_t missing = runs * run - x.dim(dimension)) {
    SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
    high[dimension] = missing;
    x = x.pad(0.0, low, high);
  }
  SmallVector<int64_t> shape(x.shape());
  shape[dimension] = run;
  shape.insert(shape.begin() + dimension, runs);
  return x.reshape(shape);
}

/// x with everything one place further along the dimension, a zero first.
Tensor oneLater(Tensor x, int64_t dimension) {
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  low[dimension] = 1;
  high[dimension] = -1;
  return x.pad(0.0, low, high);
}

Tensor scanInRuns(Tensor x, prim::ReduceKind kind, int64_t dimension, int64_t run) {
  int64_t extent = x.dim(dimension), along = dimension + 1;
  Tensor runs = inRuns(x, dimension, run);
  Tensor ends = prim::cumulative(kind, prim::reduce(kind, runs, {along}), dimension);
  auto place = [&](int64_t of) {
    auto type = runs.type().clone(runs.getBuilder().getI64Type());
    return prim::iota(runs.getBuilder(), runs.getLoc(), type, of);
  };
  Tensor start = oneLater(ends, dimension).broadcastAlong(runs.shape(), {along});
  Tensor first = prim::select(place(dimension) > 0.0, prim::combine(kind, start, runs), runs);
  Tensor started = prim::select(equal(place(along), 0.0), first, runs);
  SmallVector<int64_t> shape(x.shape());
  shape[dimension] = runs.dim(dimension) * run;
  Tensor result = prim::cumulative(kind, started, along).reshape(shape);
  return shape[dimension] == extent ? result : result.sliceDim(dimension, 0, extent);
}

struct SplitScansPass : TargetedPass<accc::impl::SplitScansPassBase<SplitScansPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<prim::CumulativeOp> scans;
    getOperation().walk([&](prim::CumulativeOp op) { scans.push_back(op); });
    for (prim::CumulativeOp op : scans) {
      RankedTensorType type = op.getOperand().getType();
      auto dimension = static_cast<int64_t>(op.getDimension());
      int64_t extent = type.getDimSize(static_cast<unsigned>(dimension));
      if (type.getNumElements() == 0 || type.getElementTypeBitWidth() < 32)
        continue;
      bool isRow = llvm::all_of(type.getShape().drop_front(dimension + 1),
                                [](int64_t inner) { return inner == 1; });
      std::optional<int64_t> run =
          getTarget().getScanRun(type.getNumElements() / extent, extent, isRow);
      if (!run || *run >= extent)
        continue;
      OpBuilder builder(op);
      Tensor x(builder, op.getLoc(), op.getOperand());
      op.replaceAllUsesWith(Value(scanInRuns(x, op.getKind(), dimension, *run)));
      op.erase();
    }
  }
};

} // namespace
