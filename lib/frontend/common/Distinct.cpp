// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Distinct.h"
#include "frontend/common/Indexing.h"

#include <bit>
#include <cmath>
#include <map>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

int64_t orderOf(double value) {
  if (std::isnan(value))
    return std::numeric_limits<int64_t>::max();
  int64_t bits = std::bit_cast<int64_t>(value == 0 ? 0.0 : value);
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits;
}

using Slices = std::vector<std::vector<int64_t>>;

Distinct distinctNeighbors(const Slices &slices) {
  Distinct result;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (i == 0 || slices[i] != slices[i - 1]) {
      result.first.push_back(static_cast<int64_t>(i));
      result.counts.push_back(0);
    }
    result.inverse.push_back(static_cast<int64_t>(result.first.size()) - 1);
    ++result.counts.back();
  }
  return result;
}

} // namespace

SmallVector<int64_t> frontend::orderOfKnown(NodeBuilder &node, Tensor x, const Twine &what) {
  if (isa<FloatType>(x.elementType()))
    return llvm::map_to_vector(node.knownReals(x, what), orderOf);
  SmallVector<int64_t> values = node.knownIntegers(x, what);
  if (x.elementType().isUnsignedInteger(64))
    for (int64_t &value : values)
      value ^= std::numeric_limits<int64_t>::min();
  return values;
}

Distinct frontend::distinctSlices(ArrayRef<int64_t> order, ArrayRef<int64_t> shape, int64_t axis,
                                  Among among) {
  int64_t stride = stridesOf(shape)[axis], count = shape[axis];
  Slices slices(count);
  for (auto [i, value] : llvm::enumerate(order))
    slices[static_cast<int64_t>(i) / stride % count].push_back(value);
  if (among == Among::neighbors)
    return distinctNeighbors(slices);

  Distinct result;
  std::map<std::vector<int64_t>, int64_t> numbers; // positions in `first`
  for (int64_t i = 0; i < count; ++i)
    if (numbers.try_emplace(slices[i], static_cast<int64_t>(result.first.size())).second)
      result.first.push_back(i);
  if (among == Among::allSorted) {
    SmallVector<int64_t> sorted;
    for (auto &[slice, number] : numbers) {
      sorted.push_back(result.first[number]);
      number = static_cast<int64_t>(sorted.size()) - 1;
    }
    result.first = sorted;
  }
  result.counts.assign(result.first.size(), 0);
  for (const std::vector<int64_t> &slice : slices) {
    result.inverse.push_back(numbers[slice]);
    ++result.counts[result.inverse.back()];
  }
  return result;
}
