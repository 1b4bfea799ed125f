// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing at indices, and parts of tensors replaced.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

/// Where only the first elements of the source are read, the index is smaller than it.
Tensor sourceFor(Node &node, StringRef name, Tensor indices, Type type) {
  if (!node.isTensor(name))
    return node.broadcastTo(asTensor(node, name, type), indices.shape());
  Tensor source = node.in(name);
  if (source.rank() == 0)
    return node.broadcastTo(source, indices.shape());
  if (source.rank() != indices.rank())
    fail("the source has the shape " + show(source.shape()) + " for indices of shape " +
         show(indices.shape()));
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (indices.dim(d) > source.dim(d))
      fail("the indices of shape " + show(indices.shape()) +
           " are larger than the source of shape " + show(source.shape()));
  SmallVector<int64_t> zeros(source.rank(), 0);
  return source.slice(zeros, indices.shape());
}

Tensor scatterAlong(Node &node, StringRef source, ScatterKind kind) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  Tensor updates = sourceFor(node, source, indices, x.elementType());
  if (updates.elementType() != x.elementType())
    fail("source and data have different element types");
  Tensor linear = alongAxis(node, indices, x.shape(), dim);
  return flat(x).scatter(flat(linear), flat(updates), 0, kind).reshape(x.shape());
}

/// Updates combined with the data where an index names it, by one of PyTorch's reductions. What is
/// named does not count itself unless `include_self`.
Tensor reducedInto(Node &node, Tensor data, Tensor linear, Tensor updates, int64_t axis) {
  std::string name = node.string("reduce");
  bool isMean = name == "mean", includesSelf = node.boolean("include_self");
  ScatterKind kind = additionOf(data.elementType());
  double neutral = 0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (name == "prod") {
    kind = ScatterKind::mul;
    neutral = 1;
  } else if (name == "amax" || name == "amin") {
    kind = name == "amax" ? ScatterKind::max : ScatterKind::min;
    neutral = name == "amax" ? -infinity : infinity;
    if (!isa<FloatType>(data.elementType()) && !includesSelf)
      fail("include_self=False is not supported for integers");
  } else if (name != "sum" && !isMean) {
    fail("the reduction '" + name + "' is not known");
  }
  Tensor start =
      includesSelf ? data : data.scatter(linear, updates.full(neutral), axis, ScatterKind::set);
  Tensor result = start.scatter(linear, updates, axis, kind);
  if (!isMean)
    return result;
  Tensor counts =
      data.full(includesSelf ? 1 : 0).scatter(linear, updates.full(1.0), axis, ScatterKind::add);
  counts = prim::select(counts < 1.0, counts.full(1.0), counts);
  return isa<FloatType>(result.elementType()) ? result / counts
                                              : frontend::floorQuotient(result, counts);
}

/// With `reduce`, values are added to the data or multiplied with it, as scatter_reduce does.
Entities scatter(Node &node) {
  ScatterKind kind = ScatterKind::set;
  if (node.has("reduce")) {
    std::string name = node.string("reduce");
    if (name != "add" && name != "multiply")
      fail("the reduction '" + name + "' is not known");
    kind = name == "add" ? additionOf(node.in("self").elementType()) : ScatterKind::mul;
  }
  return {scatterAlong(node, node.has("value") ? "value" : "src", kind)};
}
Entities scatterAdd(Node &node) {
  return {scatterAlong(node, "src", additionOf(node.in("self").elementType()))};
}
Entities scatterReduce(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  Tensor updates = sourceFor(node, "src", indices, x.elementType());
  Tensor linear = alongAxis(node, indices, x.shape(), dim);
  return {reducedInto(node, flat(x), flat(linear), flat(updates), 0).reshape(x.shape())};
}
Entities indexReduce(Node &node) {
  Tensor x = asVector(node.in("self")), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  Tensor linear = wrapNegative(flat(indices), x.dim(dim));
  Tensor result = reducedInto(node, x, linear, asVector(node.in("source")), dim);
  return {result.reshape(node.in("self").shape())};
}

/// Whole slices along an axis.
template <bool adds> Entities scatterSlices(Node &node) {
  Tensor x = asVector(node.in("self")), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = indices.size();
  Tensor source = node.broadcastTo(asTensor(node, "source", x.elementType()), shape);
  if (adds)
    source = multiplied(node, source, "alpha");
  ScatterKind kind = adds ? additionOf(x.elementType()) : ScatterKind::set;
  Tensor result = x.scatter(wrapNegative(flat(indices), x.dim(dim)), source, dim, kind);
  return {result.reshape(node.in("self").shape())};
}

/// One number in whole slices. An index that comes twice takes its gradient once.
Entities fillSlices(Node &node) {
  Tensor x = asVector(node.in("self")), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  Tensor filled = node.full({x.dim(dim)}, node.builder().getI32Type(), 0);
  filled =
      filled.scatter(wrapNegative(flat(indices), x.dim(dim)),
                     node.full({indices.size()}, filled.elementType(), 1), 0, ScatterKind::set);
  Tensor value = node.broadcastTo(asTensor(node, "value", x.elementType()), x.shape());
  Tensor isFilled = prim::notEqual(filled, 0.0).broadcast(x.shape(), {dim});
  return {prim::select(isFilled, value, x).reshape(node.in("self").shape())};
}

// ---- where a mask is true ----

/// The number of true elements before each one in row-major order: its place in what is packed.
Tensor placesOf(Node &node, Tensor mask) {
  Tensor counted = flat(mask).convert(node.builder().getI64Type());
  Tensor upTo = prim::cumulative(prim::ReduceKind::sum, counted, 0);
  return (upTo - counted).reshape(mask.shape());
}

/// The elements of `source`, one after the other, where the mask is true.
Entities maskedScatter(Node &node) {
  Tensor x = node.in("self"), source = node.in("source").convert(x.elementType());
  Tensor mask = node.in("mask");
  if (!mask.elementType().isInteger(1))
    fail("the mask must be of booleans");
  std::tie(x, mask) = node.broadcast(x, mask);
  if (source.size() == 0)
    return {x};
  // Where the mask is false nothing is read; the last elements may be fewer than their places.
  Tensor place = placesOf(node, mask);
  Tensor packed = flat(source).gather(prim::select(mask, place, place.full(0.0)), 0);
  return {prim::select(mask, packed, x)};
}

/// The gradient of what was packed: zeros where nothing was read.
Entities maskedScatterBackward(Node &node) {
  Tensor g = node.floatIn("grad_output");
  Tensor mask = node.broadcastTo(node.in("mask"), g.shape());
  SmallVector<int64_t> sizes = node.integers("sizes");
  Tensor zeros = flat(node.full(sizes, g.elementType(), 0)), place = placesOf(node, mask);
  Tensor inside = prim::select(mask, place, place.full(0.0));
  Tensor updates = prim::select(mask, g, g.full(0.0));
  return {zeros.scatter(flat(inside), flat(updates), 0, ScatterKind::add).reshape(sizes)};
}

// ---- one part of a tensor, written ----

/// x with the elements [start, end) in steps along a dimension replaced.
Tensor withSlice(Node &node, Tensor x, Tensor part, int64_t dim, int64_t start, int64_t end,
                 int64_t step) {
  int64_t extent = x.dim(dim);
  if (step == 1) {
    SmallVector<Tensor> pieces;
    if (start > 0)
      pieces.push_back(x.sliceDim(dim, 0, start));
    pieces.push_back(part);
    if (end < extent)
      pieces.push_back(x.sliceDim(dim, end, extent));
    return pieces.size() == 1 ? zeroDependence(part, x) : node.concatenate(pieces, dim);
  }
  SmallVector<int64_t> positions;
  for (int64_t at = start; at < end; at += step)
    positions.push_back(at);
  Tensor indices = node.integers(positions, {static_cast<int64_t>(positions.size())});
  return x.scatter(indices, part, dim, ScatterKind::set);
}

Entities sliceScatter(Node &node) {
  Tensor x = node.in("self"), part = node.in("src");
  auto [dim, start, end, step] = slicedRange(node, x);
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = (end - start + step - 1) / step;
  if (shape[dim] == 0)
    return {zeroDependence(x, part)};
  return {withSlice(node, x, node.broadcastTo(part.convert(x.elementType()), shape), dim, start,
                    end, step)};
}

Entities selectScatter(Node &node) {
  Tensor x = node.in("self"), part = node.in("src").convert(x.elementType());
  int64_t dim = node.dim("dim", x), index = node.integer("index");
  if (x.rank() == 0 || index < -x.dim(dim) || index >= x.dim(dim))
    fail("the index " + Twine(index) + " is outside a tensor of shape " + show(x.shape()));
  index += index < 0 ? x.dim(dim) : 0;
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = 1;
  return {withSlice(node, x, node.reshape(part, shape), dim, index, index + 1, 1)};
}

} // namespace

ArrayRef<OpRow> accc::aten::scatterOps() {
  static const OpRow rows[] = {
      {"scatter(self, dim, index, src=None, *, value=None, reduce=None)",
       [](Node &node) {
         // A product of complex numbers is none of their parts.
         return node.has("reduce") ? scatter(node) : byParts(node, scatter, {"src", "value"});
       },
       Alias::None, selected::writeElements},
      {"scatter_add(self, dim, index, src)", byParts<scatterAdd>, Alias::None,
       selected::addElements},
      {"scatter_reduce(self, dim, index, src, reduce, *, include_self=True)", scatterReduce,
       Alias::None, selected::writeElements},
      {"index_reduce(self, dim, index, source, reduce, *, include_self=True)", indexReduce},
      {"index_add(self, dim, index, source, *, alpha=1)",
       [](Node &node) {
         takeComplexAlpha(node, "source");
         return byParts(node, scatterSlices<true>);
       },
       Alias::None, selected::addAlong},
      {"index_copy(self, dim, index, source)", byParts<scatterSlices<false>>, Alias::None,
       selected::writeAlong},
      {"index_fill(self, dim, index, value)",
       [](Node &node) { return byParts(node, fillSlices, {"value"}); }, Alias::None,
       selected::writeAlong},
      {"slice_scatter(self, src, dim=0, start=None, end=None, step=1)",
       [](Node &node) { return byParts(node, sliceScatter, {"src"}); }, Alias::None,
       selected::scatterAlong},
      {"select_scatter(self, src, dim, index)",
       [](Node &node) { return byParts(node, selectScatter, {"src"}); }, Alias::None,
       selected::scatterAlong},
      {"masked_scatter(self, mask, source)", byParts<maskedScatter>, Alias::None,
       selected::writeAll},
      {"masked_scatter_backward(grad_output, mask, sizes)", byParts<maskedScatterBackward>,
       Alias::None, selected::writeAllBackward},
  };
  return rows;
}
