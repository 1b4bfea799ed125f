// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Patches.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

/// Windows of more positions than this are gathered, not sliced one position at a time.
constexpr int64_t kMostSlices = 64;

/// All windows over a padded image.
struct Patches {
  const WindowGeometry &g;
  /// Extents of the padded image, and windows along each dimension.
  SmallVector<int64_t> padded, count;
  int64_t cells = 1, windows = 1;

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

  /// Where the first window has the position `cell`, counted row by row.
  SmallVector<int64_t> startOf(int64_t cell) const {
    SmallVector<int64_t> start(g.rank());
    for (size_t i = g.rank(); i-- > 0; cell /= g.window[i])
      start[i] = cell % g.window[i] * g.dilations[i];
    return start;
  }

  /// The row-major positions in the padded image, [window..., windows...].
  Tensor positions(NodeBuilder &node) const {
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

/// The elements of a padded image at one position of all windows: [N, C, 1, windows].
Tensor slicePosition(Tensor padded, const Patches &patches, int64_t cell) {
  SmallVector<int64_t> starts(2, 0), limits(padded.shape().take_front(2)), strides(2, 1);
  for (auto [i, start] : llvm::enumerate(patches.startOf(cell))) {
    starts.push_back(start);
    limits.push_back(start + (patches.count[i] - 1) * patches.g.strides[i] + 1);
    strides.push_back(patches.g.strides[i]);
  }
  return padded.slice(starts, limits, strides)
      .reshape({padded.dim(0), padded.dim(1), 1, patches.windows});
}

/// The transpose of slicePosition: [N, C, 1, windows] in a padded image of zeros.
Tensor putPosition(Tensor values, const Patches &patches, int64_t cell) {
  SmallVector<int64_t> shape = {values.dim(0), values.dim(1)}, low(2, 0), high(2, 0), between(2, 0);
  for (auto [i, start] : llvm::enumerate(patches.startOf(cell))) {
    int64_t extent = (patches.count[i] - 1) * patches.g.strides[i] + 1;
    shape.push_back(patches.count[i]);
    low.push_back(start);
    high.push_back(patches.padded[i] - start - extent);
    between.push_back(patches.g.strides[i] - 1);
  }
  return values.reshape(shape).pad(0.0, low, high, between);
}

} // namespace

Tensor accc::frontend::unfoldPatches(NodeBuilder &node, Tensor x, const WindowGeometry &g) {
  if (x.rank() != static_cast<int64_t>(g.rank()) + 2)
    fail("an input of shape " + show(x.shape()) + " does not have " + Twine(g.rank()) +
         " spatial dimensions");
  Patches patches(g, x.shape().drop_front(2));
  auto [low, high] = padsOf(g);
  SmallVector<int64_t> shape(x.shape().take_front(2));
  llvm::append_range(shape, patches.padded);
  tensorType(shape, x.elementType());
  Tensor padded = x.pad(0.0, low, high);
  SmallVector<int64_t> result = {x.dim(0), x.dim(1) * patches.cells, patches.windows};
  tensorType(result, x.elementType());
  if (patches.cells <= kMostSlices) {
    SmallVector<Tensor> slices;
    for (int64_t cell = 0; cell < patches.cells; ++cell)
      slices.push_back(slicePosition(padded, patches, cell));
    return prim::concatenate(slices, 2).reshape(result);
  }
  int64_t plane = 1;
  for (int64_t extent : patches.padded)
    plane *= extent;
  Tensor planes = padded.reshape({x.dim(0), x.dim(1), plane});
  return planes.gather(patches.positions(node), 2).reshape(result);
}

Tensor accc::frontend::foldPatches(NodeBuilder &node, Tensor x, ArrayRef<int64_t> extents,
                                   const WindowGeometry &g) {
  tensorType(extents, x.elementType());
  Patches patches(g, extents);
  if (x.rank() != 3 || x.dim(1) % patches.cells != 0 || x.dim(2) != patches.windows)
    fail("an input of shape " + show(x.shape()) + " does not hold the windows " + show(g.window) +
         " of an image of " + show(extents));
  int64_t batch = x.dim(0), channels = x.dim(1) / patches.cells, plane = 1;
  SmallVector<int64_t> shape = {batch, channels};
  llvm::append_range(shape, patches.padded);
  tensorType(shape, x.elementType());
  for (int64_t extent : patches.padded)
    plane *= extent;
  Tensor y = x;
  if (patches.cells <= kMostSlices) {
    Tensor cells = x.reshape({batch, channels, patches.cells, patches.windows});
    y = putPosition(cells.sliceDim(2, 0, 1), patches, 0);
    for (int64_t cell = 1; cell < patches.cells; ++cell)
      y = y + putPosition(cells.sliceDim(2, cell, cell + 1), patches, cell);
  } else {
    Tensor updates = x.reshape({batch, channels, patches.cells * patches.windows});
    Tensor zeros = node.full({batch, channels, plane}, x.elementType(), 0);
    y = zeros.scatter(flat(patches.positions(node)), updates, 2, ScatterKind::add).reshape(shape);
  }
  SmallVector<int64_t> starts = padsOf(g).first, limits(shape);
  for (auto [i, extent] : llvm::enumerate(extents))
    limits[i + 2] = starts[i + 2] + extent;
  return y.slice(starts, limits);
}
