// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, pads and concatenations of each other.
#include "ir/prim/NarrowSort.h"
#include "transforms/simplify/Patterns.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

bool allZero(ArrayRef<int64_t> list) {
  return llvm::all_of(list, [](int64_t n) { return n == 0; });
}
bool noneNegative(ArrayRef<int64_t> list) {
  return llvm::all_of(list, [](int64_t n) { return n >= 0; });
}

// ---- what does nothing ----

LogicalResult dropSlice(SliceOp op, PatternRewriter &rewriter) {
  if (op.getType() != op.getOperand().getType()) // then all starts are 0 and all strides idle
    return failure();
  return replace(op, rewriter, op.getOperand());
}

LogicalResult dropPad(PadOp op, PatternRewriter &rewriter) {
  if (op.getType() != op.getOperand().getType() || !allZero(op.getLow()) || !allZero(op.getHigh()))
    return failure();
  return replace(op, rewriter, op.getOperand());
}

LogicalResult dropEmptyInputs(ConcatenateOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    if (tensorType(input).getDimSize(op.getDimension()) != 0)
      inputs.push_back(input);
  if (inputs.empty())
    inputs.push_back(op.getInputs().front());
  if (inputs.size() == op.getInputs().size() && inputs.size() > 1)
    return failure();
  if (inputs.size() == 1)
    return replace(op, rewriter, inputs.front());
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, inputs, op.getDimension());
  return success();
}

// ---- one of another ----

LogicalResult sliceOfSlice(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> starts, limits, strides;
  for (int64_t d = 0; d < op.getType().getRank(); ++d) {
    int64_t count = op.getType().getDimSize(d), stride = inner.getStrides()[d] * op.getStrides()[d];
    int64_t start = inner.getStarts()[d] + op.getStarts()[d] * inner.getStrides()[d];
    start = count == 0 ? 0 : start;
    starts.push_back(start);
    limits.push_back(count == 0 ? 0 : start + (count - 1) * stride + 1);
    strides.push_back(stride);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, inner.getOperand(), starts, limits, strides);
  return success();
}

// Only the inputs that the slice touches are needed.
LogicalResult sliceOfConcatenate(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ConcatenateOp>();
  if (!inner || op.getType().getNumElements() == 0)
    return failure();
  auto dimension = static_cast<int64_t>(inner.getDimension());
  int64_t first = op.getStarts()[dimension];
  int64_t last = first + (op.getType().getDimSize(dimension) - 1) * op.getStrides()[dimension];
  SmallVector<Value> touched;
  int64_t offset = 0, before = 0;
  for (Value input : inner.getInputs()) {
    int64_t extent = tensorType(input).getDimSize(dimension);
    if (offset + extent <= first)
      before = offset + extent;
    else if (offset <= last)
      touched.push_back(input);
    offset += extent;
  }
  if (touched.size() == inner.getInputs().size())
    return failure();
  Value from = touched.size() == 1
                   ? touched.front()
                   : rewriter.create<ConcatenateOp>(inner.getLoc(), touched, dimension).getResult();
  SmallVector<int64_t> starts(op.getStarts()), limits(op.getLimits());
  starts[dimension] = first - before;
  limits[dimension] = last - before + 1;
  rewriter.replaceOpWithNewOp<SliceOp>(op, from, starts, limits, op.getStrides());
  return success();
}

// Where a slice takes elements of the operand only, or of the padding only.
LogicalResult sliceOfPad(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<PadOp>();
  if (!inner || op.getType().getNumElements() == 0)
    return failure();
  RankedTensorType operand = tensorType(inner.getOperand());
  SmallVector<int64_t> starts, limits, strides;
  bool onlyOperand = true;
  for (int64_t d = 0; d < operand.getRank(); ++d) {
    int64_t step = inner.getInterior()[d] + 1, stride = op.getStrides()[d];
    int64_t count = op.getType().getDimSize(d), first = op.getStarts()[d] - inner.getLow()[d];
    int64_t last = first + (count - 1) * stride, end = (operand.getDimSize(d) - 1) * step;
    if (last < 0 || first > end || operand.getDimSize(d) == 0) {
      rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getValue(),
                                               ArrayRef<int64_t>());
      return success();
    }
    onlyOperand &=
        first >= 0 && last <= end && first % step == 0 && (count == 1 || stride % step == 0);
    int64_t newStride = std::max<int64_t>(stride / step, 1);
    starts.push_back(first / step);
    limits.push_back(first / step + (count - 1) * newStride + 1);
    strides.push_back(newStride);
  }
  if (!onlyOperand)
    return failure();
  rewriter.replaceOpWithNewOp<SliceOp>(op, inner.getOperand(), starts, limits, strides);
  return success();
}

/// Where each dimension of `from` is in `to`, which has extents of 1 in other places; -1 where it
/// is one of these itself.
std::optional<SmallVector<int64_t>> placesOfDimensions(ArrayRef<int64_t> from,
                                                       ArrayRef<int64_t> to) {
  SmallVector<int64_t> places;
  size_t next = 0;
  for (int64_t extent : from) {
    while (extent != 1 && next < to.size() && to[next] == 1)
      ++next;
    if (extent != 1 && (next == to.size() || to[next] != extent))
      return std::nullopt;
    places.push_back(extent == 1 ? -1 : static_cast<int64_t>(next++));
  }
  return places;
}

/// Whether all that is read of the value, whatever units its shape has, is at most `most` slices.
bool isOnlySliced(Value value, int64_t &most) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return isa<SliceOp>(user) ? --most >= 0
                              : isa<ReshapeOp>(user) && isOnlySliced(user->getResult(0), most);
  });
}

// A few parts of what is transposed as a whole: each can be read where it was then, by whatever
// reads it. Of many each would be a kernel of its own.
LogicalResult sliceOfTranspose(SliceOp op, PatternRewriter &rewriter) {
  Value whole = op.getOperand();
  if (auto reshape = whole.getDefiningOp<ReshapeOp>())
    whole = reshape.getOperand();
  auto inner = whole.getDefiningOp<TransposeOp>();
  int64_t few = 4;
  if (!inner || op.getType().getNumElements() == 0 || !isOnlySliced(inner, few))
    return failure();
  std::optional<SmallVector<int64_t>> places =
      placesOfDimensions(inner.getType().getShape(), tensorType(op.getOperand()).getShape());
  if (!places)
    return failure();
  SmallVector<int64_t> starts, limits, strides;
  starts.resize(places->size(), 0);
  limits.resize(places->size(), 1);
  strides.resize(places->size(), 1);
  for (auto [at, from] : llvm::zip(*places, inner.getPermutation())) {
    if (at < 0)
      continue;
    starts[from] = op.getStarts()[at];
    limits[from] = op.getLimits()[at];
    strides[from] = op.getStrides()[at];
  }
  Value part = rewriter.create<SliceOp>(op.getLoc(), inner.getOperand(), starts, limits, strides);
  part = rewriter.create<TransposeOp>(op.getLoc(), part, inner.getPermutation());
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), part);
  return success();
}

LogicalResult padOfPad(PadOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<PadOp>();
  if (!inner || inner.getValue() != op.getValue() || !allZero(inner.getInterior()) ||
      !allZero(op.getInterior()))
    return failure();
  if (!noneNegative(inner.getLow()) || !noneNegative(inner.getHigh()) ||
      !noneNegative(op.getLow()) || !noneNegative(op.getHigh()))
    return failure();
  SmallVector<int64_t> low, high;
  for (size_t d = 0; d < op.getLow().size(); ++d) {
    low.push_back(inner.getLow()[d] + op.getLow()[d]);
    high.push_back(inner.getHigh()[d] + op.getHigh()[d]);
  }
  rewriter.replaceOpWithNewOp<PadOp>(op, inner.getOperand(), op.getValue(), low, high,
                                     op.getInterior());
  return success();
}

LogicalResult concatenateOfConcatenate(ConcatenateOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatenateOp>();
    if (inner && inner.getDimension() == op.getDimension() && inner->hasOneUse())
      llvm::append_range(inputs, inner.getInputs());
    else
      inputs.push_back(input);
  }
  if (inputs.size() == op.getInputs().size())
    return failure();
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, inputs, op.getDimension());
  return success();
}

// The gradient of neighbouring slices: the sum of two pads by zero whose operands lie side by side
// is the pad of their concatenation.
LogicalResult addOfNeighbouringPads(AddOp op, PatternRewriter &rewriter) {
  auto a = op.getLhs().getDefiningOp<PadOp>(), b = op.getRhs().getDefiningOp<PadOp>();
  if (!a || !b || !a->hasOneUse() || !b->hasOneUse() || !isSplat(a.getValue(), 0) ||
      !isSplat(b.getValue(), 0) || !allZero(a.getInterior()) || !allZero(b.getInterior()))
    return failure();
  std::optional<int64_t> along;
  for (int64_t d = 0; d < op.getType().getRank(); ++d) {
    if (a.getLow()[d] < 0 || a.getHigh()[d] < 0 || b.getLow()[d] < 0 || b.getHigh()[d] < 0)
      return failure();
    if (a.getLow()[d] == b.getLow()[d] && a.getHigh()[d] == b.getHigh()[d])
      continue;
    if (along)
      return failure();
    along = d;
  }
  if (!along)
    return failure();
  if (b.getLow()[*along] < a.getLow()[*along])
    std::swap(a, b);
  if (a.getLow()[*along] + tensorType(a.getOperand()).getDimSize(*along) != b.getLow()[*along])
    return failure();
  SmallVector<int64_t> high(a.getHigh());
  high[*along] = b.getHigh()[*along];
  Value both = rewriter.create<ConcatenateOp>(op.getLoc(),
                                              ValueRange{a.getOperand(), b.getOperand()}, *along);
  rewriter.replaceOpWithNewOp<PadOp>(op, both, a.getValue(), a.getLow(), high, a.getInterior());
  return success();
}

LogicalResult narrowUsed(SortOp op, PatternRewriter &rewriter) { return narrowSort(op, rewriter); }

} // namespace

void transforms::populateSliceRules(RewritePatternSet &patterns) {
  patterns.add(dropSlice).add(dropPad).add(dropEmptyInputs);
  patterns.add(sliceOfSlice).add(sliceOfConcatenate).add(sliceOfPad).add(padOfPad);
  patterns.add(sliceOfTranspose);
  patterns.add(concatenateOfConcatenate).add(addOfNeighbouringPads).add(narrowUsed);
}
