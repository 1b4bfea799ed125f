// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Chunks.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace accc;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The op along dimension `dimension` of its result and of the operands that `isCut` accepts.
static ChunkedDimension alike(Operation *op, int64_t dimension,
                              llvm::function_ref<bool(Value)> isCut) {
  ChunkedDimension chunked;
  chunked.result = dimension;
  for (Value operand : op->getOperands())
    chunked.operands.push_back(isCut(operand) ? std::optional(dimension) : std::nullopt);
  return chunked;
}

SmallVector<ChunkedDimension> accc::elementwiseDimensions(Operation *op) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  SmallVector<ChunkedDimension> dimensions;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    dimensions.push_back(
        alike(op, d, [&](Value operand) { return typeOf(operand).getShape() == shape; }));
  return dimensions;
}

SmallVector<ChunkedDimension>
accc::dimensionsThat(Operation *op, llvm::function_ref<bool(int64_t dimension)> passes) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  SmallVector<ChunkedDimension> dimensions;
  for (int64_t d = 0; d < rank; ++d)
    if (passes(d))
      dimensions.push_back(
          alike(op, d, [&](Value operand) { return typeOf(operand).getRank() == rank; }));
  return dimensions;
}

RankedTensorType accc::chunkType(Operation *op, const ChunkedDimension &dimension, Chunk chunk) {
  RankedTensorType type = typeOf(op->getResult(0));
  if (!dimension.result)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[*dimension.result] = chunk.extent();
  return type.clone(shape);
}

Value accc::createSameOpOnChunk(OpBuilder &builder, Operation *op,
                                const ChunkedDimension &dimension, ValueRange operands,
                                Chunk chunk) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(chunkType(op, dimension, chunk));
  state.addAttributes(op->getAttrs());
  return builder.create(state)->getResult(0);
}

bool accc::maySumParts(Type elementType) {
  return !isa<FloatType>(elementType) || elementType.getIntOrFloatBitWidth() >= 32;
}
