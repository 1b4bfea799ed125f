// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/IndexMath.h"
#include "ir/prim/Infer.h"
#include "ir/prim/StridedLoop.h"
#include "ir/prim/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Views.cpp.inc"

namespace {

/// The result of a view: result[i] = data[walk(i)].
ReferenceArray readThrough(const ReferenceArray &data, ArrayRef<int64_t> shape, StridedWalk walk) {
  ReferenceArray result(shape);
  int64_t next = 0;
  stridedLoop<1>(shape, {std::move(walk)},
                 [&](int64_t from) { result.values[next++] = data.values[from]; });
  return result;
}

AffineExpr constantIndex(ElementEmitter &emitter, int64_t value) {
  return getAffineConstantExpr(value, emitter.builder().getContext());
}

} // namespace

// ---- broadcast ----

LogicalResult BroadcastOp::verify() {
  RankedTensorType operand = tensorType(getOperand()), result = tensorType(getResult());
  ArrayRef<int64_t> dimensions = getDimensions();
  if (static_cast<int64_t>(dimensions.size()) != operand.getRank())
    return emitOpError("'dimensions' has ")
           << dimensions.size() << " entries for an operand of rank " << operand.getRank();
  if (operand.getElementType() != result.getElementType())
    return emitOpError("operand has element type ")
           << operand.getElementType() << " but the result " << result.getElementType();
  int64_t previous = -1;
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    if (dimension <= previous || dimension >= result.getRank())
      return emitOpError("'dimensions' must increase strictly and stay below the result's rank ")
             << result.getRank() << ", but entry " << i << " is " << dimension;
    previous = dimension;
    int64_t extent = operand.getDimSize(i);
    if (extent != 1 && extent != result.getDimSize(dimension))
      return emitOpError("operand dimension ")
             << i << " has extent " << extent << ", result dimension " << dimension << " has "
             << result.getDimSize(dimension);
  }
  return success();
}

// dx = the sum of dy over what was repeated.
LogicalResult BroadcastOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  RankedTensorType operand = tensorType(getOperand()), result = tensorType(getResult());
  SmallVector<int64_t> repeated;
  for (int64_t d = 0; d < result.getRank(); ++d) {
    const auto *it = llvm::find(getDimensions(), d);
    bool isNew = it == getDimensions().end();
    if (isNew || operand.getDimSize(it - getDimensions().begin()) != result.getDimSize(d))
      repeated.push_back(d);
  }
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  gradients.add(getOperand(), sum(dy, repeated).reshape(operand.getShape()));
  return success();
}

LogicalResult BroadcastOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  ArrayRef<int64_t> shape = tensorType(getResult()).getShape();
  StridedWalk walk{SmallVector<int64_t, 6>(shape.size(), 0)};
  for (auto [i, dimension] : llvm::enumerate(getDimensions()))
    walk.strides[dimension] = x.shape[i] == 1 ? 0 : x.strides()[i];
  results.push_back(readThrough(x, shape, walk));
  return success();
}

Value BroadcastOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> from;
  for (auto [dimension, extent] : llvm::zip(getDimensions(), tensorType(getOperand()).getShape()))
    from.push_back(extent == 1 ? constantIndex(emitter, 0) : index[dimension]);
  return emitter.element(getOperand(), from);
}

// ---- reshape ----

LogicalResult ReshapeOp::verify() {
  RankedTensorType operand = tensorType(getOperand()), result = tensorType(getResult());
  if (operand.getElementType() != result.getElementType())
    return emitOpError("operand has element type ")
           << operand.getElementType() << " but the result " << result.getElementType();
  if (operand.getNumElements() != result.getNumElements())
    return emitOpError("operand has ")
           << operand.getNumElements() << " elements but the result " << result.getNumElements();
  return success();
}

LogicalResult ReshapeOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  gradients.add(getOperand(), dy.reshape(tensorType(getOperand()).getShape()));
  return success();
}

LogicalResult ReshapeOp::evaluate(ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  results.push_back(operands[0]);
  results.back().shape = SmallVector<int64_t>(tensorType(getResult()).getShape());
  return success();
}

Value ReshapeOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  return emitter.element(getOperand(),
                         reshapeIndex(getContext(), index, tensorType(getResult()).getShape(),
                                      tensorType(getOperand()).getShape()));
}

// ---- transpose ----

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(checkEntries<TransposeOp>(loc, "permutation", permutation, operand.getRank())) ||
      failed(checkDimensions<TransposeOp>(loc, "permutation", permutation, operand.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t from : permutation)
    shape.push_back(operand.getDimSize(from));
  types.push_back(operand.clone(shape));
  return success();
}

LogicalResult TransposeOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = static_cast<int64_t>(to);
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  gradients.add(getOperand(), dy.transpose(inverse));
  return success();
}

LogicalResult TransposeOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  SmallVector<int64_t> strides = operands[0].strides();
  StridedWalk walk;
  for (int64_t from : getPermutation())
    walk.strides.push_back(strides[from]);
  results.push_back(readThrough(operands[0], tensorType(getResult()).getShape(), walk));
  return success();
}

Value TransposeOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> from(index.size());
  for (auto [to, dimension] : llvm::enumerate(getPermutation()))
    from[dimension] = index[to];
  return emitter.element(getOperand(), from);
}

// ---- slice ----

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  int64_t rank = operand.getRank();
  if (failed(checkEntries<SliceOp>(loc, "starts", adaptor.getStarts(), rank)) ||
      failed(checkEntries<SliceOp>(loc, "limits", adaptor.getLimits(), rank)) ||
      failed(checkEntries<SliceOp>(loc, "strides", adaptor.getStrides(), rank)) ||
      failed(checkLeast<SliceOp>(loc, "strides", adaptor.getStrides(), 1)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t start = adaptor.getStarts()[d], limit = adaptor.getLimits()[d];
    if (start < 0 || start > limit || limit > operand.getDimSize(d))
      return inferError<SliceOp>(loc, "takes [", start, ", ", limit, ") of dimension ", d,
                                 ", whose extent is ", operand.getDimSize(d));
    shape.push_back(llvm::divideCeil(limit - start, adaptor.getStrides()[d]));
  }
  types.push_back(operand.clone(shape));
  return success();
}

std::optional<int64_t> SliceOp::getContiguousBegin() {
  ArrayRef<int64_t> shape = getOperand().getType().getShape(), taken = getType().getShape();
  if (llvm::any_of(getStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  int64_t begin = 0, stride = 1;
  bool whole = true; // all dimensions behind this one
  for (size_t d = shape.size(); d-- > 0;) {
    if (taken[d] != 1 && !whole)
      return std::nullopt;
    whole &= taken[d] == shape[d];
    begin += getStarts()[d] * stride;
    stride *= shape[d];
  }
  return begin;
}

// dx has dy at start, start + stride, ... and 0 elsewhere.
LogicalResult SliceOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  SmallVector<int64_t> high, interior;
  for (int64_t d = 0; d < dy.rank(); ++d) {
    int64_t stride = getStrides()[d];
    int64_t span = dy.dim(d) == 0 ? 0 : (dy.dim(d) - 1) * stride + 1;
    high.push_back(tensorType(getOperand()).getDimSize(d) - getStarts()[d] - span);
    interior.push_back(stride - 1);
  }
  gradients.add(getOperand(), dy.pad(0.0, getStarts(), high, interior));
  return success();
}

LogicalResult SliceOp::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  SmallVector<int64_t> strides = operands[0].strides();
  StridedWalk walk;
  for (auto [d, stride] : llvm::enumerate(strides)) {
    walk.strides.push_back(stride * getStrides()[d]);
    walk.start += stride * getStarts()[d];
  }
  results.push_back(readThrough(operands[0], tensorType(getResult()).getShape(), walk));
  return success();
}

ArrayRef<StringRef> SliceOp::getAttributesOfAllDimensions() {
  static constexpr StringRef names[] = {"starts", "limits", "strides"};
  return names;
}

Value SliceOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> from;
  for (auto [i, start, stride] : llvm::zip(index, getStarts(), getStrides()))
    from.push_back(i * stride + start);
  return emitter.element(getOperand(), from);
}

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

// ---- reverse ----

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  if (failed(checkDimensions<ReverseOp>(loc, "dimensions", adaptor.getDimensions(),
                                        operand.getRank())))
    return failure();
  types.push_back(operand);
  return success();
}

LogicalResult ReverseOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  gradients.add(getOperand(), dy.reverse(getDimensions()));
  return success();
}

LogicalResult ReverseOp::evaluate(ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  StridedWalk walk{SmallVector<int64_t, 6>(x.strides())};
  for (int64_t d : getDimensions()) {
    walk.start += (x.shape[d] - 1) * walk.strides[d];
    walk.strides[d] = -walk.strides[d];
  }
  results.push_back(readThrough(x, x.shape, walk));
  return success();
}

ArrayRef<StringRef> ReverseOp::getAttributesOfSomeDimensions() {
  static constexpr StringRef names[] = {"dimensions"};
  return names;
}

Value ReverseOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> from(index);
  for (int64_t d : getDimensions())
    from[d] = (tensorType(getOperand()).getDimSize(d) - 1) - from[d];
  return emitter.element(getOperand(), from);
}
