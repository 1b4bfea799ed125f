// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several dimensions of a tensor in memory, walked as one.
#ifndef ACCC_IR_PRIM_MERGEDDIMENSIONS_H
#define ACCC_IR_PRIM_MERGEDDIMENSIONS_H

#include "ir/prim/StridedView.h"

namespace accc::prim {

struct MergedDimensions {
  int64_t extent = 1;
  /// From one step to the next, in elements; 1 where there is none to take.
  int64_t stride = 1;
};

/// `dimensions` of a tensor that lies so walked as one, in this order; nothing if they do not lie
/// one inside the other. The dimensions of an empty tensor can be walked in any order: no element
/// is reached.
std::optional<MergedDimensions> mergeDimensions(const StridedView &lies,
                                                llvm::ArrayRef<int64_t> dimensions);

} // namespace accc::prim

#endif
