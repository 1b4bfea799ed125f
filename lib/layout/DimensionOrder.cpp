// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout/DimensionOrder.h"

#include "ir/prim/DimensionGroups.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::layout;

DimensionOrder layout::ownOrder(size_t rank) {
  DimensionOrder order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

DimensionOrder layout::channelsLast(size_t rank) {
  DimensionOrder order = ownOrder(rank);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

SmallVector<int64_t> layout::inOrder(ArrayRef<int64_t> entries, ArrayRef<int64_t> order) {
  SmallVector<int64_t> result;
  for (int64_t d : order)
    result.push_back(entries[d]);
  return result;
}

int64_t layout::placeOf(int64_t dimension, ArrayRef<int64_t> order) {
  return llvm::find(order, dimension) - order.begin();
}

SmallVector<int64_t> layout::withoutUnits(ArrayRef<int64_t> shape, ArrayRef<int64_t> order) {
  SmallVector<int64_t> result;
  for (int64_t d : order)
    if (shape[d] != 1)
      result.push_back(d);
  return result;
}

bool layout::sameMemory(ArrayRef<int64_t> shape, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return withoutUnits(shape, a) == withoutUnits(shape, b);
}

std::optional<DimensionOrder> layout::throughReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                                     ArrayRef<int64_t> order) {
  if (llvm::is_contained(from, 0) || llvm::is_contained(to, 0))
    return std::nullopt;
  SmallVector<int64_t> rest = withoutUnits(to, order);
  DimensionOrder result;
  SmallVector<prim::DimensionGroup> groups = prim::matchGroups(from, to);
  // A group is one dimension in two shapes, so that it must lie together and in its own order.
  for (size_t at = 0; at < rest.size();) {
    auto *group = llvm::find_if(groups, [&](const prim::DimensionGroup &candidate) {
      SmallVector<int64_t> members = withoutUnits(to, candidate.to);
      return !members.empty() &&
             ArrayRef(rest).drop_front(at).take_front(members.size()) == ArrayRef<int64_t>(members);
    });
    if (group == groups.end())
      return std::nullopt;
    at += withoutUnits(to, group->to).size();
    llvm::append_range(result, withoutUnits(from, group->from));
  }
  // Extents of 1 keep their places where nothing else moved; elsewhere any place will do.
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d)
    if (from[d] == 1)
      result.insert(result.begin() + std::min<int64_t>(d, static_cast<int64_t>(result.size())), d);
  return result;
}
