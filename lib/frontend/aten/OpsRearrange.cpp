// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What repeats, pads and moves the elements of tensors.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/Padding.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

// ---- repeated and moved ----

/// Dimensions that the repeats have more than the tensor come first.
Tensor repeated(Node &node, Tensor x, SmallVector<int64_t> repeats) {
  SmallVector<int64_t> extents(x.shape()), spread, wide, shape;
  while (repeats.size() < extents.size())
    repeats.insert(repeats.begin(), 1);
  while (extents.size() < repeats.size())
    extents.insert(extents.begin(), 1);
  for (auto [repeat, extent] : llvm::zip(repeats, extents)) {
    if (repeat < 0 || repeat > int64_t(1) << 40)
      fail("a repeat is " + Twine(repeat));
    spread.append({1, extent});
    wide.append({repeat, extent});
    shape.push_back(repeat * extent);
  }
  tensorType(wide, x.elementType());
  return x.reshape(spread).broadcastTo(wide).reshape(shape);
}
Entities repeat(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> repeats = node.integers("repeats");
  if (static_cast<int64_t>(repeats.size()) < x.rank())
    fail("there are " + Twine(repeats.size()) + " repeats for a tensor of rank " + Twine(x.rank()));
  return {repeated(node, x, repeats)};
}
Entities tile(Node &node) { return {repeated(node, node.in("self"), node.integers("dims"))}; }

/// Of each place its number so many times as the elements of `repeats` say, which decide the size.
Tensor placesRepeated(Node &node) {
  Tensor repeats = node.in("repeats");
  if (repeats.rank() != 1)
    fail("the argument 'repeats' must have one dimension, but has the shape " +
         show(repeats.shape()));
  constexpr int64_t kMost = int64_t(1) << 24;
  SmallVector<int64_t> places;
  for (auto [place, count] : llvm::enumerate(node.knownIntegers(repeats, "argument 'repeats'"))) {
    if (count < 0 || count > kMost - static_cast<int64_t>(places.size()))
      fail("cannot repeat an element " + Twine(count) + " times");
    places.append(count, static_cast<int64_t>(place));
  }
  return node.integers(places, {static_cast<int64_t>(places.size())});
}
Entities repeatPlaces(Node &node) { return {placesRepeated(node)}; }

/// Each element so many times, next to each other.
Entities repeatInterleave(Node &node) {
  Tensor x = node.has("dim") ? node.in("self") : flat(node.in("self"));
  int64_t dim = node.has("dim") ? node.dim("dim", x) : 0;
  if (node.isTensor("repeats") && node.in("repeats").size() != 1) {
    Tensor places = placesRepeated(node);
    if (x.rank() == 0 || node.in("repeats").size() != x.dim(dim))
      fail("there are " + Twine(node.in("repeats").size()) + " repeats for a tensor of shape " +
           show(x.shape()) + " along " + Twine(dim));
    return {x.gather(places, dim)};
  }
  int64_t repeats = node.integer("repeats");
  if (x.rank() == 0 || repeats < 0 || repeats > int64_t(1) << 40)
    fail("cannot repeat a tensor of shape " + show(x.shape()) + " " + Twine(repeats) + " times");
  SmallVector<int64_t> wide(x.shape()), shape(x.shape()), kept;
  wide.insert(wide.begin() + dim + 1, repeats);
  shape[dim] *= repeats;
  tensorType(wide, x.elementType());
  return {x.broadcastAlong(wide, {dim + 1}).reshape(shape)};
}

Entities flip(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> dims = node.integers("dims");
  return {dims.empty() ? x : x.reverse(node.axes(dims, x.rank()))};
}

/// Along one dimension, which tensors of fewer dimensions lack.
template <int64_t dim> Entities flipAlong(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() <= dim)
    fail("a tensor of shape " + show(x.shape()) + " has no dimension " + Twine(dim));
  return {x.reverse({dim})};
}

/// By k quarters of a turn, from the first dimension towards the second one.
Entities rotate(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> dims = node.integers("dims");
  if (dims.size() != 2)
    fail("turns in the plane of two dimensions, but got " + show(dims));
  int64_t from = node.axis(dims[0], x.rank()), to = node.axis(dims[1], x.rank());
  if (from == to)
    fail("the dimensions of a plane must differ");
  int64_t quarters = ((node.integer("k") % 4) + 4) % 4;
  if (quarters == 0)
    return {x};
  if (quarters == 2)
    return {x.reverse({std::min(from, to), std::max(from, to)})};
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[from], order[to]);
  return {x.reverse({quarters == 1 ? to : from}).transpose(order)};
}

/// What leaves at one end enters at the other.
Entities roll(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shifts = node.integers("shifts"), dims = node.integers("dims");
  Tensor y = dims.empty() ? flat(x) : x;
  if (dims.empty())
    dims = {0};
  if (shifts.size() != dims.size())
    fail("shifts and dims have different lengths");
  for (auto [shift, given] : llvm::zip(shifts, dims)) {
    int64_t dim = node.axis(given, y.rank()), extent = y.dim(dim);
    if (extent == 0)
      continue;
    int64_t at = extent - ((shift % extent) + extent) % extent;
    if (at != extent)
      y = node.concatenate({y.sliceDim(dim, at, extent), y.sliceDim(dim, 0, at)}, dim);
  }
  return {y.reshape(x.shape())};
}

/// The corner of a matrix from diagonal number `diagonal` on.
template <bool upper> Entities triangle(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() < 2)
    fail("needs at least two dimensions");
  SmallVector<int64_t> plane = {x.dim(-2), x.dim(-1)};
  int64_t k = std::clamp<int64_t>(node.integer("diagonal"), -(int64_t(1) << 40), int64_t(1) << 40);
  Tensor distance = node.iota(plane, 1) - node.iota(plane, 0);
  Tensor keep = upper ? distance >= static_cast<double>(k) : distance <= static_cast<double>(k);
  return {prim::select(keep.broadcastTo(x.shape()), x, x.full(0.0))};
}

/// One number on the diagonal of a matrix, or of a tensor of more equal dimensions. A tall matrix
/// may begin another diagonal below the row that follows the last.
Entities filledDiagonal(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() < 2 || (x.rank() > 2 && !llvm::all_equal(x.shape())))
    fail("the shape " + show(x.shape()) + " is not that of a matrix or of equal dimensions");
  auto onDiagonal = [&](Tensor row, int64_t dim) {
    return prim::equal(row, node.iota(x.shape(), dim));
  };
  Tensor row = node.iota(x.shape(), 0);
  if (node.boolean("wrap") && x.rank() == 2) {
    int64_t period = x.dim(1) + 1;
    row = prim::rem(row, row.full(static_cast<double>(period)));
  }
  Tensor on = onDiagonal(row, 1);
  for (int64_t d = 2; d < x.rank(); ++d)
    on = prim::bitAnd(on, onDiagonal(row, d));
  Tensor value = node.broadcastTo(asTensor(node, "fill_value", x.elementType()), x.shape());
  return {prim::select(on, value, x)};
}

/// The last dimension as the diagonal of matrices.
Entities diagonalEmbedding(Node &node) {
  Tensor x = node.in("self");
  int64_t offset = node.integer("offset"), n = x.dim(-1) + std::abs(offset);
  int64_t first = node.axis(node.integer("dim1"), x.rank() + 1);
  int64_t second = node.axis(node.integer("dim2"), x.rank() + 1);
  if (first == second || x.rank() == 0)
    fail("the dimensions of a diagonal must differ");
  SmallVector<int64_t> shape(x.shape().drop_back()), order;
  shape.append({n, n});
  // x[i] stands in row i - min(offset, 0).
  int64_t low = std::max<int64_t>(-offset, 0);
  SmallVector<int64_t> before(x.rank(), 0), after(x.rank(), 0);
  before.back() = low;
  after.back() = n - x.dim(-1) - low;
  Tensor rows = x.pad(0.0, before, after).broadcastAlong(shape, {x.rank()});
  Tensor on = prim::equal(node.iota(shape, x.rank()) - node.iota(shape, x.rank() - 1),
                          static_cast<double>(offset));
  Tensor y = prim::select(on, rows, rows.full(0.0));
  for (int64_t d = 0, next = 0; d < y.rank(); ++d)
    order.push_back(d == first ? y.rank() - 2 : d == second ? y.rank() - 1 : next++);
  return {y.transpose(order)};
}

/// A vector as the diagonal of a matrix, or the diagonal of a matrix.
Entities vectorAndDiagonal(Node &node) {
  Tensor x = node.in("self");
  node.set("offset", node.integer("diagonal"));
  if (x.rank() == 1)
    return diagonalEmbedding(node);
  if (x.rank() != 2)
    fail("a tensor of shape " + show(x.shape()) + " is no vector and no matrix");
  return findOperator("diagonal")->rule(node);
}
Entities flatDiagonal(Node &node) {
  node.set("self", flat(node.in("self")).get());
  return diagonalEmbedding(node);
}

// ---- padding: from the last dimension on ----

std::pair<SmallVector<int64_t>, SmallVector<int64_t>> pads(Node &node, Tensor x,
                                                           ArrayRef<int64_t> given) {
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0), shape(x.shape());
  if (given.size() % 2 != 0 || static_cast<int64_t>(given.size()) > 2 * x.rank())
    fail("the padding " + show(given) + " does not fit a tensor of shape " + show(x.shape()));
  for (size_t i = 0; i < given.size() / 2; ++i) {
    int64_t d = x.rank() - 1 - static_cast<int64_t>(i);
    constexpr int64_t limit = int64_t(1) << 40;
    low[d] = given[2 * i];
    high[d] = given[2 * i + 1];
    if (std::abs(low[d]) > limit || std::abs(high[d]) > limit)
      fail("a pad is " + Twine(low[d]) + " or " + Twine(high[d]));
    shape[d] += low[d] + high[d];
  }
  tensorType(shape, x.elementType());
  return {low, high};
}

Entities padded(Node &node, StringRef name, std::string mode, double value) {
  Tensor x = node.in("self");
  auto [low, high] = pads(node, x, node.integers(name));
  if (mode == "constant")
    return {x.pad(value, low, high)};
  return {padByElements(node, x,
                        mode == "replicate"  ? "edge"
                        : mode == "circular" ? "wrap"
                                             : "reflect",
                        low, high)};
}
Entities pad(Node &node) {
  std::string mode = node.string("mode");
  for (StringRef known : {"constant", "replicate", "circular", "reflect"})
    if (mode == known)
      return padded(node, "pad", mode, node.has("value") ? node.number("value") : 0);
  fail("the mode '" + mode + "' is not known");
}
Entities constantPad(Node &node) { return padded(node, "pad", "constant", node.number("value")); }
Entities reflectionPad(Node &node) { return padded(node, "padding", "reflect", 0); }
Entities replicationPad(Node &node) { return padded(node, "padding", "replicate", 0); }

// ---- pixels ----

/// [N, C r r, H, W] as [N, C, H r, W r].
Entities pixelShuffle(Node &node) {
  Tensor x = node.in("self");
  int64_t r = node.integer("upscale_factor");
  if (x.rank() != 4 || r < 1 || r > 65536 || x.dim(1) % (r * r) != 0)
    fail("the factor " + Twine(r) + " does not fit the shape " + show(x.shape()));
  int64_t n = x.dim(0), c = x.dim(1) / (r * r), h = x.dim(2), w = x.dim(3);
  return {
      x.reshape({n, c, r, r, h, w}).transpose({0, 1, 4, 2, 5, 3}).reshape({n, c, h * r, w * r})};
}
Entities pixelUnshuffle(Node &node) {
  Tensor x = node.in("self");
  int64_t r = node.integer("downscale_factor");
  if (x.rank() != 4 || r < 1 || r > 65536 || x.dim(2) % r != 0 || x.dim(3) % r != 0)
    fail("the factor " + Twine(r) + " does not fit the shape " + show(x.shape()));
  int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2) / r, w = x.dim(3) / r;
  return {
      x.reshape({n, c, h, r, w, r}).transpose({0, 1, 3, 5, 2, 4}).reshape({n, c * r * r, h, w})};
}
Entities channelShuffle(Node &node) {
  Tensor x = node.in("self");
  int64_t groups = node.integer("groups");
  if (x.rank() < 3 || groups < 1 || x.dim(1) % groups != 0)
    fail("the groups do not divide the channels");
  SmallVector<int64_t> split(x.shape()), order;
  split[1] = groups;
  split.insert(split.begin() + 2, x.dim(1) / groups);
  order.resize(split.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[1], order[2]);
  return {x.reshape(split).transpose(order).reshape(x.shape())};
}

} // namespace

ArrayRef<OpRow> accc::aten::rearrangeOps() {
  static const OpRow rows[] = {
      {"diag_embed(self, offset=0, dim1=-2, dim2=-1)", byParts<diagonalEmbedding>},
      {"diagflat(self, offset=0, dim1=0, dim2=1)", byParts<flatDiagonal>},
      {"fill_diagonal_(self, fill_value, wrap=False)",
       [](Node &node) { return byParts(node, filledDiagonal, {"fill_value"}); }},
      {"diag(self, diagonal=0, offset=0, dim1=0, dim2=1)", byParts<vectorAndDiagonal>},
      {"repeat(self, repeats)", byParts<repeat>},
      {"tile(self, dims)", byParts<tile>},
      {"repeat_interleave(self, repeats, dim=None, *, output_size=None)", byParts<repeatInterleave>,
       Alias::None, selected::repeatInterleaved},
      {"repeat_interleave.Tensor(repeats, *, output_size=None)", repeatPlaces},
      {"flip(self, dims)", byParts<flip>, Alias::None, selected::flip},
      {"fliplr(self)", byParts<flipAlong<1>>},
      {"flipud(self)", byParts<flipAlong<0>>},
      {"rot90(self, k=1, dims=[0 1])", byParts<rotate>},
      {"roll(self, shifts, dims=[])", byParts<roll>},
      {"triu(self, diagonal=0)", byParts<triangle<true>>},
      {"tril(self, diagonal=0)", byParts<triangle<false>>},
      {"pad(self, pad, mode='constant', value=None)",
       [](Node &node) { return byParts(node, pad, {"value"}); }, Alias::None, selected::pad},
      {"constant_pad_nd(self, pad, value=0)",
       [](Node &node) { return byParts(node, constantPad, {"value"}); }, Alias::None,
       selected::pad},
      {"reflection_pad1d(self, padding)", byParts<reflectionPad>},
      {"reflection_pad2d(self, padding)", byParts<reflectionPad>},
      {"reflection_pad3d(self, padding)", byParts<reflectionPad>},
      {"replication_pad1d(self, padding)", byParts<replicationPad>},
      {"replication_pad2d(self, padding)", byParts<replicationPad>},
      {"replication_pad3d(self, padding)", byParts<replicationPad>},
      {"reflection_pad1d_backward(grad_output, self, padding)", byParts<backward<reflectionPad>>},
      {"reflection_pad2d_backward(grad_output, self, padding)", byParts<backward<reflectionPad>>},
      {"reflection_pad3d_backward(grad_output, self, padding)", byParts<backward<reflectionPad>>},
      {"replication_pad1d_backward(grad_output, self, padding)", byParts<backward<replicationPad>>},
      {"replication_pad2d_backward(grad_output, self, padding)", byParts<backward<replicationPad>>},
      {"replication_pad3d_backward(grad_output, self, padding)", byParts<backward<replicationPad>>},
      {"pixel_shuffle(self, upscale_factor)", pixelShuffle},
      {"pixel_unshuffle(self, downscale_factor)", pixelUnshuffle},
      {"channel_shuffle(self, groups)", channelShuffle},
  };
  return rows;
}
