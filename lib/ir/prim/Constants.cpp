// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Pointwise.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Constants.cpp.inc"

// ---- constant ----

void ConstantOp::build(OpBuilder &builder, OperationState &state, ElementsAttr value) {
  build(builder, state, value.getType(), value);
}
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::evaluate(ArrayRef<ReferenceArray>,
                                   SmallVectorImpl<ReferenceArray> &results) {
  results.push_back(toReference(getValue()));
  return success();
}
SmallVector<ChunkedDimension> ConstantOp::getChunkedDimensions() {
  return isa<SplatElementsAttr>(getValue()) ? elementwiseDimensions(*this)
                                            : SmallVector<ChunkedDimension>();
}

Value ConstantOp::createChunk(OpBuilder &builder, const ChunkedDimension &dimension, ValueRange,
                              Chunk chunk) {
  auto splat = cast<SplatElementsAttr>(getValue());
  return builder.create<ConstantOp>(getLoc(),
                                    splat.resizeSplat(chunkType(*this, dimension, chunk)));
}

// Other constants than splats live in read-only buffers, which the emitter reads as it reads an
// input.
Value ConstantOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  if (!elements || !elements.isSplat())
    return emitter.element(getResult(), index);
  auto value = elements.getSplatValue<TypedAttr>();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    value = IntegerAttr::get(signless(integer.getType()), integer.getValue());
  return emitter.constant(value);
}

// ---- iota ----

LogicalResult IotaOp::verify() {
  // iota_c1
  if (getDimension() >= static_cast<uint64_t>(getType().getRank()))
    return emitOpError("dimension ") << static_cast<int64_t>(getDimension())
                                     << " is out of range for rank " << getType().getRank();
  return success();
}

LogicalResult IotaOp::evaluate(ArrayRef<ReferenceArray>, SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray &result = results.emplace_back(getType().getShape());
  int64_t extent = result.shape[getDimension()], stride = result.strides()[getDimension()];
  Type element = getType().getElementType();
  for (int64_t i = 0; i < result.size(); ++i) {
    auto index = static_cast<double>(i / stride % extent);
    result.values[i] = isa<IntegerType>(element) ? roundToElement(element, index) : index;
  }
  return success();
}

SmallVector<ChunkedDimension> IotaOp::getChunkedDimensions() {
  return elementwiseDimensions(*this);
}

// An element is what its place among all says.
Value IotaOp::createChunk(OpBuilder &builder, const ChunkedDimension &dimension, ValueRange,
                          Chunk chunk) {
  return Tensor(builder, getLoc(), builder.clone(**this)->getResult(0))
      .sliceDim(*dimension.result, chunk.begin, chunk.limit);
}

Value IotaOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  return emitter.indexValue(index[getDimension()], signless(getType().getElementType()));
}
