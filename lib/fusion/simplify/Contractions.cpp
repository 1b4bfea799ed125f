// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes around dot_general, which reads its dimensions in any order.
#include "fusion/simplify/Patterns.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::fusion;
using namespace accc::prim;

namespace {

/// One operand's part in a dot_general.
struct Side {
  Value value;
  SmallVector<int64_t> batch, contracting;
};

SmallVector<int64_t> freeDimensions(const Side &side) {
  SmallVector<int64_t> free;
  for (int64_t d = 0; d < tensorType(side.value).getRank(); ++d)
    if (!llvm::is_contained(side.batch, d) && !llvm::is_contained(side.contracting, d))
      free.push_back(d);
  return free;
}

/// True if `dimensions`, in this order, can be walked as one dimension; gives its stride.
bool isOneWalk(ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions, int64_t &stride) {
  stride = 1;
  int64_t expected = -1;
  for (int64_t d : llvm::reverse(dimensions)) {
    if (shape[d] == 1)
      continue;
    int64_t actual = ReferenceArray::count(shape.drop_front(d + 1));
    if (expected < 0)
      stride = actual;
    else if (actual != expected)
      return false;
    expected = actual * shape[d];
  }
  return true;
}

/// True if a matrix library can read the side as it lies in memory: free and contracted dimensions
/// are one walk each, and one of the two is contiguous.
bool isReadable(const Side &side) {
  ArrayRef<int64_t> shape = tensorType(side.value).getShape();
  int64_t freeStride, contractedStride;
  return isOneWalk(shape, freeDimensions(side), freeStride) &&
         isOneWalk(shape, side.contracting, contractedStride) &&
         (freeStride == 1 || contractedStride == 1);
}

/// The side that reads the operand of the transpose instead, if that gives the same result.
std::optional<Side> throughTranspose(const Side &side) {
  auto transpose = side.value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return std::nullopt;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  Side inner{transpose.getOperand(), {}, {}};
  for (int64_t d : side.batch)
    inner.batch.push_back(permutation[d]);
  for (int64_t d : side.contracting)
    inner.contracting.push_back(permutation[d]);
  SmallVector<int64_t> free;
  for (int64_t d : freeDimensions(side))
    free.push_back(permutation[d]);
  if (!llvm::is_sorted(free)) // the result lists free dimensions in operand order
    return std::nullopt;
  return inner;
}

LogicalResult dotOfTranspose(DotGeneralOp op, PatternRewriter &rewriter) {
  Side lhs{op.getLhs(), SmallVector<int64_t>(op.getLhsBatch()),
           SmallVector<int64_t>(op.getLhsContracting())};
  Side rhs{op.getRhs(), SmallVector<int64_t>(op.getRhsBatch()),
           SmallVector<int64_t>(op.getRhsContracting())};
  bool changed = false;
  for (Side *side : {&lhs, &rhs})
    if (auto inner = throughTranspose(*side); inner && isReadable(*inner)) {
      *side = *inner;
      changed = true;
    }
  if (!changed)
    return failure();
  Tensor a = tensor(rewriter, op, lhs.value);
  return replace(
      op, rewriter,
      dotGeneral(a, a.wrap(rhs.value), lhs.batch, rhs.batch, lhs.contracting, rhs.contracting));
}

// Swapping the operands swaps the free dimensions of the result.
LogicalResult transposeOfDot(TransposeOp op, PatternRewriter &rewriter) {
  auto dot = op.getOperand().getDefiningOp<DotGeneralOp>();
  if (!dot || !dot->hasOneUse())
    return failure();
  auto batches = static_cast<int64_t>(dot.getLhsBatch().size()), rank = op.getType().getRank();
  int64_t split =
      tensorType(dot.getLhs()).getRank() - static_cast<int64_t>(dot.getLhsContracting().size());
  SmallVector<int64_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::rotate(swapped.begin() + batches, swapped.begin() + split, swapped.end());
  if (op.getPermutation() != ArrayRef(swapped))
    return failure();
  Tensor a = tensor(rewriter, op, dot.getLhs());
  return replace(op, rewriter,
                 dotGeneral(a.wrap(dot.getRhs()), a, dot.getRhsBatch(), dot.getLhsBatch(),
                            dot.getRhsContracting(), dot.getLhsContracting()));
}

} // namespace

void fusion::populateContractionRules(RewritePatternSet &patterns) {
  patterns.add(dotOfTranspose).add(transposeOfDot);
}
