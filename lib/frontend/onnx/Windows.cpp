// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Windows.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

namespace {
// Far beyond any model, and small enough that sums and products of a few do not overflow.
constexpr int64_t kLargest = int64_t(1) << 28;
} // namespace

SmallVector<int64_t> accc::onnx_import::positiveList(Node &node, StringRef name, size_t rank) {
  SmallVector<int64_t> values = node.integers(name);
  if (values.empty())
    values.assign(rank, 1);
  if (values.size() != rank)
    fail("the attribute '" + name + "' needs " + Twine(rank) + " entries but has " +
         Twine(values.size()));
  for (int64_t value : values)
    if (value < 1 || value > kLargest)
      fail("the attribute '" + name + "' has the entry " + Twine(value));
  return values;
}

std::pair<SmallVector<int64_t>, SmallVector<int64_t>> accc::onnx_import::padsOf(Node &node,
                                                                                size_t rank) {
  SmallVector<int64_t> pads = node.integers("pads");
  if (pads.empty())
    pads.assign(2 * rank, 0);
  if (pads.size() != 2 * rank)
    fail("the attribute 'pads' needs " + Twine(2 * rank) + " entries but has " +
         Twine(pads.size()));
  for (int64_t pad : pads)
    if (pad < 0 || pad > kLargest)
      fail("the attribute 'pads' has the entry " + Twine(pad));
  return {SmallVector<int64_t>(ArrayRef(pads).take_front(rank)),
          SmallVector<int64_t>(ArrayRef(pads).drop_front(rank))};
}

WindowGeometry accc::onnx_import::readGeometry(Node &node, ArrayRef<int64_t> spatial,
                                               ArrayRef<int64_t> window) {
  WindowGeometry geometry;
  size_t rank = spatial.size();
  if (window.size() != rank)
    fail("the kernel has " + Twine(window.size()) + " dimensions, the input " + Twine(rank) +
         " spatial ones");
  for (int64_t extent : window)
    if (extent < 1 || extent > kLargest)
      fail("the kernel has the extent " + Twine(extent));
  geometry.window.assign(window.begin(), window.end());
  geometry.strides = positiveList(node, "strides", rank);
  geometry.dilations = positiveList(node, "dilations", rank);
  geometry.ceilMode = node.integer("ceil_mode", 0) != 0;
  std::tie(geometry.low, geometry.high) = padsOf(node, rank);
  std::string autoPad = node.string("auto_pad", "NOTSET");
  if (autoPad == "NOTSET" || autoPad.empty())
    return geometry;
  geometry.low.assign(rank, 0);
  geometry.high.assign(rank, 0);
  if (autoPad == "VALID")
    return geometry;
  if (autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER")
    fail("auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, not '" + autoPad + "'");
  for (size_t i = 0; i < rank; ++i) {
    int64_t windows = (spatial[i] + geometry.strides[i] - 1) / geometry.strides[i];
    int64_t total =
        std::max<int64_t>(0, (windows - 1) * geometry.strides[i] + geometry.extent(i) - spatial[i]);
    geometry.low[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    geometry.high[i] = total - geometry.low[i];
  }
  return geometry;
}
