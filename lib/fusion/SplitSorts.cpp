// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/Pointwise.h"
#include "ir/prim/Tensor.h"
#include "support/DeadCode.h"
#include "support/TensorBytes.h"
#include "target/TargetedPass.h"

#include "llvm/Support/MathExtras.h"

namespace accc {
#define GEN_PASS_DEF_SPLITSORTSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// Lines in an order, with where their elements came from.
struct Ordered {
  Tensor values, indices;
};

template <typename Op> Ordered ordered(Tensor x, Op op) {
  return {x.wrap(op.getValues()), x.wrap(op.getIndices())};
}

/// x [lines, n] at the places [lines, n] of each line.
Tensor takeFromLines(Tensor x, Tensor places) {
  int64_t lines = x.dim(0), extent = x.dim(1);
  if (lines > 1)
    places = places +
             prim::iota(x.getBuilder(), x.getLoc(), places.type(), 0) * static_cast<double>(extent);
  return x.reshape({lines * extent}).gather(places, 0);
}

/// x [lines, n], with what goes last in `missing` further columns.
Tensor fillUp(Tensor x, int64_t missing, prim::SortOp like) {
  if (missing == 0)
    return x;
  OpBuilder &builder = x.getBuilder();
  Attribute last = like.getLast(prim::signless(x.elementType()));
  if (auto integer = dyn_cast<IntegerAttr>(last))
    last = builder.getIntegerAttr(x.elementType(), integer.getValue());
  auto type = RankedTensorType::get({x.dim(0), missing}, x.elementType());
  auto filling = builder.create<prim::ConstantOp>(x.getLoc(), DenseElementsAttr::get(type, last));
  return prim::concatenate({x, x.wrap(filling)}, 1);
}

/// The length of runs of at most `most` of so many elements.
int64_t runLength(int64_t extent, int64_t most) {
  auto n = static_cast<uint64_t>(extent);
  return static_cast<int64_t>(llvm::divideCeil(n, llvm::divideCeil(n, most)));
}

/// Sorts x [lines, n] in runs of `run` elements, of which it gives the first `kept`. The indices
/// are places in the line; what filled up the last run may come last, with greater ones.
Ordered sortRuns(Tensor x, int64_t run, int64_t kept, prim::SortOp like) {
  int64_t lines = x.dim(0), extent = x.dim(1);
  auto count = static_cast<int64_t>(llvm::divideCeil(extent, run));
  Tensor runs = fillUp(x, run * count - extent, like).reshape({lines, count, run});
  OpBuilder &builder = x.getBuilder();
  auto range = kept < run ? builder.getDenseI64ArrayAttr({0, kept}) : DenseI64ArrayAttr();
  Ordered sorted = ordered(x, builder.create<prim::SortOp>(x.getLoc(), runs, /*dimension=*/2,
                                                           like.getDescending(), range));
  Tensor number = prim::iota(builder, x.getLoc(), sorted.indices.type(), 1);
  auto asLines = [&](Tensor t) {
    t = t.reshape({lines, count * std::min(kept, run)});
    return t.dim(1) <= extent ? t : t.sliceDim(1, 0, extent);
  };
  return {asLines(sorted.values), asLines(sorted.indices + number * static_cast<double>(run))};
}

/// The first elements of sorted lines, of x [lines, n], that `like` wants: of each run only the
/// first ones can be among them, and of runs of these again.
Ordered sortFirst(Tensor x, int64_t most, prim::SortOp like) {
  std::optional<Tensor> indices;
  while (x.dim(1) > most) {
    Ordered runs = sortRuns(x, runLength(x.dim(1), most), like.getEnd(), like);
    indices = indices ? takeFromLines(*indices, runs.indices) : runs.indices;
    x = runs.values;
  }
  auto sort = x.getBuilder().create<prim::SortOp>(x.getLoc(), x, /*dimension=*/1,
                                                  like.getDescending(), like.getRangeAttr());
  return {x.wrap(sort.getValues()), takeFromLines(*indices, x.wrap(sort.getIndices()))};
}

/// Sorts x [lines, n], at most `most` elements at once.
Ordered sortLines(Tensor x, int64_t most, prim::SortOp like) {
  int64_t run = runLength(x.dim(1), most);
  Ordered lines = sortRuns(x, run, run, like);
  SmallVector<Tensor> moves;
  for (; run < x.dim(1); run *= 2) {
    Ordered merged =
        ordered(x, x.getBuilder().create<prim::MergeOp>(x.getLoc(), lines.values, /*dimension=*/1,
                                                        like.getDescending(), run));
    lines.values = merged.values;
    moves.push_back(merged.indices);
  }
  Tensor places = moves.pop_back_val();
  while (!moves.empty())
    places = takeFromLines(moves.pop_back_val(), places);
  return {lines.values, takeFromLines(lines.indices, places)};
}

struct SplitSortsPass : TargetedPass<accc::impl::SplitSortsPassBase<SplitSortsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<prim::SortOp> sorts;
    getOperation().walk([&](prim::SortOp op) { sorts.push_back(op); });
    for (prim::SortOp op : sorts) {
      RankedTensorType type = op.getOperand().getType();
      std::optional<int64_t> most = getTarget().getMaxSortedElements(elementBytes(type));
      if (most && type.getDimSize(static_cast<unsigned>(op.getDimension())) > *most &&
          type.getNumElements() > 0)
        split(op, *most);
    }
    eraseDeadCode(getOperation().front());
  }

private:
  static void split(prim::SortOp op, int64_t most) {
    OpBuilder builder(op);
    Tensor x(builder, op.getLoc(), op.getOperand());
    auto dimension = static_cast<int64_t>(op.getDimension());
    SmallVector<int64_t> lastly, back(x.rank());
    for (int64_t d = 0; d < x.rank(); ++d)
      if (d != dimension)
        lastly.push_back(d);
    lastly.push_back(dimension);
    for (auto [to, from] : llvm::enumerate(lastly))
      back[from] = static_cast<int64_t>(to);
    Tensor moved = dimension == x.rank() - 1 ? x : x.transpose(lastly);
    int64_t extent = x.dim(dimension);
    Tensor rows = moved.reshape({x.size() / extent, extent});
    // Halves of what is sorted at once leave less in every step.
    bool isFew = op.getEnd() <= most / 2;
    Ordered lines = isFew ? sortFirst(rows, most, op) : sortLines(rows, most, op);
    SmallVector<int64_t> shape(moved.shape());
    shape.back() = op.getCount();
    auto asBefore = [&](Tensor t) {
      if (t.dim(1) > op.getCount())
        t = t.sliceDim(1, op.getFirst(), op.getEnd());
      t = t.reshape(shape);
      return dimension == x.rank() - 1 ? t : t.transpose(back);
    };
    op.replaceAllUsesWith(ValueRange{asBefore(lines.values), asBefore(lines.indices)});
    op.erase();
  }
};

} // namespace
