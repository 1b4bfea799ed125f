// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/DeformableConvolution.h"
#include "frontend/common/Interpolation.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

void expectShape(StringRef what, Tensor tensor, ArrayRef<int64_t> shape) {
  if (tensor.shape() != shape)
    fail("the " + what + " has the shape " + show(tensor.shape()) + " where " + show(shape) +
         " is needed");
}

/// The taps along each spatial dimension: where the windows' elements are, [samples, window...,
/// spatial'...], moved by the offsets [samples, window..., dimensions, spatial'...].
SmallVector<Taps> movedTaps(NodeBuilder &node, Tensor offset, const WindowGeometry &g) {
  auto rank = static_cast<int64_t>(g.rank());
  SmallVector<int64_t> places(offset.shape());
  places.erase(places.begin() + 1 + rank);
  RankedTensorType type = tensorType(places, offset.elementType());
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < rank; ++d) {
    auto i = static_cast<size_t>(d);
    Tensor inWindow = prim::iota(node.builder(), node.loc(), type, 1 + d);
    Tensor window = prim::iota(node.builder(), node.loc(), type, 1 + rank + d);
    Tensor place = window * static_cast<double>(g.strides[i]) +
                   inWindow * static_cast<double>(g.dilations[i]) - static_cast<double>(g.low[i]);
    taps.push_back(linearTaps(place + offset.sliceDim(1 + rank, d, d + 1).reshape(places)));
  }
  return taps;
}

} // namespace

Tensor accc::frontend::deformableConvolution(NodeBuilder &node, Tensor x, Tensor w, Tensor offset,
                                             std::optional<Tensor> mask, std::optional<Tensor> bias,
                                             const WindowGeometry &g, int64_t groups,
                                             int64_t offsetGroups) {
  checkSpatial(x);
  checkFits(g, x);
  int64_t batch = x.dim(0), channels = x.dim(1), outputs = w.rank() > 0 ? w.dim(0) : 0;
  if (groups < 1 || offsetGroups < 1 || channels % groups != 0 || channels % offsetGroups != 0 ||
      outputs % groups != 0)
    fail(Twine(channels) + " channels and " + Twine(outputs) + " filters cannot be divided into " +
         Twine(groups) + " groups, with offsets for " + Twine(offsetGroups));
  auto rank = static_cast<int64_t>(g.rank());
  int64_t cells = 1, windows = 1;
  SmallVector<int64_t> result = {batch, outputs}, filter = {outputs, channels / groups};
  for (size_t i = 0; i < g.rank(); ++i) {
    cells *= g.window[i];
    filter.push_back(g.window[i]);
    result.push_back(g.count(i, x.dim(static_cast<int64_t>(i) + 2)));
    windows *= result.back();
  }
  auto perWindow = [&](int64_t values) {
    SmallVector<int64_t> shape = {batch, offsetGroups * cells * values};
    llvm::append_range(shape, ArrayRef(result).drop_front(2));
    return shape;
  };
  expectShape("filter", w, filter);
  expectShape("offset", offset, perWindow(rank));

  // The channels of an offset group are a sample of their own.
  int64_t samples = batch * offsetGroups, inGroup = channels / offsetGroups;
  SmallVector<int64_t> ofSamples = {samples, inGroup}, offsets = {samples};
  llvm::append_range(ofSamples, x.shape().drop_front(2));
  llvm::append_range(offsets, g.window);
  SmallVector<int64_t> places(offsets);
  offsets.push_back(rank);
  llvm::append_range(offsets, ArrayRef(result).drop_front(2));
  llvm::append_range(places, ArrayRef(result).drop_front(2));
  Tensor values = interpolate(node, x.reshape(ofSamples), node.iota(places, 0),
                              movedTaps(node, offset.reshape(offsets), g));
  values = values.reshape({batch, offsetGroups, cells, windows, inGroup});
  if (mask) {
    expectShape("mask", *mask, perWindow(1));
    Tensor factor = mask->reshape({batch, offsetGroups, cells, windows});
    values = values * factor.broadcast(values.shape(), {0, 1, 2, 3});
  }
  int64_t columns = channels / groups * cells;
  Tensor patches = values.transpose({0, 1, 4, 2, 3}).reshape({batch, groups, columns, windows});
  Tensor filters = w.reshape({groups, outputs / groups, columns});
  Tensor y =
      prim::dotGeneral(filters, patches, {0}, {1}, {2}, {2}); // [groups, filters, N, windows]
  y = y.transpose({2, 0, 1, 3}).reshape(result);
  if (!bias)
    return y;
  expectShape("bias", *bias, {outputs});
  return y + bias->broadcast(result, {1});
}
