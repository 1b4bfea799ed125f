// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known at compile time is computed at compile time, by the ops' own values.
#include "ir/interfaces/ReferenceValues.h"
#include "support/SizeThreshold.h"
#include "transforms/simplify/Patterns.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

/// The most elements that a folded constant may have.
constexpr int64_t kGreatestFold = 64 * 1024;

std::optional<DenseElementsAttr> constantOf(Value value) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements;
  return std::nullopt;
}

/// What the op makes of its operands, which are constants; nothing where doubles would not do.
std::optional<ReferenceArray> evaluated(Evaluable op, ArrayRef<ReferenceArray> operands) {
  auto exact = [](const ReferenceArray &array, Value value) {
    return areExact(array.values, tensorType(value).getElementType());
  };
  for (auto [array, operand] : llvm::zip_equal(operands, op->getOperands()))
    if (!exact(array, operand))
      return std::nullopt;
  SmallVector<ReferenceArray> results;
  // An error stays for the run, where data may avoid it.
  if (failed(op.evaluate(operands, results)) || !exact(results[0], op->getResult(0)))
    return std::nullopt;
  return results[0];
}

void replaceByConstant(Operation *op, PatternRewriter &rewriter, ElementsAttr value) {
  rewriter.replaceOpWithNewOp<ConstantOp>(op, value);
}

/// A pointwise op on constants that are the same number everywhere: computed once.
struct FoldSplats : OpInterfaceRewritePattern<Evaluable> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(Evaluable op, PatternRewriter &rewriter) const override {
    if (!isa<Pointwise>(op.getOperation()) || op->getNumResults() != 1 || op->getNumOperands() == 0)
      return failure();
    SmallVector<ReferenceArray> operands;
    for (Value operand : op->getOperands()) {
      std::optional<DenseElementsAttr> elements = constantOf(operand);
      if (!elements || !elements->isSplat())
        return failure();
      RankedTensorType scalar = RankedTensorType::get({}, elements->getElementType());
      operands.push_back(toReference(elements->resizeSplat(scalar)));
    }
    std::optional<ReferenceArray> result = evaluated(op, operands);
    if (!result)
      return failure();
    RankedTensorType type = tensorType(op->getResult(0));
    RankedTensorType scalar = RankedTensorType::get({}, type.getElementType());
    replaceByConstant(op, rewriter, toElements(*result, scalar).resizeSplat(type));
    return success();
  }
};

/// A view of one number is that number. Not so a gather: it also checks its indices, and the check
/// is how labels out of range are found.
struct FoldViewOfSplat : OpInterfaceRewritePattern<View> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(View op, PatternRewriter &rewriter) const override {
    if (!isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp, PadOp, ConcatenateOp, ReverseOp>(
            op.getOperation()))
      return failure();
    std::optional<DenseElementsAttr> first;
    for (Value operand : op->getOperands()) {
      std::optional<DenseElementsAttr> elements = constantOf(operand);
      if (!elements || !elements->isSplat())
        return failure();
      if (first && first->getSplatValue<Attribute>() != elements->getSplatValue<Attribute>())
        return failure();
      first = elements;
    }
    replaceByConstant(op, rewriter, first->resizeSplat(tensorType(op->getResult(0))));
    return success();
  }
};

/// Any op on constants, where the result is small. Views are left alone that make more of what
/// there is, and barriers: behind one is an input of the optimizer, whether it is known or not; and
/// the user's functions, which run when the model does.
struct FoldConstants : OpInterfaceRewritePattern<Evaluable> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(Evaluable op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1 ||
        isa<RandomBitsOp, OptimizationBarrierOp, CustomCallLike>(op.getOperation()) ||
        op->hasTrait<Collective>())
      return failure();
    RankedTensorType type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || type.getNumElements() > kGreatestFold)
      return failure();
    int64_t greatest = 0;
    for (Value operand : op->getOperands()) {
      std::optional<DenseElementsAttr> elements = constantOf(operand);
      if (!elements || elements->getNumElements() > kGreatestFold)
        return failure();
      greatest = std::max(greatest, elements->getNumElements());
    }
    if (isa<View>(op.getOperation()) && type.getNumElements() > greatest)
      return failure();
    SmallVector<ReferenceArray> operands;
    for (Value operand : op->getOperands())
      operands.push_back(toReference(*constantOf(operand)));
    std::optional<ReferenceArray> result = evaluated(op, operands);
    if (!result)
      return failure();
    replaceByConstant(op, rewriter, toElements(*result, type));
    return success();
  }
};

// The sum of n equal numbers, whatever n.
LogicalResult reduceOfSplat(ReduceOp op, PatternRewriter &rewriter) {
  std::optional<double> number = splatNumber(op.getOperand());
  int64_t elements = tensorType(op.getOperand()).getNumElements(),
          results = op.getType().getNumElements();
  if (!number || elements == 0 || results == 0 || op.getKind() == ReduceKind::prod)
    return failure();
  double count = static_cast<double>(elements / results);
  double value = op.getKind() == ReduceKind::sum ? *number * count : *number;
  if (!areExact(value, op.getType().getElementType()))
    return failure();
  return replace(op, rewriter, tensor(rewriter, op, op.getOperand()).full(op.getType(), value));
}

/// The bytes of every element; booleans, which are stored as bits, as bytes.
std::vector<char> elementBytes(DenseElementsAttr elements) {
  if (!elements.getElementType().isInteger(1)) {
    ArrayRef<char> raw = elements.getRawData();
    return std::vector<char>(raw.begin(), raw.end());
  }
  std::vector<char> bytes;
  for (bool value : elements.getValues<bool>())
    bytes.push_back(value);
  return bytes;
}

// A constant that repeats itself along a dimension is a broadcast of less: exporters and importers
// expand masks to every batch and head.
LogicalResult repeatedConstant(ConstantOp op, PatternRewriter &rewriter) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  RankedTensorType type = op.getType();
  if (!elements || elements.isSplat() ||
      type.getNumElements() < sizeThreshold(256)) // others are small enough
    return failure();
  std::vector<char> bytes = elementBytes(elements);
  size_t width = bytes.size() / type.getNumElements();
  SmallVector<int64_t> shape(type.getShape());
  // From the outermost dimension on: keep the first of equal slices.
  size_t outer = 1, inner = bytes.size();
  for (int64_t &extent : shape) {
    inner /= extent;
    bool repeats = extent > 1;
    for (size_t o = 0; repeats && o < outer; ++o) {
      const char *first = bytes.data() + o * extent * inner;
      for (int64_t i = 1; repeats && i < extent; ++i)
        repeats = std::equal(first, first + inner, first + i * inner);
    }
    if (repeats) {
      for (size_t o = 0; o < outer; ++o)
        std::copy_n(bytes.begin() + o * extent * inner, inner, bytes.begin() + o * inner);
      bytes.resize(outer * inner);
      extent = 1;
    }
    outer *= extent;
  }
  if (shape == type.getShape())
    return failure();
  RankedTensorType smaller = type.clone(shape);
  DenseElementsAttr value;
  if (type.getElementType().isInteger(1))
    value = DenseElementsAttr::get(smaller,
                                   ArrayRef(reinterpret_cast<bool *>(bytes.data()), bytes.size()));
  else
    value = DenseElementsAttr::getFromRawBuffer(smaller, ArrayRef(bytes.data(), outer * width));
  SmallVector<int64_t> dimensions(type.getRank());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  Value less = rewriter.create<ConstantOp>(op.getLoc(), value);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, less, dimensions);
  return success();
}

} // namespace

void transforms::populateConstantRules(RewritePatternSet &patterns) {
  patterns.add<FoldSplats, FoldViewOfSplat, FoldConstants>(patterns.getContext());
  patterns.add(reduceOfSplat).add(repeatedConstant);
}
