// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/MergedDimensions.h"

#include "ir/interfaces/ReferenceArray.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc;
using llvm::ArrayRef;

std::optional<prim::MergedDimensions> prim::mergeDimensions(ArrayRef<int64_t> shape,
                                                            ArrayRef<int64_t> dimensions) {
  MergedDimensions merged;
  bool isEmpty = ReferenceArray::count(shape) == 0;
  for (int64_t d : llvm::reverse(dimensions)) {
    int64_t stride = ReferenceArray::count(shape.drop_front(d + 1));
    if (shape[d] == 1)
      continue;
    if (!isEmpty && merged.extent == 1)
      merged.stride = stride;
    else if (!isEmpty && stride != merged.stride * merged.extent)
      return std::nullopt;
    merged.extent *= shape[d];
  }
  return merged;
}
