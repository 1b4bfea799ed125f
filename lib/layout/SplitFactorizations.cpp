// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factorizations and triangular systems of large matrices by blocks, as in LAPACK: kernels factor
// what lies on the diagonal, and all else are products, which libraries do at full speed.
#include "ir/prim/MatrixRules.h"
#include "layout/Passes.h"
#include "target/TargetedPass.h"

#include "llvm/Support/MathExtras.h"

namespace accc {
#define GEN_PASS_DEF_SPLITFACTORIZATIONSPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// More make the program long, not the matrix sooner factored.
constexpr int64_t kMostBlocks = 32;

/// Rows or columns [begin, end) of a matrix.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// [0, extent) in ranges of `block`, or of more where these were too many.
SmallVector<Range> blocksOf(int64_t extent, int64_t block) {
  block = std::max(block, static_cast<int64_t>(llvm::divideCeil(extent, kMostBlocks)));
  SmallVector<Range> ranges;
  for (int64_t begin = 0; begin < extent; begin += block)
    ranges.push_back({begin, std::min(begin + block, extent)});
  return ranges;
}

/// Part of each matrix of a stack.
Tensor part(Tensor stack, Range rows, Range columns) {
  return stack.slice({0, rows.begin, columns.begin}, {stack.dim(0), rows.end, columns.end});
}
Tensor rowsOf(Tensor stack, Range rows) { return part(stack, rows, {0, stack.dim(2)}); }

/// Several behind one another; one alone as it is.
Tensor joined(ArrayRef<Tensor> parts, int64_t dimension) {
  return parts.size() == 1 ? parts.front() : concatenate(parts, dimension);
}

/// The number of the first column that went wrong, of all blocks so far.
class Info {
public:
  void add(Tensor ofBlock, int64_t begin) {
    Tensor own = begin == 0
                     ? ofBlock
                     : select(equal(ofBlock, 0.0), ofBlock, ofBlock + static_cast<double>(begin));
    total = total ? select(equal(*total, 0.0), own, *total) : own;
  }
  Value get() const { return *total; }

private:
  std::optional<Tensor> total;
};

// x_i = a_ii^-1 (b_i - the products of what a has beside a_ii and the x that are known).
Value splitSolve(TriangularSolveOp op, int64_t block) {
  OpBuilder builder(op);
  Tensor a(builder, op.getLoc(), op.getA()), b = a.wrap(op.getB());
  bool backward = op.getUpper() != op.getTranspose();
  SmallVector<Range> blocks = blocksOf(a.dim(1), block);
  if (backward)
    std::reverse(blocks.begin(), blocks.end());
  std::optional<Tensor> known;
  Range knownRows{0, 0};
  for (Range rows : blocks) {
    Tensor rest = rowsOf(b, rows);
    if (known) {
      Tensor factor =
          op.getTranspose() ? transposed(part(a, knownRows, rows)) : part(a, rows, knownRows);
      rest = rest - matrixProduct(factor, *known);
    }
    Tensor x = b.wrap(builder.create<TriangularSolveOp>(
        op.getLoc(), part(a, rows, rows), rest, op.getUpper(), op.getTranspose(), op.getUnit()));
    if (known)
      x = backward ? concatenate({x, *known}, 1) : concatenate({*known, x}, 1);
    known = x;
    knownRows = backward ? Range{rows.begin, a.dim(1)} : Range{0, rows.end};
  }
  return *known;
}

// A block of columns at a time: from the diagonal down, a less the products of the columns before
// is l_jj times what l has there.
SmallVector<Value> splitCholesky(CholeskyOp op, int64_t block) {
  OpBuilder builder(op);
  Tensor a(builder, op.getLoc(), op.getA());
  int64_t n = a.dim(1);
  SmallVector<Tensor> columns; // of l, from the first row on
  Info info;
  for (Range own : blocksOf(n, block)) {
    Range down{own.begin, n};
    Tensor rest = part(a, down, own);
    if (!columns.empty()) {
      Tensor before = rowsOf(joined(columns, 2), down);
      Tensor beside = rowsOf(before, {0, own.size()});
      rest = rest - matrixProduct(before, transposed(beside));
    }
    auto diagonal =
        builder.create<CholeskyOp>(op.getLoc(), rowsOf(rest, {0, own.size()}), op.getCheckErrors());
    Tensor l = a.wrap(diagonal.getL());
    info.add(a.wrap(diagonal.getInfo()), own.begin);
    if (own.end < n) {
      Tensor below = rowsOf(rest, {own.size(), down.size()});
      l = concatenate({l, solveTriangularRight(l, below, Triangle::lower, /*transpose=*/true)}, 1);
    }
    columns.push_back(l.pad(0.0, {0, own.begin, 0}, {0, 0, 0}));
  }
  return {joined(columns, 2), info.get()};
}

// A block of columns at a time, of the rows that are left: its factors, whose exchanges of rows the
// columns on both sides follow; then the block's rows of u; then what is left of the others.
SmallVector<Value> splitLu(LuOp op, int64_t block) {
  OpBuilder builder(op);
  Tensor right(builder, op.getLoc(), op.getA());
  std::optional<Tensor> left; // the columns of l that are known
  int64_t m = right.dim(1), steps = std::min(m, right.dim(2));
  SmallVector<Tensor> rows, pivots;
  Info info;
  for (Range own : blocksOf(steps, block)) {
    Range top{0, own.size()}, bottom{own.size(), m - own.begin}, all{0, m - own.begin};
    auto factored = builder.create<LuOp>(op.getLoc(), part(right, all, top), op.getCheckErrors());
    Tensor lu = right.wrap(factored.getLu()), exchanges = right.wrap(factored.getPivots());
    info.add(right.wrap(factored.getInfo()), own.begin);
    pivots.push_back(own.begin == 0 ? exchanges : exchanges + static_cast<double>(own.begin));
    Tensor order = pivotedRows(exchanges, all.size());
    SmallVector<Tensor> of, below; // the block's rows, and l below
    if (left) {
      Tensor moved = takeRows(*left, order);
      of.push_back(rowsOf(moved, top));
      if (bottom.size() > 0)
        below.push_back(rowsOf(moved, bottom));
    }
    of.push_back(rowsOf(lu, top));
    if (bottom.size() > 0)
      below.push_back(rowsOf(lu, bottom));
    if (Range behind{own.size(), right.dim(2)}; behind.size() > 0) {
      Tensor moved = takeRows(part(right, all, behind), order);
      Tensor u = solveTriangular(rowsOf(lu, top), rowsOf(moved, top), Triangle::unitLower);
      of.push_back(u);
      if (bottom.size() > 0)
        right = rowsOf(moved, bottom) - matrixProduct(rowsOf(lu, bottom), u);
    }
    rows.push_back(joined(of, 2));
    if (!below.empty())
      left = joined(below, 2);
  }
  if (steps < m)
    rows.push_back(*left);
  return {joined(rows, 1), joined(pivots, 1), info.get()};
}

struct SplitFactorizationsPass
    : TargetedPass<accc::impl::SplitFactorizationsPassBase<SplitFactorizationsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    int64_t block = getTarget().getFactorizationBlock();
    auto isLarge = [&](Value matrices) {
      auto type = cast<RankedTensorType>(matrices.getType());
      return std::min(type.getDimSize(1), type.getDimSize(2)) >= 2 * block &&
             type.getDimSize(0) > 0;
    };
    SmallVector<Operation *> factorizations;
    getOperation().walk([&](Operation *op) {
      if (isa<CholeskyOp, LuOp, TriangularSolveOp>(op) && isLarge(op->getOperand(0)))
        factorizations.push_back(op);
    });
    for (Operation *op : factorizations) {
      if (auto solve = dyn_cast<TriangularSolveOp>(op))
        op->replaceAllUsesWith(ValueRange{splitSolve(solve, block)});
      else if (auto cholesky = dyn_cast<CholeskyOp>(op))
        op->replaceAllUsesWith(splitCholesky(cholesky, block));
      else
        op->replaceAllUsesWith(splitLu(cast<LuOp>(op), block));
      op->erase();
    }
  }
};

} // namespace
