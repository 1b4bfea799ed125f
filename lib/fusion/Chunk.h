// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunk that an op computes a part of, between compute-in-chunks and fusion.
#ifndef ACCC_FUSION_CHUNK_H
#define ACCC_FUSION_CHUNK_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace accc {

/// An integer that numbers the chunks of a function in the order in which they run. Ops of
/// different chunks, or of one and of none, become no kernel: it would keep what the first has
/// computed until the last has.
inline constexpr llvm::StringLiteral kChunk = "accc.chunk";

/// Null: the op is part of none.
inline mlir::Attribute getChunk(mlir::Operation *op) { return op->getAttr(kChunk); }

inline void setChunk(mlir::Operation *op, int64_t chunk) {
  op->setAttr(kChunk, mlir::Builder(op->getContext()).getI64IntegerAttr(chunk));
}

} // namespace accc

#endif
