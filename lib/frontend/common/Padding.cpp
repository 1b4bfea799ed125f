// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Padding.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

/// Which element of an axis of `extent` elements stands at position `at`, which may lie outside.
static int64_t reflected(StringRef mode, int64_t at, int64_t extent) {
  if (mode == "edge")
    return std::clamp<int64_t>(at, 0, extent - 1);
  int64_t period = mode == "wrap" ? extent : std::max<int64_t>(1, 2 * (extent - 1));
  at = ((at % period) + period) % period;
  return at < extent ? at : period - at;
}

Tensor accc::frontend::fit(Tensor x, int64_t dimension, int64_t extent) {
  if (x.dim(dimension) >= extent)
    return x.dim(dimension) == extent ? x : x.sliceDim(dimension, 0, extent);
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  high[dimension] = extent - x.dim(dimension);
  return x.pad(0.0, low, high);
}

Tensor accc::frontend::withOutputPadding(Tensor x, ArrayRef<int64_t> strides,
                                         ArrayRef<int64_t> dilations,
                                         MutableArrayRef<int64_t> outputPadding) {
  SmallVector<int64_t> none(x.rank(), 0), zeros(x.rank(), 0);
  for (auto [i, padding] : llvm::enumerate(outputPadding))
    if (strides[i] > 0 && padding >= strides[i] && padding < dilations[i]) {
      zeros[i + 2] = padding / strides[i];
      padding %= strides[i];
    }
  return x.pad(0, none, zeros);
}

Tensor accc::frontend::padByElements(NodeBuilder &node, Tensor x, StringRef mode,
                                     ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (low[d] == 0 && high[d] == 0)
      continue;
    int64_t extent = x.dim(d) + low[d] + high[d];
    if (x.dim(d) == 0)
      fail("an axis without elements cannot be padded by mode " + mode);
    if (extent > int64_t(1) << 24)
      fail("an axis of " + Twine(extent) + " elements is too long for mode " + mode);
    // What is taken away does not come back around the other end.
    int64_t first = mode == "wrap" ? std::max<int64_t>(-low[d], 0) : 0;
    int64_t kept = mode == "wrap" ? x.dim(d) - first + std::min<int64_t>(high[d], 0) : x.dim(d);
    if (kept <= 0 && extent > 0)
      fail("nothing of an axis of " + Twine(x.dim(d)) + " elements is left to pad it with");
    SmallVector<int64_t> from;
    for (int64_t at = -low[d]; at < x.dim(d) + high[d]; ++at)
      from.push_back(first + reflected(mode, at - first, kept));
    x = x.gather(node.integers(from, {static_cast<int64_t>(from.size())}), d);
  }
  return x;
}
