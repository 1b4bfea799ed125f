// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Regions.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/Interpolation.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(Tensor x, const Regions &regions) {
  constexpr int64_t kLargest = 1 << 16;
  ArrayRef<int64_t> corners = regions.corners.shape();
  if (x.rank() != 4 || regions.image.rank() != 1 || corners.size() != 2 ||
      corners.front() != regions.image.size() || corners.back() != 4)
    fail("regions of shape " + show(corners) + " of images " + show(regions.image.shape()) +
         " do not fit an input of shape " + show(x.shape()));
  if (regions.height < 1 || regions.height > kLargest || regions.width < 1 ||
      regions.width > kLargest)
    fail("regions of " + Twine(regions.height) + " by " + Twine(regions.width) +
         " bins are not supported");
  if (x.dim(2) == 0 || x.dim(3) == 0)
    fail("the images have no elements");
}

/// x with the channels of each bin apart: [images, channels, height, width, rows, columns].
Tensor ofBins(Tensor x, const Regions &regions) {
  int64_t bins = regions.height * regions.width;
  if (x.dim(1) % bins != 0)
    fail(Twine(x.dim(1)) + " channels are no multiple of the " + Twine(bins) + " bins");
  return x.reshape({x.dim(0), x.dim(1) / bins, regions.height, regions.width, x.dim(2), x.dim(3)});
}

/// A corner's coordinate in elements, [regions]: 0 x1, 1 y1, 2 x2, 3 y2.
Tensor cornerOf(const Regions &regions, int64_t i) {
  Tensor corners = detach(regions.corners);
  return corners.sliceDim(1, i, i + 1).reshape({corners.dim(0)}) * regions.scale;
}

// ---- align ----

/// One dimension of aligned regions.
struct Side {
  /// Where samples are, [regions, bins, samples]; -2, away from all elements, for those outside.
  Tensor place;
  /// How many each bin has, and which there are, [regions, samples]; nothing if all.
  Tensor count;
  std::optional<Tensor> isUsed;
};

Side sideOf(NodeBuilder &node, const Regions &regions, const AlignOptions &options, bool isRow,
            int64_t extent) {
  int64_t bins = isRow ? regions.height : regions.width, count = regions.image.size();
  double offset = options.isHalfPixel ? 0.5 : 0.0;
  Tensor start = cornerOf(regions, isRow ? 1 : 0) - offset;
  Tensor length = cornerOf(regions, isRow ? 3 : 2) - offset - start;
  if (!options.isHalfPixel)
    length = prim::max(length, 1.0);
  Tensor bin = length / static_cast<double>(bins);
  int64_t samples = options.samples;
  Tensor used = bin.full(static_cast<double>(samples));
  std::optional<Tensor> isUsed;
  if (samples == 0) {
    // As many as the bins of a region that is as large as the image, rounded up, can have. More are
    // an index out of range: an error in the data.
    samples = (extent + 1 + bins - 1) / bins;
    Type i64 = node.builder().getI64Type();
    used = prim::ceil(bin);
    auto most = static_cast<double>(samples);
    Tensor index = prim::select(used <= most, prim::max(used, 0.0), used.full(most + 1));
    used = node.iota({samples + 1}, 0).gather(index.convert(i64), 0).convert(bin.elementType());
    RankedTensorType type = tensorType({count, samples}, bin.elementType());
    isUsed =
        prim::iota(node.builder(), node.loc(), type, 1) < used.broadcast({count, samples}, {0});
  }
  SmallVector<int64_t> shape = {count, bins, samples};
  RankedTensorType type = tensorType(shape, bin.elementType());
  auto whole = [&](Tensor of) { return of.broadcast(shape, {0}); };
  auto position = [&](int64_t i) { return prim::iota(node.builder(), node.loc(), type, i); };
  Tensor place =
      whole(start) + position(1) * whole(bin) + (position(2) + 0.5) * whole(bin) / whole(used);
  auto last = static_cast<double>(extent - 1);
  Tensor isInside = prim::bitAnd(place >= -1.0, place <= last + 1);
  if (isUsed)
    isInside = prim::bitAnd(isInside, isUsed->broadcast(shape, {0, 2}));
  place = prim::select(isInside, prim::min(prim::max(place, 0.0), last), place.full(-2.0));
  return {place, used, isUsed};
}

// ---- pool ----

enum class Ends {
  /// The last element of a region is in it.
  Closed,
  Open,
  /// Nor is the last element of the image in any.
  OpenInside,
};

/// For each bin along one dimension, whether it holds each element, [regions, bins, extent]; and
/// how many it holds, [regions, bins].
std::pair<Tensor, Tensor> elementsOf(NodeBuilder &node, const Regions &regions, bool isRow,
                                     int64_t extent, Ends ends) {
  int64_t bins = isRow ? regions.height : regions.width, count = regions.image.size();
  auto round = [](Tensor a) { return prim::sign(a) * prim::floor(prim::abs(a) + 0.5); };
  Tensor start = round(cornerOf(regions, isRow ? 1 : 0));
  Tensor end = round(cornerOf(regions, isRow ? 3 : 2));
  Tensor length = ends == Ends::Closed ? end - start + 1.0 : end - start;
  Tensor bin = prim::max(length, 1.0) / static_cast<double>(bins);
  SmallVector<int64_t> shape = {count, bins};
  RankedTensorType type = tensorType(shape, bin.elementType());
  Tensor number = prim::iota(node.builder(), node.loc(), type, 1);
  bin = bin.broadcast(shape, {0});
  start = start.broadcast(shape, {0});
  auto most = static_cast<double>(ends == Ends::OpenInside ? extent - 1 : extent);
  auto clip = [&](Tensor a) { return prim::min(prim::max(a, 0.0), most); };
  Tensor from = clip(prim::floor(number * bin) + start);
  Tensor to = clip(prim::ceil((number + 1.0) * bin) + start);
  SmallVector<int64_t> whole = {count, bins, extent};
  Tensor at = prim::iota(node.builder(), node.loc(), tensorType(whole, bin.elementType()), 2);
  return {prim::bitAnd(at >= from.broadcast(whole, {0, 1}), at < to.broadcast(whole, {0, 1})),
          prim::max(to - from, 0.0)};
}

} // namespace

Tensor accc::frontend::alignRegions(NodeBuilder &node, Tensor x, const Regions &regions,
                                    const AlignOptions &options) {
  check(x, regions);
  if (options.samples < 0 || options.samples > 1 << 10)
    fail(Twine(options.samples) + " samples in a bin are not supported");
  Side rows = sideOf(node, regions, options, /*isRow=*/true, x.dim(2));
  Side columns = sideOf(node, regions, options, /*isRow=*/false, x.dim(3));
  int64_t count = regions.image.size(), height = regions.height, width = regions.width;
  SmallVector<int64_t> places = {count, height, width, rows.place.dim(2), columns.place.dim(2)};
  tensorType(places, x.elementType());
  Taps taps[] = {linearTaps(rows.place.broadcast(places, {0, 1, 3})),
                 linearTaps(columns.place.broadcast(places, {0, 2, 4}))};
  auto images = static_cast<double>(x.dim(0));
  Tensor isImage = prim::bitAnd(regions.image >= 0.0, regions.image < images);
  Tensor image = prim::select(isImage, regions.image, regions.image.full(images));
  image = image.broadcast(places, {0});
  if (options.isPositionSensitive) { // what each bin reads is an image of its own
    Tensor parts = ofBins(x, regions).transpose({0, 2, 3, 1, 4, 5});
    x = parts.reshape({x.dim(0) * height * width, parts.dim(3), x.dim(2), x.dim(3)});
    Tensor bin =
        node.iota({height, width}, 0) * static_cast<double>(width) + node.iota({height, width}, 1);
    image = image * static_cast<double>(height * width) + bin.broadcast(places, {1, 2});
  }
  Tensor values = weightedElements(node, x, image, taps);
  if (!options.isMax) {
    Tensor sum = prim::sum(values, {0, 4, 5}); // [regions, height, width, channels]
    Tensor samples = rows.count * columns.count;
    if (!options.isPositionSensitive)
      samples = prim::max(samples, 1.0);
    return moveLast(sum / samples.convert(x.elementType()).broadcast(sum.shape(), {0}), 1);
  }
  if (!rows.isUsed)
    return moveLast(prim::reduce(prim::ReduceKind::max, values, {0, 4, 5}), 1);
  auto whole = [&](const Side &side, int64_t d) {
    return side.isUsed->broadcast(values.shape(), {1, d});
  };
  Tensor isUsed = prim::bitAnd(whole(rows, 4), whole(columns, 5));
  values = prim::select(isUsed, values, values.full(-kInfinity));
  Tensor greatest = prim::reduce(prim::ReduceKind::max, values, {0, 4, 5});
  Tensor hasAny = prim::bitAnd(rows.count > 0.0, columns.count > 0.0);
  return moveLast(prim::select(hasAny.broadcast(greatest.shape(), {0}), greatest, 0.0), 1);
}

Tensor accc::frontend::poolRegions(NodeBuilder &node, Tensor x, const Regions &regions) {
  check(x, regions);
  auto [inRow, rows] = elementsOf(node, regions, /*isRow=*/true, x.dim(2), Ends::Closed);
  auto [inColumn, columns] = elementsOf(node, regions, /*isRow=*/false, x.dim(3), Ends::Closed);
  int64_t count = regions.image.size(), channels = x.dim(1), height = regions.height,
          width = regions.width;
  // The greatest of those columns of each row, and then of those rows.
  auto greatest = [&](Tensor values, Tensor isIn, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> valueDimensions, ArrayRef<int64_t> dimensions) {
    tensorType(shape, x.elementType());
    Tensor whole = values.broadcast(shape, valueDimensions);
    whole = prim::select(isIn.broadcast(shape, dimensions), whole, whole.full(-kInfinity));
    return prim::reduce(prim::ReduceKind::max, whole, {4});
  };
  Tensor images = x.gather(regions.image, 0);
  Tensor ofRows = greatest(images, inColumn, {count, channels, x.dim(2), width, x.dim(3)},
                           {0, 1, 2, 4}, {0, 3, 4});
  Tensor y = greatest(ofRows.transpose({0, 1, 3, 2}), inRow,
                      {count, channels, height, width, x.dim(2)}, {0, 1, 3, 4}, {0, 2, 4});
  Tensor hasAny = prim::bitAnd((rows > 0.0).broadcast(y.shape(), {0, 2}),
                               (columns > 0.0).broadcast(y.shape(), {0, 3}));
  return prim::select(hasAny, y, 0.0);
}

/// Each bin's mean of its elements, [regions, channels, height, width], of `images` with the
/// channels of each bin apart.
static Tensor meanOfBins(NodeBuilder &node, Tensor images, const Regions &regions, Ends ends) {
  auto [inRow, rows] = elementsOf(node, regions, /*isRow=*/true, images.dim(4), ends);
  auto [inColumn, columns] = elementsOf(node, regions, /*isRow=*/false, images.dim(5), ends);
  Tensor isIn = prim::bitAnd(inRow.broadcast(images.shape(), {0, 2, 4}),
                             inColumn.broadcast(images.shape(), {0, 3, 5}));
  Tensor sum = prim::sum(prim::select(isIn, images, 0.0), {4, 5});
  Tensor count = rows.broadcast(sum.shape(), {0, 2}) * columns.broadcast(sum.shape(), {0, 3});
  return sum / prim::max(count, 1.0).convert(sum.elementType());
}

Tensor accc::frontend::poolRegionsByPosition(NodeBuilder &node, Tensor x, const Regions &regions) {
  check(x, regions);
  Tensor images = ofBins(x.gather(regions.image, 0), regions);
  // torchvision's backward pass lets the last row and column of the image take part.
  return straightThrough(meanOfBins(node, detach(images), regions, Ends::OpenInside),
                         meanOfBins(node, images, regions, Ends::Open));
}
