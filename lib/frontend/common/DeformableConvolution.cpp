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

/// The taps along each spatial dimension: where the windows' elements are, [samples, spatial'...,
/// window...], moved by the offsets [samples, spatial'..., window..., dimensions].
SmallVector<Taps> movedTaps(NodeBuilder &node, Tensor offset, const WindowGeometry &g) {
  auto rank = static_cast<int64_t>(g.rank());
  RankedTensorType type = tensorType(offset.shape().drop_back(), offset.elementType());
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < rank; ++d) {
    auto i = static_cast<size_t>(d);
    Tensor window = prim::iota(node.builder(), node.loc(), type, 1 + d);
    Tensor inWindow = prim::iota(node.builder(), node.loc(), type, 1 + rank + d);
    Tensor place = window * static_cast<double>(g.strides[i]) +
                   inWindow * static_cast<double>(g.dilations[i]) - static_cast<double>(g.low[i]);
    Tensor moved = offset.sliceDim(offset.rank() - 1, d, d + 1).reshape(type.getShape());
    taps.push_back(linearTaps(place + moved));
  }
  return taps;
}

/// The offsets [N, groups * positions in the window * dimensions, spatial'...] as [N * groups,
/// spatial'..., window..., dimensions].
Tensor offsetsLast(Tensor offset, const WindowGeometry &g, int64_t samples) {
  auto rank = static_cast<int64_t>(g.rank());
  SmallVector<int64_t> shape = {samples}, order = {0};
  llvm::append_range(shape, g.window);
  shape.push_back(rank);
  llvm::append_range(shape, offset.shape().drop_front(2));
  for (int64_t d = 0; d < 2 * rank + 1; ++d)
    order.push_back((d + rank + 1) % (2 * rank + 1) + 1);
  return offset.reshape(shape).transpose(order);
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
  SmallVector<int64_t> ofSamples = {samples, inGroup};
  llvm::append_range(ofSamples, x.shape().drop_front(2));
  Tensor offsets = offsetsLast(offset, g, samples);
  Tensor sample = node.iota(offsets.shape().drop_back(), 0);
  Tensor values = interpolate(node, x.reshape(ofSamples), sample, movedTaps(node, offsets, g))
                      .reshape({batch, offsetGroups, windows, cells, inGroup});
  if (mask) {
    expectShape("mask", *mask, perWindow(1));
    Tensor factor = mask->reshape({batch, offsetGroups, cells, windows}).transpose({0, 1, 3, 2});
    values = values * factor.broadcast(values.shape(), {0, 1, 2, 3});
  }

  int64_t columns = channels / groups * cells;
  Tensor y = values;
  if (groups == 1 && offsetGroups == 1) { // rows of a matrix as they are
    Tensor filters = w.reshape({outputs, channels, cells}).transpose({2, 1, 0});
    y = prim::dotGeneral(values.reshape({batch, windows, columns}),
                         filters.reshape({columns, outputs}), {}, {}, {2}, {0});
    y = y.transpose({0, 2, 1});
  } else {
    Tensor patches = values.transpose({0, 1, 4, 3, 2}).reshape({batch, groups, columns, windows});
    Tensor filters = w.reshape({groups, outputs / groups, columns});
    y = prim::dotGeneral(filters, patches, {0}, {1}, {2}, {2}).transpose({2, 0, 1, 3});
  }
  y = y.reshape(result);
  if (!bias)
    return y;
  expectShape("bias", *bias, {outputs});
  return y + bias->broadcast(result, {1});
}
