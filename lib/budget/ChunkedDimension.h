// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one dimension passes through an op: what is read and given by an op that computes a chunk.
#ifndef ACCC_BUDGET_CHUNKEDDIMENSION_H
#define ACCC_BUDGET_CHUNKEDDIMENSION_H

#include "ir/prim/Prim.h"

#include <optional>

namespace accc {

/// An op of which a chunk is computed: elements [begin, limit) along one dimension of its result,
/// from the same elements of its operands.
struct ChunkedOp {
  /// The dimension of each operand of which a chunk is read; none: the operand is read whole.
  llvm::SmallVector<std::optional<int64_t>> operands;
  /// The dimension of the result of which a chunk is given; none: a part of a sum over all chunks.
  std::optional<int64_t> result;
};

/// The op, where chunks are those of dimension `dimension` of its one result; none where a chunk of
/// it needs more than chunks and whole tensors.
std::optional<ChunkedOp> chunkResult(mlir::Operation *op, int64_t dimension);

/// The op, where its operand number `operand` is read in chunks of `dimension`; none likewise.
std::optional<ChunkedOp> chunkOperand(mlir::Operation *op, unsigned operand, int64_t dimension);

/// Elements [begin, limit) of dimension `dimension`.
struct Chunk {
  int64_t begin, limit;
};

/// Computes a chunk of `op`, which `chunked` says how to read, from the operands as it says.
mlir::Value createChunk(mlir::OpBuilder &builder, mlir::Operation *op, const ChunkedOp &chunked,
                        mlir::ValueRange operands, Chunk chunk);

} // namespace accc

#endif
