// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/GridSample.h"
#include "frontend/common/Interpolation.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

/// Places in elements that are kept within a dimension of `extent` elements as the padding says.
class Padded {
public:
  Padded(GridPadding padding, int64_t extent, bool alignCorners)
      : padding(padding), extent(static_cast<double>(extent)), alignCorners(alignCorners) {}

  Tensor operator()(Tensor place) const {
    if (padding == GridPadding::zeros)
      return place;
    return clamp(padding == GridPadding::reflection ? reflect(place) : place);
  }

private:
  /// The gradient at an end and outside is 0.
  Tensor clamp(Tensor place) const {
    place = prim::select(place <= 0.0, place.full(0.0), place);
    return prim::select(place >= extent - 1, place.full(extent - 1), place);
  }

  /// Mirrored at the first and the last element, or at their outer edges: folded onto a line that
  /// goes there and back.
  Tensor reflect(Tensor place) const {
    double low = alignCorners ? 0.0 : -0.5, span = alignCorners ? extent - 1 : extent;
    if (span == 0)
      return place.full(0.0);
    Tensor distance = place - low;
    distance = prim::select(distance < 0.0, -distance, distance);
    Tensor rest = prim::rem(distance, distance.full(span));
    Tensor turns = prim::floor(distance / span);
    Tensor isBack = prim::equal(prim::rem(turns, turns.full(2.0)), 1.0);
    return prim::select(isBack, span - rest, rest) + low;
  }

  GridPadding padding;
  double extent;
  bool alignCorners;
};

Taps tapsOf(Tensor place, GridInterpolation interpolation, const Padded &padded) {
  switch (interpolation) {
  case GridInterpolation::nearest:
    return nearestTaps(padded(place));
  case GridInterpolation::linear:
    return linearTaps(padded(place));
  case GridInterpolation::cubic: // of the padded image: each element is looked for by itself
    Taps taps = cubicTaps(place, -0.75);
    return {padded(taps.position), taps.weight};
  }
  llvm_unreachable("unknown interpolation");
}

} // namespace

Tensor accc::frontend::gridSample(NodeBuilder &node, Tensor x, Tensor grid,
                                  GridInterpolation interpolation, GridPadding padding,
                                  bool alignCorners) {
  int64_t spatial = x.rank() - 2;
  bool fits = spatial >= 1 && spatial <= 3 && grid.rank() == x.rank() && grid.dim(-1) == spatial &&
              grid.dim(0) == x.dim(0);
  if (!fits || llvm::is_contained(x.shape().drop_front(2), 0))
    fail("an image of shape " + show(x.shape()) + " cannot be sampled by a grid of shape " +
         show(grid.shape()));
  SmallVector<int64_t> places(grid.shape().drop_back());
  SmallVector<Taps> taps;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t coordinate = spatial - 1 - d, extent = x.dim(d + 2);
    auto size = static_cast<double>(extent);
    Tensor g = grid.sliceDim(grid.rank() - 1, coordinate, coordinate + 1).reshape(places);
    Tensor place = alignCorners ? (g + 1.0) / 2.0 * (size - 1) : ((g + 1.0) * size - 1.0) / 2.0;
    taps.push_back(tapsOf(place, interpolation, Padded(padding, extent, alignCorners)));
  }
  return moveLast(interpolate(node, x, node.iota(places, 0), taps), 1);
}

Tensor accc::frontend::affineGrid(NodeBuilder &node, Tensor theta, ArrayRef<int64_t> image,
                                  bool alignCorners) {
  auto spatial = static_cast<int64_t>(image.size()) - 2;
  if (spatial < 2 || spatial > 3 || theta.shape() != ArrayRef({image[0], spatial, spatial + 1}))
    fail("affine maps of shape " + show(theta.shape()) + " do not fit an image of shape " +
         show(image));
  SmallVector<int64_t> shape = {theta.dim(0)};
  llvm::append_range(shape, image.drop_front(2));
  shape.push_back(spatial);
  RankedTensorType type = tensorType(shape, theta.elementType());
  auto column = [&](int64_t i) {
    return theta.sliceDim(2, i, i + 1)
        .reshape({theta.dim(0), spatial})
        .broadcast(shape, {0, spatial + 1});
  };
  Tensor grid = column(spatial);
  for (int64_t d = 0; d < spatial; ++d) {
    auto size = static_cast<double>(image[d + 2]);
    Tensor at = prim::iota(node.builder(), node.loc(), type, d + 1);
    Tensor place = alignCorners ? at * (size > 1 ? 2 / (size - 1) : 0.0) - (size > 1 ? 1.0 : 0.0)
                                : (at * 2.0 + 1.0) / size - 1.0;
    grid = grid + place * column(spatial - 1 - d);
  }
  return grid;
}
