// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/Windows.h"
#include "ir/nn/Nn.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The input with a batch, and whether it had one.
std::pair<Tensor, bool> batched(Node &node, size_t spatial) {
  Tensor x = node.floatIn("self");
  bool has = x.rank() != static_cast<int64_t>(spatial) + 1;
  if (!has) {
    SmallVector<int64_t> shape(x.shape());
    shape.insert(shape.begin(), 1);
    x = x.reshape(shape);
  }
  if (x.rank() != static_cast<int64_t>(spatial) + 2)
    fail("an input of shape " + show(x.shape()) + " does not have " + Twine(spatial) +
         " spatial dimensions");
  return {x, has};
}

Entity unbatched(Tensor y, bool has) { return has ? y : y.reshape(y.shape().drop_front()); }

/// The window of a pooling, whose stride is by default the window itself.
WindowGeometry geometry(Node &node, Tensor x, size_t spatial) {
  WindowGeometry g;
  g.window = node.integers("kernel_size", spatial);
  g.strides = node.integers("stride").empty() ? g.window : node.integers("stride", spatial);
  g.low = g.high = node.integers("padding", spatial);
  g.dilations.assign(spatial, 1);
  g.ceilMode = node.boolean("ceil_mode");
  checkNumbers(g);
  return g;
}

/// The greatest of each window, and its position among those of its channel.
Entities greatest(Node &node, Tensor x, bool has, const WindowGeometry &g) {
  Entities results = {unbatched(node.make<nn::MaxPoolOp>({x}, windowAttributes(node, g)), has)};
  Tensor position = greatestElements(node, x, g);
  int64_t plane = 1;
  for (int64_t d = 2; d < x.rank(); ++d)
    plane *= x.dim(d);
  Tensor inPlane = prim::rem(position, position.full(static_cast<double>(plane)));
  results.push_back(unbatched(inPlane, has));
  return results;
}

template <size_t spatial> Entities maxPool(Node &node) {
  auto [x, has] = batched(node, spatial);
  WindowGeometry g = geometry(node, x, spatial);
  g.dilations = node.integers("dilation", spatial);
  checkNumbers(g);
  checkFits(g, x);
  return greatest(node, x, has, g);
}

template <size_t spatial> Entities averagePool(Node &node) {
  auto [x, has] = batched(node, spatial);
  WindowGeometry g = geometry(node, x, spatial);
  checkFits(g, x);
  SmallVector<NamedAttribute> attributes = windowAttributes(node, g);
  if (spatial > 1 && node.has("divisor_override")) {
    // The sum: padding counts as zeros, and what is beyond it does not count.
    Tensor sum = reduceWindow(node, x, g, prim::ReduceKind::sum);
    return {unbatched(sum / static_cast<double>(node.integer("divisor_override")), has)};
  }
  attributes.push_back(node.flag("count_include_pad", node.boolean("count_include_pad")));
  return {unbatched(node.make<nn::AveragePoolOp>({x}, attributes), has)};
}

// ---- adaptive: as many windows as the result has positions ----

/// The positions, in a plane of these extents, of the elements of each of `size` windows: [windows,
/// elements]. Where a window has fewer than others, its last element comes again.
Tensor adaptiveWindows(Node &node, ArrayRef<int64_t> extents, ArrayRef<int64_t> size) {
  int64_t windows = 1, elements = 1;
  SmallVector<int64_t> longest;
  for (auto [extent, count] : llvm::zip_equal(extents, size)) {
    if (count < 1 || extent < 1)
      fail("windows of " + show(extents) + " elements for an output size of " + show(size));
    longest.push_back(std::min(extent, (extent + count - 1) / count + 1));
    windows *= count;
    elements *= longest.back();
  }
  constexpr int64_t limit = int64_t(1) << 24;
  if (windows > limit || windows * elements > limit)
    fail("an output size of " + show(size) + " for windows of " + Twine(elements) +
         " elements is too large");
  Tensor position = node.full({windows, elements}, node.builder().getI64Type(), 0);
  Tensor window = node.iota({windows, elements}, 0), element = node.iota({windows, elements}, 1);
  SmallVector<int64_t> windowStrides = stridesOf(size), elementStrides = stridesOf(longest),
                       strides = stridesOf(extents);
  for (size_t d = 0; d < size.size(); ++d) {
    auto number = [](int64_t value) { return static_cast<double>(value); };
    auto coordinate = [&](Tensor index, int64_t stride, int64_t extent) {
      Tensor steps = index / number(stride);
      return prim::rem(steps, steps.full(number(extent)));
    };
    Tensor i = coordinate(window, windowStrides[d], size[d]);
    Tensor from = i * number(extents[d]) / number(size[d]);
    Tensor last = ((i + 1.0) * number(extents[d]) - 1.0) / number(size[d]);
    Tensor at = prim::min(from + coordinate(element, elementStrides[d], longest[d]), last);
    position = position + at * number(strides[d]);
  }
  return position;
}

/// The mean of each of `count` windows of several sizes along a dimension.
Tensor meanOfUneven(Node &node, Tensor x, int64_t axis, int64_t count) {
  Tensor at = adaptiveWindows(node, {x.dim(axis)}, {count});
  auto extent = static_cast<double>(x.dim(axis)), windows = static_cast<double>(count);
  Tensor window = node.iota(at.shape(), 0);
  Tensor from = window * extent / windows;
  Tensor size = ((window + 1.0) * extent - 1.0) / windows - from + 1.0;
  Type type = x.elementType();
  Type wide = type.getIntOrFloatBitWidth() < 32 ? node.builder().getF32Type() : type;
  Tensor elements = x.gather(at, axis).convert(wide);
  // Behind the end of a window its last element comes again.
  Tensor counts = node.iota(at.shape(), 1) < size;
  Tensor sum =
      prim::sum(prim::select(counts.broadcast(elements.shape(), {axis, axis + 1}), elements, 0.0),
                {axis + 1});
  Tensor sizes = size.sliceDim(1, 0, 1).reshape({count}).convert(wide);
  return (sum / sizes.broadcast(sum.shape(), {axis})).convert(type);
}

/// A dimension of `extent` elements is divided into `count` windows, of which number i begins at
/// floor(i extent / count) and ends before ceil((i + 1) extent / count).
Tensor meanAdaptively(Node &node, Tensor x, int64_t axis, int64_t count) {
  int64_t extent = x.dim(axis);
  if (count < 1)
    fail("an output size is " + Twine(count));
  if (count == extent)
    return x;
  if (extent % count == 0) {
    SmallVector<int64_t> split(x.shape());
    split[axis] = count;
    split.insert(split.begin() + axis + 1, extent / count);
    Tensor y = x.reshape(split);
    return prim::mean(y, {axis + 1});
  }
  constexpr int64_t kMostSlices = 32;
  if (count > kMostSlices)
    return meanOfUneven(node, x, axis, count);
  SmallVector<Tensor> parts;
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = i * extent / count, to = ((i + 1) * extent + count - 1) / count;
    Tensor window = x.sliceDim(axis, from, to);
    SmallVector<int64_t> kept(x.shape());
    kept[axis] = 1;
    parts.push_back(prim::mean(window, {axis}).reshape(kept));
  }
  return node.concatenate(parts, axis);
}

/// None in the output size keeps a dimension.
SmallVector<int64_t> outputSize(Node &node, Tensor x, size_t spatial) {
  SmallVector<int64_t> size = node.integers("output_size");
  if (size.size() == 1)
    size.assign(spatial, size.front());
  if (size.size() != spatial)
    fail("the output size needs " + Twine(spatial) + " entries");
  return size;
}

template <size_t spatial> Entities adaptiveAveragePool(Node &node) {
  auto [x, has] = batched(node, spatial);
  SmallVector<int64_t> size = outputSize(node, x, spatial);
  if (llvm::all_of(size, [](int64_t extent) { return extent == 1; })) {
    SmallVector<int64_t> dimensions(spatial), shape(x.shape().take_front(2));
    std::iota(dimensions.begin(), dimensions.end(), 2);
    shape.append(spatial, 1);
    return {unbatched(prim::mean(x, dimensions).reshape(shape), has)};
  }
  Tensor y = x;
  for (size_t i = 0; i < spatial; ++i)
    y = meanAdaptively(node, y, static_cast<int64_t>(i) + 2, size[i]);
  return {unbatched(y, has)};
}

/// Windows of several sizes: the first of the greatest elements, and where it is in its plane.
Entities greatestOfUneven(Node &node, Tensor x, bool has, ArrayRef<int64_t> size) {
  SmallVector<int64_t> extents(x.shape().drop_front(2));
  Tensor windows = adaptiveWindows(node, extents, size);
  int64_t plane = 1;
  for (int64_t extent : extents)
    plane *= extent;
  Tensor planes = x.reshape({x.dim(0), x.dim(1), plane});
  auto kind = prim::ReduceKindAttr::get(&node.context(), prim::ReduceKind::max);
  Tensor best = node.make<prim::ArgReduceOp>({planes.gather(windows, 2)},
                                             {node.attr("kind", kind), node.i64("dimension", 3)});
  Tensor entry = best + node.iota(best.shape(), 2) * static_cast<double>(windows.dim(1));
  Tensor index = flat(windows).gather(entry, 0);
  Tensor values = flat(planes).gather(alongAxis(node, index, planes.shape(), 2), 0);
  SmallVector<int64_t> shape(x.shape().take_front(2));
  llvm::append_range(shape, size);
  return {unbatched(values.reshape(shape), has), unbatched(index.reshape(shape), has)};
}

/// Windows of one size are a pooling.
template <size_t spatial> Entities adaptiveMaxPool(Node &node) {
  auto [x, has] = batched(node, spatial);
  SmallVector<int64_t> size = outputSize(node, x, spatial);
  for (size_t i = 0; i < spatial; ++i)
    if (size[i] < 1 || x.dim(static_cast<int64_t>(i) + 2) % size[i] != 0)
      return greatestOfUneven(node, x, has, size);
  WindowGeometry g;
  for (size_t i = 0; i < spatial; ++i) {
    g.window.push_back(x.dim(static_cast<int64_t>(i) + 2) / size[i]);
    g.low.push_back(0);
    g.dilations.push_back(1);
  }
  g.strides = g.window;
  g.high = g.low;
  return greatest(node, x, has, g);
}

// ---- fractional: windows of one size at random places ----

/// Where each of `count` windows of `window` elements begins in a dimension of `extent`, for
/// random numbers of [0, 1), one for each plane: [planes, windows]. The last ends where the
/// dimension does (Graham, "Fractional max-pooling", 2014).
Tensor fractionalStarts(Node &node, Tensor random, int64_t extent, int64_t window, int64_t count) {
  if (window < 1 || count < 1 || count + window - 1 > extent)
    fail(Twine(count) + " windows of " + Twine(window) + " in a dimension of " + Twine(extent) +
         " elements are not possible");
  Type i64 = node.builder().getI64Type();
  SmallVector<int64_t> shape = {random.dim(0), count};
  Tensor last = node.full(shape, i64, static_cast<double>(extent - window));
  if (count == 1)
    return last;
  Tensor sample = random.broadcast(shape, {0}), i = node.iota(shape, 1);
  Tensor step = sample.full(static_cast<double>(extent - window)) / static_cast<double>(count - 1);
  Tensor start = ((i.convert(sample.elementType()) + sample) * step).convert(i64) -
                 (sample * step).convert(i64);
  return prim::select(i < static_cast<double>(count - 1), start, last);
}

template <size_t spatial> Entities fractionalMaxPool(Node &node) {
  auto [x, has] = batched(node, spatial);
  SmallVector<int64_t> size = outputSize(node, x, spatial),
                       window = node.integers("kernel_size", spatial),
                       extents(x.shape().drop_front(2));
  int64_t planes = x.dim(0) * x.dim(1), elements = 1, plane = 1;
  for (size_t d = 0; d < spatial; ++d) {
    elements *= window[d];
    plane *= extents[d];
  }
  auto count = static_cast<int64_t>(spatial);
  Tensor samples = node.floatIn("random_samples");
  if (samples.size() != planes * count || samples.dim(-1) != count)
    fail("random samples of shape " + show(samples.shape()) + " for an input of shape " +
         show(x.shape()));
  samples = detach(samples.reshape({planes, count}));
  // [planes, positions..., elements of a window]
  SmallVector<int64_t> shape = {planes}, strides = stridesOf(extents),
                       windowStrides = stridesOf(window);
  llvm::append_range(shape, size);
  shape.push_back(elements);
  Tensor element = node.iota(shape, count + 1);
  std::optional<Tensor> position;
  for (int64_t d = 0; d < count; ++d) {
    // In two dimensions the numbers stand the other way round.
    int64_t which = spatial == 2 ? 1 - d : d;
    Tensor starts = fractionalStarts(node, samples.sliceDim(1, which, which + 1).reshape({planes}),
                                     extents[d], window[d], size[d]);
    Tensor offset = element / static_cast<double>(windowStrides[d]);
    offset = prim::rem(offset, offset.full(static_cast<double>(window[d])));
    Tensor along = (starts.broadcast(shape, {0, d + 1}) + offset) * static_cast<double>(strides[d]);
    position = position ? *position + along : along;
  }
  int64_t windows = position->size() / std::max<int64_t>(planes * elements, 1);
  Tensor places = position->reshape({planes, windows * elements});
  Tensor rows = x.reshape({planes, plane});
  Tensor seen = flat(rows).gather(alongAxis(node, places, rows.shape(), 1), 0);
  auto kind = prim::ReduceKindAttr::get(&node.context(), prim::ReduceKind::max);
  Tensor best = node.make<prim::ArgReduceOp>({detach(seen).reshape({planes, windows, elements})},
                                             {node.attr("kind", kind), node.i64("dimension", 2)});
  Tensor entry = best + node.iota(best.shape(), 1) * static_cast<double>(elements);
  Tensor index = flat(places).gather(alongAxis(node, entry, places.shape(), 1), 0);
  Tensor values = flat(rows).gather(alongAxis(node, index, rows.shape(), 1), 0);
  SmallVector<int64_t> result(x.shape().take_front(2));
  llvm::append_range(result, size);
  return {unbatched(values.reshape(result), has), unbatched(index.reshape(result), has)};
}

/// The gradients of the maxima back where they were, added up where windows overlap.
template <size_t spatial> Entities fractionalMaxPoolBackward(Node &node) {
  Tensor x = node.floatIn("self"), g = node.floatIn("grad_output");
  Tensor indices = node.indexIn("indices").convert(node.builder().getI64Type());
  int64_t plane = 1;
  for (int64_t extent : x.shape().take_back(spatial))
    plane *= extent;
  int64_t planes = plane == 0 ? 0 : x.size() / plane;
  if (indices.shape() != g.shape() || (planes != 0 && g.size() % planes != 0))
    fail("a gradient of shape " + show(g.shape()) + " and indices of shape " +
         show(indices.shape()));
  SmallVector<int64_t> rows = {planes, planes == 0 ? 0 : g.size() / planes};
  Tensor places = alongAxis(node, indices.reshape(rows), {planes, plane}, 1);
  Tensor sum = node.full({x.size()}, x.elementType(), 0)
                   .scatter(flat(places), flat(g), 0, prim::ScatterKind::add);
  return {sum.reshape(x.shape())};
}

/// The maxima back where they were among the positions of their channel, and zeros.
template <size_t spatial> Entities maxUnpool(Node &node) {
  auto [x, has] = batched(node, spatial);
  Tensor indices = node.indexIn("indices").convert(node.builder().getI64Type());
  if (indices.size() != x.size())
    fail("indices of shape " + show(indices.shape()) + " for an input of shape " + show(x.shape()));
  SmallVector<int64_t> shape(x.shape().take_front(2)), size = node.integers("output_size", spatial);
  llvm::append_range(shape, size);
  int64_t elements = tensorType(shape, x.elementType()).getNumElements();
  int64_t planes = x.dim(0) * x.dim(1), plane = planes == 0 ? 0 : elements / planes;
  Tensor channel = node.iota({planes, planes == 0 ? 0 : x.size() / planes}, 0);
  Tensor position = indices.reshape(channel.shape());
  Tensor positions = whereInside(position, plane, channel * static_cast<double>(plane) + position);
  Tensor y = node.full({elements}, x.elementType(), 0)
                 .scatter(flat(positions), flat(x), 0, prim::ScatterKind::set);
  return {unbatched(y.reshape(shape), has)};
}

/// The output size of an adaptive pooling is that of its gradient.
template <Rule rule, size_t spatial> Entities adaptiveBackward(Node &node) {
  ArrayRef<int64_t> shape = node.floatIn("grad_output").shape();
  node.set("output_size", Integers(shape.take_back(std::min(shape.size(), spatial))));
  return backward<rule>(node);
}

} // namespace

ArrayRef<OpRow> accc::aten::poolingOps() {
  static const OpRow rows[] = {
      {"max_pool1d(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False)",
       maxPool<1>},
      {"max_pool2d(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False)",
       maxPool<2>},
      {"max_pool3d(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False)",
       maxPool<3>},
      {"max_pool1d_with_indices(self, kernel_size, stride=[], padding=0, dilation=1, "
       "ceil_mode=False)",
       maxPool<1>},
      {"max_pool2d_with_indices(self, kernel_size, stride=[], padding=0, dilation=1, "
       "ceil_mode=False)",
       maxPool<2>},
      {"max_pool3d_with_indices(self, kernel_size, stride=[], padding=0, dilation=1, "
       "ceil_mode=False)",
       maxPool<3>},
      {"avg_pool1d(self, kernel_size, stride=[], padding=0, ceil_mode=False, "
       "count_include_pad=True)",
       averagePool<1>},
      {"avg_pool2d(self, kernel_size, stride=[], padding=0, ceil_mode=False, "
       "count_include_pad=True, divisor_override=None)",
       averagePool<2>},
      {"avg_pool3d(self, kernel_size, stride=[], padding=0, ceil_mode=False, "
       "count_include_pad=True, divisor_override=None)",
       averagePool<3>},
      {"adaptive_avg_pool1d(self, output_size)", adaptiveAveragePool<1>},
      {"adaptive_avg_pool2d(self, output_size)", adaptiveAveragePool<2>},
      {"_adaptive_avg_pool2d(self, output_size)", adaptiveAveragePool<2>},
      {"adaptive_avg_pool3d(self, output_size)", adaptiveAveragePool<3>},
      {"_adaptive_avg_pool3d(self, output_size)", adaptiveAveragePool<3>},
      {"adaptive_max_pool1d(self, output_size)", adaptiveMaxPool<1>},
      {"adaptive_max_pool2d(self, output_size)", adaptiveMaxPool<2>},
      {"adaptive_max_pool3d(self, output_size)", adaptiveMaxPool<3>},

      {"fractional_max_pool2d(self, kernel_size, output_size, random_samples)",
       fractionalMaxPool<2>},
      {"fractional_max_pool3d(self, kernel_size, output_size, random_samples)",
       fractionalMaxPool<3>},
      {"fractional_max_pool2d_backward(grad_output, self, kernel_size, output_size, indices)",
       fractionalMaxPoolBackward<2>},
      {"fractional_max_pool3d_backward(grad_output, self, kernel_size, output_size, indices)",
       fractionalMaxPoolBackward<3>},

      {"max_unpool2d(self, indices, output_size)", maxUnpool<2>},
      {"max_unpool3d(self, indices, output_size, stride, padding)", maxUnpool<3>},

      {"max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, "
       "dilation, ceil_mode, indices)",
       backward<maxPool<2>>},
      {"max_pool3d_with_indices_backward(grad_output, self, kernel_size, stride, padding, "
       "dilation, ceil_mode, indices)",
       backward<maxPool<3>>},
      {"avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, "
       "count_include_pad, divisor_override)",
       backward<averagePool<2>>},
      {"avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, "
       "count_include_pad, divisor_override)",
       backward<averagePool<3>>},
      {"_adaptive_avg_pool2d_backward(grad_output, self)",
       adaptiveBackward<adaptiveAveragePool<2>, 2>},
      {"_adaptive_avg_pool3d_backward(grad_output, self)",
       adaptiveBackward<adaptiveAveragePool<3>, 3>},
      {"adaptive_max_pool2d_backward(grad_output, self, indices)",
       adaptiveBackward<adaptiveMaxPool<2>, 2>},
      {"adaptive_max_pool3d_backward(grad_output, self, indices)",
       adaptiveBackward<adaptiveMaxPool<3>, 3>},
  };
  return rows;
}
