// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of a region, written out for each chunk.
#ifndef ACCC_BUDGET_CHUNKWRITER_H
#define ACCC_BUDGET_CHUNKWRITER_H

#include "budget/ChunkedRegion.h"

namespace accc {

/// Puts the chunks in the place of the region, numbered from `firstChunk` on. Gives the number of
/// the first chunk after them.
int64_t writeInChunks(const ChunkedRegion &region, mlir::Block &block, int64_t firstChunk);

} // namespace accc

#endif
