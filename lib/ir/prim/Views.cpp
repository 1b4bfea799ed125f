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

// What is repeated is read whole.
SmallVector<ChunkedDimension> BroadcastOp::getChunkedDimensions() {
  ArrayRef<int64_t> from = tensorType(getOperand()).getShape();
  SmallVector<ChunkedDimension> dimensions;
  for (auto [d, extent] : llvm::enumerate(tensorType(getResult()).getShape())) {
    std::optional<int64_t> read;
    for (auto [i, to] : llvm::enumerate(getDimensions()))
      if (to == static_cast<int64_t>(d) && from[i] == extent)
        read = i;
    dimensions.push_back({{read}, d});
  }
  return dimensions;
}

Value BroadcastOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  // A dimension that is not repeated keeps its index, which is 0 where its extent is 1 as well, so
  // that it stays that of the kernel's row.
  RankedTensorType result = tensorType(getResult());
  SmallVector<AffineExpr> from;
  for (auto [dimension, extent] : llvm::zip(getDimensions(), tensorType(getOperand()).getShape()))
    from.push_back(extent == result.getDimSize(dimension) ? index[dimension]
                                                          : constantIndex(emitter, 0));
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

// Those with the same elements before and behind them.
SmallVector<ChunkedDimension> ReshapeOp::getChunkedDimensions() {
  ArrayRef<int64_t> from = tensorType(getOperand()).getShape(),
                    to = tensorType(getResult()).getShape();
  SmallVector<ChunkedDimension> dimensions;
  for (int64_t d = 0, e = 0; d < static_cast<int64_t>(to.size()); ++d) {
    int64_t before = ReferenceArray::count(to.take_front(d));
    for (e = 0; e < static_cast<int64_t>(from.size()); ++e)
      if (from[e] == to[d] && ReferenceArray::count(from.take_front(e)) == before) {
        dimensions.push_back({{e}, d});
        break;
      }
  }
  return dimensions;
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

SmallVector<ChunkedDimension> TransposeOp::getChunkedDimensions() {
  SmallVector<ChunkedDimension> dimensions;
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    dimensions.push_back({{from}, to});
  return dimensions;
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

SmallVector<ChunkedDimension> SliceOp::getChunkedDimensions() {
  ArrayRef<int64_t> from = tensorType(getOperand()).getShape(),
                    to = tensorType(getResult()).getShape();
  return dimensionsThat(*this, [&](int64_t d) { return from[d] == to[d]; });
}

Value SliceOp::createChunk(OpBuilder &builder, const ChunkedDimension &dimension,
                           ValueRange operands, Chunk chunk) {
  SmallVector<int64_t> limits(getLimits());
  limits[*dimension.result] = chunk.extent();
  return Tensor(builder, getLoc(), operands[0]).slice(getStarts(), limits, getStrides());
}

Value SliceOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> from;
  for (auto [i, start, stride] : llvm::zip(index, getStarts(), getStrides()))
    from.push_back(i * stride + start);
  return emitter.element(getOperand(), from);
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

SmallVector<ChunkedDimension> ReverseOp::getChunkedDimensions() {
  return dimensionsThat(*this, [&](int64_t d) { return !llvm::is_contained(getDimensions(), d); });
}

Value ReverseOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> from(index);
  for (int64_t d : getDimensions())
    from[d] = (tensorType(getOperand()).getDimSize(d) - 1) - from[d];
  return emitter.element(getOperand(), from);
}
