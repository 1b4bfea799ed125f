// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes and factors around dot_general, which reads its dimensions in any order.
#include "ir/prim/ContractionSide.h"
#include "transforms/simplify/Patterns.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

/// The side that reads the operand of the transpose instead, if that gives the same result.
std::optional<ContractionSide> throughTranspose(const ContractionSide &side) {
  auto transpose = side.value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return std::nullopt;
  auto mapped = [&](ArrayRef<int64_t> dimensions) {
    SmallVector<int64_t> result;
    for (int64_t d : dimensions)
      result.push_back(transpose.getPermutation()[d]);
    return result;
  };
  if (!llvm::is_sorted(mapped(side.free()))) // the result lists free dimensions in operand order
    return std::nullopt;
  return ContractionSide{transpose.getOperand(), mapped(side.batch), mapped(side.contracting)};
}

LogicalResult dotOfTranspose(DotGeneralOp op, PatternRewriter &rewriter) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  bool changed = false;
  for (ContractionSide *side : {&lhs, &rhs})
    if (auto inner = throughTranspose(*side); inner && inner->isReadable()) {
      *side = *inner;
      changed = true;
    }
  if (!changed)
    return failure();
  return replace(op, rewriter, createContraction(rewriter, op, lhs, rhs));
}

// A factor of an operand becomes a factor of the result, where it can join what follows; and the
// operand can be read where it lies.
LogicalResult dotOfScaled(DotGeneralOp op, PatternRewriter &rewriter) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  double factor = 1.0;
  for (ContractionSide *side : {&lhs, &rhs}) {
    auto mul = side->value.getDefiningOp<MulOp>();
    std::optional<double> own = mul ? splatNumber(mul.getRhs()) : std::nullopt;
    if (!own ||
        !llvm::all_of(mul->getUsers(), [](Operation *user) { return isa<DotGeneralOp>(user); }))
      continue;
    factor *= *own;
    side->value = mul.getLhs();
  }
  // Far from 1 it may be there to keep the sum in the range of the type.
  if (lhs.value == op.getLhs() && rhs.value == op.getRhs())
    return failure();
  if (std::abs(factor) < 1e-3 || std::abs(factor) > 1e3 || op.getType().getElementType().isF16())
    return failure();
  Value product = createContraction(rewriter, op, lhs, rhs);
  return replace(op, rewriter, tensor(rewriter, op, product) * factor);
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
  return replace(
      op, rewriter,
      createContraction(rewriter, dot, ContractionSide::rhsOf(dot), ContractionSide::lhsOf(dot)));
}

// The same with a factor in between.
LogicalResult transposeOfScaledDot(TransposeOp op, PatternRewriter &rewriter) {
  auto mul = op.getOperand().getDefiningOp<MulOp>();
  auto dot = mul ? mul.getLhs().getDefiningOp<DotGeneralOp>() : DotGeneralOp();
  std::optional<double> factor = mul ? splatNumber(mul.getRhs()) : std::nullopt;
  if (!dot || !factor || !mul->hasOneUse() || !dot->hasOneUse())
    return failure();
  Tensor x = tensor(rewriter, op, dot);
  return replace(op, rewriter, x.transpose(op.getPermutation()) * *factor);
}

/// Whether a kernel covers the whole of its input, so that it has one place.
template <typename Op>
bool hasOnePlace(Op op, RankedTensorType x, RankedTensorType w, RankedTensorType y) {
  auto areAll = [](ArrayRef<int64_t> numbers, int64_t number) {
    return llvm::all_of(numbers, [&](int64_t each) { return each == number; });
  };
  return op.getGroups() == 1 && !op.getChannelsLast() && !op.getFilterChannelsLast() &&
         areAll(op.getPadLow(), 0) && areAll(op.getPadHigh(), 0) &&
         x.getShape().drop_front(2) == w.getShape().drop_front(2) &&
         areAll(y.getShape().drop_front(2), 1);
}

/// All dimensions but the first: the channels and the kernel.
SmallVector<int64_t> behindFirst(RankedTensorType type) {
  SmallVector<int64_t> dimensions(type.getRank() - 1);
  std::iota(dimensions.begin(), dimensions.end(), 1);
  return dimensions;
}

// A convolution at one place is a product of matrices, as the last one of a discriminator or one
// of squeezed channels, for which oneDNN has no fast gradient.
LogicalResult convolutionAtOnePlace(ConvolutionOp op, PatternRewriter &rewriter) {
  RankedTensorType x = op.getX().getType(), w = op.getW().getType();
  if (!hasOnePlace(op, x, w, op.getType()))
    return failure();
  Tensor product = dotGeneral(tensor(rewriter, op, op.getX()), tensor(rewriter, op, op.getW()), {},
                              {}, behindFirst(x), behindFirst(w));
  return replace(op, rewriter, product.reshape(op.getType().getShape()));
}
LogicalResult dataGradientAtOnePlace(ConvolutionBackwardDataOp op, PatternRewriter &rewriter) {
  RankedTensorType x = op.getType(), w = op.getW().getType();
  if (!hasOnePlace(op, x, w, op.getDy().getType()))
    return failure();
  Tensor dy = tensor(rewriter, op, op.getDy()).reshape({x.getDimSize(0), w.getDimSize(0)});
  return replace(op, rewriter, dotGeneral(dy, tensor(rewriter, op, op.getW()), {}, {}, {1}, {0}));
}
LogicalResult weightGradientAtOnePlace(ConvolutionBackwardWeightsOp op, PatternRewriter &rewriter) {
  RankedTensorType x = op.getX().getType(), w = op.getType();
  if (!hasOnePlace(op, x, w, op.getDy().getType()))
    return failure();
  Tensor dy = tensor(rewriter, op, op.getDy()).reshape({x.getDimSize(0), w.getDimSize(0)});
  return replace(op, rewriter, dotGeneral(dy, tensor(rewriter, op, op.getX()), {}, {}, {0}, {0}));
}

} // namespace

void transforms::populateContractionRules(RewritePatternSet &patterns, bool keepFactors) {
  patterns.add(dotOfTranspose);
  if (!keepFactors)
    patterns.add(dotOfScaled);
  patterns.add(transposeOfDot).add(transposeOfScaledDot);
  patterns.add(convolutionAtOnePlace).add(dataGradientAtOnePlace).add(weightGradientAtOnePlace);
}
