// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the interface `Chunkable` speaks of, and what most ops answer.
#ifndef ACCC_IR_INTERFACES_CHUNKS_H
#define ACCC_IR_INTERFACES_CHUNKS_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace accc {

/// A dimension along which an op is computed chunk by chunk.
struct ChunkedDimension {
  /// The dimension of each operand of which a chunk is read; none: the operand is read whole.
  llvm::SmallVector<std::optional<int64_t>> operands;
  /// The dimension of the result of which a chunk is given; none: a part of a sum over all chunks.
  std::optional<int64_t> result;
};

/// Elements [begin, limit) of a dimension.
struct Chunk {
  int64_t begin, limit;
  int64_t extent() const { return limit - begin; }
};

/// Every dimension of an op's one result, and of its operands of the same shape.
llvm::SmallVector<ChunkedDimension> elementwiseDimensions(mlir::Operation *op);

/// Those of an op whose first operand has the result's rank, at dimensions that `passes` accepts:
/// of that operand and of the others of its rank.
llvm::SmallVector<ChunkedDimension>
dimensionsThat(mlir::Operation *op, llvm::function_ref<bool(int64_t dimension)> passes);

/// The type of a chunk of the op's one result; of parts of a sum, the result's.
mlir::RankedTensorType chunkType(mlir::Operation *op, const ChunkedDimension &dimension,
                                 Chunk chunk);

/// The op with its attributes, on chunks.
mlir::Value createSameOpOnChunk(mlir::OpBuilder &builder, mlir::Operation *op,
                                const ChunkedDimension &dimension, mlir::ValueRange operands,
                                Chunk chunk);

/// Whether parts of sums, each rounded to the element type, are as good as one sum: not in 16 bits.
bool maySumParts(mlir::Type elementType);

} // namespace accc

#endif
