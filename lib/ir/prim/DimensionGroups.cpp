// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/DimensionGroups.h"

using namespace mlir;
using namespace accc;

SmallVector<prim::DimensionGroup> prim::matchGroups(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<DimensionGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    DimensionGroup &group = groups.emplace_back();
    int64_t fromProduct = 1, toProduct = 1;
    auto takeFrom = [&] { fromProduct *= from[i], group.from.push_back(i++); };
    auto takeTo = [&] { toProduct *= to[j], group.to.push_back(j++); };
    if (i < from.size())
      takeFrom();
    if (j < to.size() && (group.from.empty() || fromProduct != 1))
      takeTo();
    while (fromProduct != toProduct) {
      if (fromProduct < toProduct)
        takeFrom();
      else
        takeTo();
    }
  }
  return groups;
}
