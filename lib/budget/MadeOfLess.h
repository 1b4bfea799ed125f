// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of which a chunk is rather computed than cut out of the whole.
#ifndef ACCC_BUDGET_MADEOFLESS_H
#define ACCC_BUDGET_MADEOFLESS_H

#include "ir/prim/Prim.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace accc {

/// Which values are made of much less by a few cheap ops: a mask of a comparison of counts, a
/// repeated bias, random numbers.
class MadeOfLess {
public:
  /// How the op that gives `value` is cut for chunks of it along `dimension`; none where the value
  /// is not made of much less.
  std::optional<ChunkedDimension> find(mlir::Value value, int64_t dimension) {
    return find(value, dimension, 0);
  }

private:
  std::optional<ChunkedDimension> find(mlir::Value value, int64_t dimension, int depth);
  std::optional<ChunkedDimension> findOnce(mlir::Value value, int64_t dimension, int depth);

  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<ChunkedDimension>> found;
};

} // namespace accc

#endif
