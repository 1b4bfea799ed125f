// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops around large tensors that can be computed chunk by chunk, so that these are never whole.
#ifndef ACCC_BUDGET_CHUNKEDREGION_H
#define ACCC_BUDGET_CHUNKEDREGION_H

#include "budget/Costs.h"
#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// Which tensors are too large to be computed at once, and into chunks of how many bytes they are
/// cut.
struct ChunkSizes {
  int64_t leastBytes;
  int64_t chunkBytes;
  bool always = false; // also where that costs more than it saves
};

/// What runs for one chunk, then for the next.
struct ChunkedPass {
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  llvm::SmallVector<mlir::Value> outputs;   // what others read, all of it
};

/// Ops that are connected by large tensors, all of which are cut along one dimension. What is
/// computed from a result of theirs and read by another (a model between an attention and its
/// gradient) divides them into passes; large tensors of an earlier pass are computed again.
struct ChunkedRegion {
  llvm::DenseMap<mlir::Operation *, ChunkedDimension> members;
  llvm::SmallVector<ChunkedPass> passes;
  int64_t extent = 0;       // of the dimension
  int64_t size = 0;         // of a chunk; the last one may be smaller
  int64_t tensors = 0;      // that are never whole
  int64_t largestBytes = 0; // of the largest of these
  double cost = 0;          // of computing them in chunks, in bytes (Target.h)

  int64_t chunks() const { return (extent + size - 1) / size; }
  bool contains(mlir::Operation *op) const { return op && members.contains(op); }
  /// Whether an op gives its result chunk by chunk, not a sum over them.
  bool givesChunks(mlir::Operation *op) const {
    auto it = members.find(op);
    return it != members.end() && it->second.result;
  }
};

/// The region around `seed`, the result of a matrix product, that takes least memory by chunks of
/// `sizes.chunkBytes`; none where no dimension passes, or computing in chunks costs more than it
/// saves.
std::optional<ChunkedRegion> findRegion(mlir::Value seed, const ChunkSizes &sizes,
                                        const Costs &costs);

} // namespace accc

#endif
