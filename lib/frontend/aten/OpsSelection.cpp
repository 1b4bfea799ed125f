// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements that a mask chooses, and those that differ: how many there are is the size of the
// result, so that what decides it must be known while compiling, but where the call gives the size.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Distinct.h"
#include "frontend/common/Indexing.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The row-major positions of the elements that are not 0.
SmallVector<int64_t> chosen(Node &node, Tensor mask, StringRef name) {
  SmallVector<double> known = node.knownReals(
      mask, "'" + name +
                "', which decides the size of the result (torch.where(mask, x, 0), or a "
                "product with the mask, keeps the size),");
  SmallVector<int64_t> positions;
  for (auto [i, value] : llvm::enumerate(known))
    if (value != 0)
      positions.push_back(static_cast<int64_t>(i));
  return positions;
}

/// Along each dimension the coordinates of positions in a tensor of this shape.
SmallVector<SmallVector<int64_t>> coordinatesOf(ArrayRef<int64_t> positions,
                                                ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<int64_t>> result;
  for (auto [stride, extent] : llvm::zip_equal(stridesOf(shape), shape)) {
    SmallVector<int64_t> along;
    for (int64_t position : positions)
      along.push_back(position / stride % extent);
    result.push_back(std::move(along));
  }
  return result;
}

/// [elements, dimensions]
Entities nonzero(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> positions = chosen(node, x, "self"), rows;
  SmallVector<SmallVector<int64_t>> coordinates = coordinatesOf(positions, x.shape());
  for (size_t i = 0; i < positions.size(); ++i)
    for (ArrayRef<int64_t> along : coordinates)
      rows.push_back(along[i]);
  return {node.integers(rows, {static_cast<int64_t>(positions.size()), x.rank()})};
}

/// A vector for each dimension.
Entities coordinates(Node &node, StringRef name) {
  Tensor x = asVector(node.in(name));
  SmallVector<int64_t> positions = chosen(node, x, name);
  std::vector<Entity> results;
  for (ArrayRef<int64_t> along : coordinatesOf(positions, x.shape()))
    results.push_back(node.integers(along, {static_cast<int64_t>(along.size())}));
  return {Entity::ofSequence(std::move(results))};
}
Entities nonzeroVectors(Node &node) { return coordinates(node, "self"); }
Entities whereTrue(Node &node) { return coordinates(node, "condition"); }

Entities maskedSelect(Node &node) {
  auto [mask, x] = node.broadcast(node.in("mask"), node.in("self"));
  SmallVector<int64_t> positions = chosen(node, mask, "mask");
  auto count = static_cast<int64_t>(positions.size());
  if (count == 0)
    return {node.full({0}, x.elementType(), 0)};
  return {flat(x).gather(node.integers(positions, {count}), 0)};
}

/// The coordinates of the first `size` elements that are not 0, whatever the data; rows that are
/// left over hold `fill_value`.
Entities nonzeroOfSize(Node &node) {
  Tensor x = node.in("self");
  int64_t size = node.integer("size");
  if (size < 0 || size > int64_t(1) << 32)
    fail("the size is " + Twine(size));
  Type i64 = node.builder().getI64Type();
  double fill = static_cast<double>(node.integer("fill_value"));
  if (x.size() == 0 || x.rank() == 0 || size == 0)
    return {node.full({size, x.rank()}, i64, fill)};
  Tensor isChosen = flat(x.elementType().isInteger(1) ? x : prim::notEqual(x, 0.0));
  Tensor ones = isChosen.convert(i64);
  Tensor before = prim::cumulative(prim::ReduceKind::sum, ones, 0) - 1.0;
  // All others meet in one place more, which is cut off.
  double last = static_cast<double>(size);
  Tensor place = prim::select(isChosen, prim::min(before, last), before.full(last));
  Tensor found = node.full({size + 1}, i64, -1)
                     .scatter(place, node.iota({x.size()}, 0), 0, prim::ScatterKind::set)
                     .sliceDim(0, 0, size);
  Tensor isLeft = found < 0.0;
  SmallVector<Tensor> columns;
  for (auto [stride, extent] : llvm::zip_equal(stridesOf(x.shape()), x.shape())) {
    Tensor along = found / static_cast<double>(stride);
    along = prim::rem(along, along.full(static_cast<double>(extent)));
    columns.push_back(prim::select(isLeft, along.full(fill), along).reshape({size, 1}));
  }
  return {node.concatenate(columns, 1)};
}

// ---- what differs ----

/// What differs, where each slice is in it, and how many slices are each; the last two are empty
/// where they are not asked for. Without a dimension, elements are compared.
Entities unique(Node &node, Among among, bool hasDimension, bool withCounts) {
  Tensor x = node.in("self");
  std::string what = "'self', whose different elements decide the size of the result,";
  SmallVector<int64_t> order = orderOfKnown(node, x, what);
  if (isa<FloatType>(x.elementType()) &&
      llvm::any_of(node.knownReals(x, what), [](double value) { return std::isnan(value); }))
    fail("NaNs, each of which differs from all others");
  SmallVector<int64_t> places(x.shape());
  int64_t axis = 0;
  if (hasDimension) {
    axis = node.axis(node.integer("dim"), x.rank());
    places = {x.dim(axis)};
  } else {
    x = flat(x);
  }
  Distinct different = distinctSlices(order, x.shape(), axis, among);
  auto count = static_cast<int64_t>(different.first.size());
  Tensor none = node.integers(ArrayRef<int64_t>(), {0});
  Tensor inverse = node.boolean("return_inverse") ? node.integers(different.inverse, places) : none;
  Tensor counts = withCounts ? node.integers(different.counts, {count}) : none;
  return {x.gather(node.integers(different.first, {count}), axis), inverse, counts};
}

// In their order, also where `sorted` asks for none.
Entities uniqueElements(Node &node) {
  return unique(node, Among::allSorted, false, node.boolean("return_counts"));
}
Entities uniqueSlices(Node &node) {
  return unique(node, Among::allSorted, true, node.boolean("return_counts"));
}
Entities uniqueNeighbors(Node &node) {
  return unique(node, Among::neighbors, node.has("dim"), node.boolean("return_counts"));
}
/// The older form, without counts.
Entities uniqueAndInverse(Node &node) {
  Entities all = unique(node, Among::allSorted, false, false);
  return {all[0], all[1]};
}

} // namespace

ArrayRef<OpRow> accc::aten::selectionOps() {
  static const OpRow rows[] = {
      {"nonzero(self)", nonzero, Alias::None, selected::nonzero},
      {"argwhere(self)", nonzero, Alias::None, selected::nonzero},
      {"nonzero_numpy(self)", nonzeroVectors, Alias::None, selected::nonzeroVectors},
      {"where(condition)", whereTrue, Alias::None, selected::whereTrue},
      {"nonzero_static(self, *, size, fill_value=-1)", nonzeroOfSize},
      {"masked_select(self, mask)", byParts<maskedSelect>, Alias::None, selected::readAll},
      {"_unique(self, sorted=True, return_inverse=False)", uniqueAndInverse},
      {"_unique2(self, sorted=True, return_inverse=False, return_counts=False)", uniqueElements},
      {"unique_dim(self, dim, sorted=True, return_inverse=False, return_counts=False)",
       uniqueSlices},
      {"unique_consecutive(self, return_inverse=False, return_counts=False, dim=None)",
       uniqueNeighbors},
  };
  return rows;
}
