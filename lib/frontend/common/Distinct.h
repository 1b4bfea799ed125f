// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which slices of known data differ. How many these are is the size of a tensor, so that the data
// must be known at compile time.
#ifndef ACCC_FRONTEND_COMMON_DISTINCT_H
#define ACCC_FRONTEND_COMMON_DISTINCT_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// A number for each element of what must be known, by which these compare: -0 is 0, and all NaNs
/// are one, after everything else. `what` names the elements in the error.
llvm::SmallVector<int64_t> orderOfKnown(NodeBuilder &node, prim::Tensor x, const llvm::Twine &what);

/// Which slices are one: all that are equal, in their order or in that of the first of each, or
/// those that follow each other.
enum class Among { allSorted, allAsFound, neighbors };

struct Distinct {
  llvm::SmallVector<int64_t> first;   // for each: the first slice that is it
  llvm::SmallVector<int64_t> inverse; // for each slice: its position in `first`
  llvm::SmallVector<int64_t> counts;  // for each: how many slices are it
};

/// The different slices along an axis of row-major elements.
Distinct distinctSlices(llvm::ArrayRef<int64_t> order, llvm::ArrayRef<int64_t> shape, int64_t axis,
                        Among among);

} // namespace accc::frontend

#endif // ACCC_FRONTEND_COMMON_DISTINCT_H
