// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/MergedDimensions.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc;
using llvm::ArrayRef;

std::optional<prim::MergedDimensions> prim::mergeDimensions(const StridedView &lies,
                                                            ArrayRef<int64_t> dimensions) {
  MergedDimensions merged;
  bool isEmpty = lies.elements() == 0;
  for (int64_t d : llvm::reverse(dimensions)) {
    int64_t extent = lies.shape[d], stride = lies.strides[d];
    if (extent == 1)
      continue;
    if (!isEmpty && merged.extent == 1)
      merged.stride = stride;
    else if (!isEmpty && stride != merged.stride * merged.extent)
      return std::nullopt;
    merged.extent *= extent;
  }
  return merged;
}
