// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Patches.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

/// All windows over a padded image.
struct Patches {
  /// Extents of the padded image, and windows along each dimension.
  SmallVector<int64_t> padded, count;
  int64_t cells = 1, windows = 1;
  const WindowGeometry &g;

  Patches(const WindowGeometry &g, ArrayRef<int64_t> image) : g(g) {
    for (size_t i = 0; i < g.rank(); ++i) {
      padded.push_back(image[i] + g.low[i] + g.high[i]);
      if (padded[i] < g.extent(i))
        fail("the window " + show(g.window) + " does not fit an image of " + show(image));
      count.push_back((padded[i] - g.extent(i)) / g.strides[i] + 1);
      cells *= g.window[i];
      windows *= count[i];
    }
  }

  /// The row-major positions in the padded image, [window..., windows...].
  Tensor linear(NodeBuilder &node) const {
    SmallVector<int64_t> shape(g.window), strides = stridesOf(padded);
    llvm::append_range(shape, count);
    Tensor linear = node.full(shape, node.builder().getI64Type(), 0);
    for (size_t i = 0; i < g.rank(); ++i) {
      auto inWindow = static_cast<int64_t>(i), window = inWindow + static_cast<int64_t>(g.rank());
      linear = linear +
               node.iota(shape, inWindow) * static_cast<double>(g.dilations[i] * strides[i]) +
               node.iota(shape, window) * static_cast<double>(g.strides[i] * strides[i]);
    }
    return linear;
  }
};

/// What a geometry adds around the spatial dimensions of [N, C, spatial...].
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> padsOf(const WindowGeometry &g) {
  SmallVector<int64_t> low(2, 0), high(2, 0);
  llvm::append_range(low, g.low);
  llvm::append_range(high, g.high);
  return {low, high};
}

} // namespace

Tensor accc::frontend::unfoldPatches(NodeBuilder &node, Tensor x, const WindowGeometry &g) {
  if (x.rank() != static_cast<int64_t>(g.rank()) + 2)
    fail("an input of shape " + show(x.shape()) + " does not have " + Twine(g.rank()) +
         " spatial dimensions");
  Patches patches(g, x.shape().drop_front(2));
  auto [low, high] = padsOf(g);
  Tensor padded = x.pad(0.0, low, high);
  int64_t plane = 1;
  for (int64_t extent : patches.padded)
    plane *= extent;
  Tensor windows = padded.reshape({x.dim(0), x.dim(1), plane}).gather(patches.linear(node), 2);
  return windows.reshape({x.dim(0), x.dim(1) * patches.cells, patches.windows});
}

Tensor accc::frontend::foldPatches(NodeBuilder &node, Tensor x, ArrayRef<int64_t> extents,
                                   const WindowGeometry &g) {
  Patches patches(g, extents);
  if (x.rank() != 3 || x.dim(1) % patches.cells != 0 || x.dim(2) != patches.windows)
    fail("an input of shape " + show(x.shape()) + " does not hold the windows " + show(g.window) +
         " of an image of " + show(extents));
  int64_t channels = x.dim(1) / patches.cells;
  SmallVector<int64_t> shape = {x.dim(0), channels};
  llvm::append_range(shape, patches.padded);
  int64_t size = tensorType(shape, x.elementType()).getNumElements();
  int64_t planes = x.dim(0) * channels;
  Tensor zeros =
      node.full({x.dim(0), channels, planes == 0 ? 0 : size / planes}, x.elementType(), 0);
  Tensor updates = x.reshape({x.dim(0), channels, patches.cells * patches.windows});
  Tensor y = zeros.scatter(flat(patches.linear(node)), updates, 2, ScatterKind::add).reshape(shape);
  SmallVector<int64_t> starts = padsOf(g).first, limits(starts);
  limits[0] = shape[0];
  limits[1] = shape[1];
  for (auto [i, extent] : llvm::enumerate(extents))
    limits[i + 2] += extent;
  return y.slice(starts, limits);
}
