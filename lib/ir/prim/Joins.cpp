// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The views (Views.td) whose result has elements of several operands.
#include "ir/prim/Infer.h"
#include "ir/prim/StridedLoop.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

// ---- pad ----

LogicalResult PadOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                      Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand()),
                   value = tensorType(adaptor.getValue());
  int64_t rank = operand.getRank();
  if (failed(checkEntries<PadOp>(loc, "low", adaptor.getLow(), rank)) ||
      failed(checkEntries<PadOp>(loc, "high", adaptor.getHigh(), rank)) ||
      failed(checkEntries<PadOp>(loc, "interior", adaptor.getInterior(), rank)) ||
      failed(checkLeast<PadOp>(loc, "interior", adaptor.getInterior(), 0)))
    return failure();
  if (value.getRank() != 0 || value.getElementType() != operand.getElementType())
    return inferError<PadOp>(loc, "'value' must be a tensor of rank 0 of element type ",
                             operand.getElementType(), ", but is ", value);
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = operand.getDimSize(d);
    int64_t between = std::max<int64_t>(extent - 1, 0) * adaptor.getInterior()[d];
    int64_t padded = adaptor.getLow()[d] + extent + between + adaptor.getHigh()[d];
    if (padded < 0)
      return inferError<PadOp>(loc, "removes more than there is of dimension ", d,
                               ": its extent would be ", padded);
    shape.push_back(padded);
  }
  types.push_back(operand.clone(shape));
  return success();
}

// y = crop(spread(x)), where spread pads by what is positive and crop removes what is negative; so
// dx = unspread(uncrop(dy)), and the value gathers dy wherever no x went.
LogicalResult PadOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  if (gradients.wants(getOperand())) {
    SmallVector<int64_t> cropLow, cropHigh, starts, limits, strides;
    for (int64_t d = 0; d < dy.rank(); ++d) {
      int64_t low = getLow()[d], high = getHigh()[d], step = getInterior()[d] + 1;
      int64_t extent = tensorType(getOperand()).getDimSize(d);
      cropLow.push_back(std::max<int64_t>(-low, 0));
      cropHigh.push_back(std::max<int64_t>(-high, 0));
      starts.push_back(std::max<int64_t>(low, 0));
      limits.push_back(starts.back() + (extent == 0 ? 0 : (extent - 1) * step + 1));
      strides.push_back(step);
    }
    bool crops = llvm::any_of(getLow(), [](int64_t n) { return n < 0; }) ||
                 llvm::any_of(getHigh(), [](int64_t n) { return n < 0; });
    Tensor uncropped = crops ? dy.pad(0.0, cropLow, cropHigh) : dy;
    gradients.add(getOperand(), uncropped.slice(starts, limits, strides));
  }
  if (gradients.wants(getValue())) {
    RankedTensorType mask = tensorType(getOperand()).clone(gradients.builder().getI1Type());
    Tensor isOperand = dy.full(mask, 1.0).pad(0.0, getLow(), getHigh(), getInterior());
    gradients.add(getValue(), sumAll(select(isOperand, 0.0, dy)));
  }
  return success();
}

LogicalResult PadOp::evaluate(ArrayRef<ReferenceArray> operands,
                              SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  ReferenceArray y(tensorType(getResult()).getShape(), operands[1].values[0]);
  SmallVector<int64_t> fromStrides = x.strides(), toStrides = y.strides(), kept;
  StridedWalk from, to;
  for (int64_t d = 0; d < x.rank(); ++d) {
    // Elements first <= i < last have their place low + i * step inside the result.
    int64_t low = getLow()[d], step = getInterior()[d] + 1;
    int64_t first = low >= 0 ? 0 : llvm::divideCeil(-low, step);
    int64_t last = y.shape[d] <= low ? 0 : (y.shape[d] - 1 - low) / step + 1;
    last = std::min(last, x.shape[d]);
    kept.push_back(std::max<int64_t>(last - first, 0));
    from.strides.push_back(fromStrides[d]);
    from.start += first * fromStrides[d];
    to.strides.push_back(step * toStrides[d]);
    to.start += (low + first * step) * toStrides[d];
  }
  stridedLoop<2>(kept, {from, to}, [&](int64_t i, int64_t o) { y.values[o] = x.values[i]; });
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> PadOp::getAttributesOfAllDimensions() {
  static constexpr StringRef names[] = {"low", "high", "interior"};
  return names;
}

SmallVector<ChunkedDimension> PadOp::getChunkedDimensions() {
  return dimensionsThat(*this, [&](int64_t d) {
    return getLow()[d] == 0 && getHigh()[d] == 0 && getInterior()[d] == 0;
  });
}

Value PadOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  ArrayRef<int64_t> extents = tensorType(getOperand()).getShape();
  SmallVector<AffineExpr> from;
  SmallVector<IndexRange> ranges;
  auto outside = [&] { return emitter.element(getValue(), {}); };
  if (llvm::is_contained(extents, 0))
    return outside();
  for (auto [d, i] : llvm::enumerate(index)) {
    int64_t step = getInterior()[d] + 1;
    AffineExpr spread = i - getLow()[d];
    if (getLow()[d] > 0 || getHigh()[d] > 0)
      ranges.push_back({spread, 0, (extents[d] - 1) * step + 1});
    if (step != 1 && extents[d] > 1)
      ranges.push_back({spread % step, 0, 1});
    from.push_back(spread.floorDiv(step));
  }
  auto inside = [&] { return emitter.element(getOperand(), from); };
  return ranges.empty() ? inside() : emitter.select(ranges, inside, outside);
}

// ---- concatenate ----

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return inferError<ConcatenateOp>(loc, "needs at least one operand");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  int64_t dimension = adaptor.getDimension();
  if (failed(checkDimension<ConcatenateOp>(loc, "dimension", dimension, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  shape[dimension] = 0;
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs())) {
    RankedTensorType type = tensorType(input);
    bool agrees =
        type.getElementType() == first.getElementType() && type.getRank() == first.getRank();
    for (int64_t d = 0; agrees && d < first.getRank(); ++d)
      agrees = d == dimension || type.getDimSize(d) == first.getDimSize(d);
    if (!agrees)
      return inferError<ConcatenateOp>(loc, "operand ", i, " is ", type, ", but operand 0 is ",
                                       first, ": they may differ in dimension ", dimension,
                                       " only");
    shape[dimension] += type.getDimSize(dimension);
  }
  types.push_back(first.clone(shape));
  return success();
}

LogicalResult ConcatenateOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  int64_t dimension = getDimension(), start = 0;
  for (Value input : getInputs()) {
    int64_t limit = start + tensorType(input).getDimSize(dimension);
    if (gradients.wants(input))
      gradients.add(input, dy.sliceDim(dimension, start, limit));
    start = limit;
  }
  return success();
}

LogicalResult ConcatenateOp::evaluate(ArrayRef<ReferenceArray> operands,
                                      SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray y(tensorType(getResult()).getShape());
  SmallVector<int64_t> strides = y.strides();
  StridedWalk to{SmallVector<int64_t, 6>(strides)};
  for (const ReferenceArray &x : operands) {
    StridedWalk from{SmallVector<int64_t, 6>(x.strides())};
    stridedLoop<2>(x.shape, {from, to}, [&](int64_t i, int64_t o) { y.values[o] = x.values[i]; });
    to.start += x.shape[getDimension()] * strides[getDimension()];
  }
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> ConcatenateOp::getAttributesOfSomeDimensions() {
  static constexpr StringRef names[] = {"dimension"};
  return names;
}

SmallVector<ChunkedDimension> ConcatenateOp::getChunkedDimensions() {
  return dimensionsThat(*this,
                        [&](int64_t d) { return d != static_cast<int64_t>(getDimension()); });
}

Value ConcatenateOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  int64_t dimension = getDimension();
  SmallVector<Value> inputs;
  for (Value input : getInputs())
    if (tensorType(input).getDimSize(dimension) != 0)
      inputs.push_back(input);
  if (inputs.empty())
    inputs.push_back(getInputs().front());

  SmallVector<int64_t> starts;
  int64_t end = 0;
  for (Value input : inputs) {
    starts.push_back(end);
    end += tensorType(input).getDimSize(dimension);
  }

  // The operand that holds the index, found by halving those from `first` to `last`.
  auto find = [&](auto &self, size_t first, size_t last) -> Value {
    if (first + 1 == last) {
      SmallVector<AffineExpr> local(index);
      local[dimension] = index[dimension] - starts[first];
      return emitter.element(inputs[first], local);
    }
    size_t middle = (first + last) / 2;
    return emitter.select(
        {{index[dimension], 0, starts[middle]}}, [&] { return self(self, first, middle); },
        [&] { return self(self, middle, last); });
  };
  return find(find, 0, inputs.size());
}
