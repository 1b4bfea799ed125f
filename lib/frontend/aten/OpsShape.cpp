// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of tensors in other shapes and orders of their dimensions, and copies.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Entities identity(Node &node) {
  Tensor x = node.in("self");
  node.lay(node.layoutOf(x));
  return {x};
}
Entities stopGradient(Node &node) {
  Tensor x = node.in("self");
  node.lay(node.layoutOf(x));
  return {isa<FloatType>(x.elementType()) ? frontend::detach(x) : x};
}

/// The tensor itself where it has the memory format already.
Entities contiguous(Node &node) {
  Tensor x = node.in("self");
  Layout layout = node.layoutOf(x);
  MemoryFormat format = node.memoryFormat(MemoryFormat::Contiguous);
  bool isThere = layout.isKnown() && layout.isIn(format);
  node.share(!layout.isKnown() ? Alias::MaybeView : isThere ? Alias::View : Alias::None);
  node.lay(isThere || !layout.isKnown() ? layout : layout.copied(format));
  return {x};
}

Entities copied(Node &node) {
  Tensor self = node.in("self");
  return {node.broadcastTo(node.in("src").convert(self.elementType()), self.shape())};
}

// ---- shapes ----

Entities shapeAsTensor(Node &node) {
  ArrayRef<int64_t> shape = node.tensorType("self").getShape();
  return {node.integers(shape, {static_cast<int64_t>(shape.size())})};
}

/// A view of the tensor as another shape.
Entities viewed(Node &node, Tensor x, Tensor result) {
  if (std::optional<Layout> layout = node.layoutOf(x).viewed(result.shape()))
    node.lay(*layout);
  return {result};
}

/// The same, or a copy of it where the strides allow no view.
Entities viewedOrCopied(Node &node, Tensor x, Tensor result) {
  Layout from = node.layoutOf(x);
  std::optional<Layout> view = from.viewed(result.shape());
  if (!view)
    node.share(from.isKnown() ? Alias::None : Alias::MaybeView);
  node.lay(view             ? *view
           : from.isKnown() ? Layout::contiguous(result.shape())
                            : Layout::unknown(result.shape(), from.origin()));
  return {result};
}

/// One extent may be -1: what is left.
Tensor reshapeTo(Node &node, Tensor x, StringRef name) {
  SmallVector<int64_t> shape = node.integers(name);
  int64_t known = 1;
  for (int64_t extent : shape)
    known *= extent == -1 ? 1 : extent;
  for (int64_t &extent : shape)
    if (extent == -1 && known > 0)
      extent = x.size() / known;
  return node.reshape(x, shape);
}
Entities view(Node &node) {
  Tensor x = node.in("self");
  return viewed(node, x, reshapeTo(node, x, "size"));
}
Entities reshape(Node &node) {
  Tensor x = node.in("self");
  return viewedOrCopied(node, x, reshapeTo(node, x, "shape"));
}
template <Rule rule> Entities asOther(Node &node) {
  Integers shape(node.tensorType("other").getShape());
  node.set("size", shape);
  node.set("shape", shape);
  node.set("other", NoValue());
  return byParts<rule>(node);
}

Entities ravel(Node &node) {
  Tensor x = node.in("self");
  return viewedOrCopied(node, x, flat(x));
}

Entities flatten(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() == 0)
    return viewedOrCopied(node, x, x.reshape({1}));
  int64_t from = node.dim("start_dim", x), to = node.dim("end_dim", x);
  if (from > to)
    fail("start_dim lies behind end_dim");
  if (from == to)
    return itself(node, x);
  SmallVector<int64_t> shape(x.shape().take_front(from));
  shape.push_back(1);
  for (int64_t d = from; d <= to; ++d)
    shape.back() *= x.dim(d);
  shape.append(x.shape().begin() + to + 1, x.shape().end());
  return viewedOrCopied(node, x, x.reshape(shape));
}

Entities unflatten(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), known = 1;
  SmallVector<int64_t> sizes = node.integers("sizes"), shape(x.shape().take_front(dim));
  for (int64_t extent : sizes)
    known *= extent == -1 ? 1 : extent;
  for (int64_t extent : sizes)
    shape.push_back(extent == -1 && known > 0 ? x.dim(dim) / known : extent);
  shape.append(x.shape().begin() + dim + 1, x.shape().end());
  return viewed(node, x, node.reshape(x, shape));
}

Entities squeeze(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> dims, shape;
  if (node.has("dim")) // an empty list squeezes nothing
    dims = node.integers("dim").empty() ? SmallVector<int64_t>() : node.dims("dim", x);
  else
    dims = node.dims("dim", x);
  for (int64_t d = 0; d < x.rank(); ++d)
    if (x.dim(d) != 1 || !llvm::is_contained(dims, d))
      shape.push_back(x.dim(d));
  node.lay(node.layoutOf(x).squeezed(dims));
  return {x.reshape(shape)};
}

Entities unsqueeze(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shape(x.shape());
  int64_t dim = node.axis(node.integer("dim"), x.rank() + 1);
  shape.insert(shape.begin() + dim, 1);
  node.lay(node.layoutOf(x).unsqueezed(dim));
  return {x.reshape(shape)};
}

/// -1 keeps an extent.
Entities expand(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shape = node.integers("size");
  int64_t shift = static_cast<int64_t>(shape.size()) - x.rank();
  for (auto [d, extent] : llvm::enumerate(shape))
    if (int64_t from = static_cast<int64_t>(d) - shift; extent == -1 && from >= 0)
      extent = x.dim(from);
  Tensor result = node.broadcastTo(x, shape);
  node.lay(node.layoutOf(x).expanded(shape));
  return {result};
}
/// The inverse of expand: sums over the dimensions that it would repeat.
Entities sumToSize(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shape = node.integers("size"), dims;
  int64_t leading = x.rank() - static_cast<int64_t>(shape.size());
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d < leading || (shape[d - leading] == 1 && x.dim(d) != 1))
      dims.push_back(d);
  node.share(dims.empty() ? Alias::View : Alias::None);
  return {node.reshape(dims.empty() ? x : prim::sum(asNumber(node, x), dims), shape)};
}
Entities broadcastTensors(Node &node) {
  TensorList all = node.anyTensors("tensors");
  SmallVector<int64_t> shape;
  for (Value each : all)
    shape = broadcastShape(shape, cast<RankedTensorType>(each.getType()).getShape());
  node.share(Alias::View); // those of this shape are given themselves
  std::vector<Entity> results;
  for (auto [i, each] : llvm::enumerate(all)) {
    results.push_back(
        mapParts(node, each, [&](Tensor part) { return node.broadcastTo(part, shape); }));
    node.lay(node.layoutOfElement(i).expanded(shape));
  }
  return {Entity::ofSequence(std::move(results))};
}

// ---- order of dimensions ----

Entities transposed(Node &node, Tensor x, ArrayRef<int64_t> order) {
  node.lay(node.layoutOf(x).transposed(order));
  return {x.transpose(order)};
}

Entities transposeInts(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() == 0)
    return transposed(node, x, {});
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[node.dim("dim0", x)], order[node.dim("dim1", x)]);
  return transposed(node, x, order);
}

Entities swapAxes(Node &node) {
  node.set("dim0", node.integer("axis0"));
  node.set("dim1", node.integer("axis1"));
  return transposeInts(node);
}

/// The last two dimensions, or those of a matrix.
template <bool isMatrix> Entities transposeLast(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() < 2 || (isMatrix && x.rank() > 2)) {
    if (isMatrix && x.rank() < 2)
      return identity(node);
    fail("the shape " + show(x.shape()) + " has no two dimensions to transpose");
  }
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[x.rank() - 2], order[x.rank() - 1]);
  return transposed(node, x, order);
}
template <bool isMatrix> Entities conjugateTransposed(Node &node) {
  Value transposed = byParts<transposeLast<isMatrix>>(node).front().tensor;
  if (!node.isComplex("self"))
    return {transposed};
  return {conjugate(Complex::ofValue(node, transposed)).value(node)};
}
Entities numpyT(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> order(x.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  return transposed(node, x, order);
}

Entities permute(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> order = node.integers("dims");
  if (static_cast<int64_t>(order.size()) != x.rank())
    fail("the permutation " + show(order) + " does not fit a tensor of rank " + Twine(x.rank()));
  for (int64_t &d : order)
    d = node.axis(d, x.rank());
  node.axes(order, x.rank());
  return transposed(node, x, order);
}

/// source[i] becomes dimension destination[i]; the others keep their order.
Entities moveDim(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> from = node.integers("source"), to = node.integers("destination");
  if (from.size() != to.size())
    fail("source and destination have different lengths");
  SmallVector<int64_t> order(x.rank(), -1), rest;
  for (auto [f, t] : llvm::zip(from, to)) {
    f = node.axis(f, x.rank());
    order[node.axis(t, x.rank())] = f;
  }
  node.axes(from, x.rank());
  node.axes(to, x.rank());
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!llvm::is_contained(from, d))
      rest.push_back(d);
  for (auto next = rest.begin(); int64_t &d : order)
    if (d == -1)
      d = *next++;
  return transposed(node, x, order);
}

} // namespace

ArrayRef<OpRow> accc::aten::shapeOps() {
  using enum Alias;
  static const OpRow rows[] = {
      {"alias(self)", byParts<identity>, View},
      {"positive(self)", byParts<itself>, View},
      {"alias_copy(self)", byParts<identity>},
      {"clone(self, *, memory_format=None)", byParts<identity>},
      {"contiguous(self, *, memory_format=None)", byParts<contiguous>, MaybeView},
      {"lift_fresh_copy(self)", byParts<identity>},
      {"lift_fresh(self)", byParts<itself>, View},
      {"detach(self)", byParts<stopGradient>, View},
      {"detach_copy(self)", byParts<stopGradient>},
      {"copy(self, src, non_blocking=False)",
       [](Node &node) { return byParts(node, copied, {"src"}); }},
      {"_shape_as_tensor(self)", shapeAsTensor},
      {"view(self, size)", byParts<view>, View, selected::reshape},
      {"_unsafe_view(self, size)", byParts<view>, View, selected::reshape},
      {"view_copy(self, size)", byParts<view>},
      {"reshape(self, shape)", byParts<reshape>, View, selected::reshape},
      {"view_as(self, other)", asOther<view>, View},
      {"reshape_as(self, other)", asOther<reshape>, View},
      {"ravel(self)", byParts<ravel>, View},
      {"flatten(self, start_dim=0, end_dim=-1)", byParts<flatten>, View, selected::flatten},
      {"unflatten(self, dim, sizes)", byParts<unflatten>, View},
      {"squeeze(self, dim=None)", byParts<squeeze>, View},
      {"squeeze_copy(self, dim=None)", byParts<squeeze>},
      {"unsqueeze(self, dim)", byParts<unsqueeze>, View, selected::unsqueeze},
      {"unsqueeze_copy(self, dim)", byParts<unsqueeze>},
      {"expand(self, size, *, implicit=False)", byParts<expand>, View, selected::expand},
      {"expand_copy(self, size, *, implicit=False)", byParts<expand>},
      {"sum_to_size(self, size)", byParts<sumToSize>},
      {"expand_as(self, other)", asOther<expand>, View, selected::expandAs},
      {"broadcast_to(self, size)", byParts<expand>, View},
      {"broadcast_tensors(tensors)", broadcastTensors, View, selected::broadcastTensors},
      {"transpose(self, dim0, dim1)", byParts<transposeInts>, View, selected::transpose},
      {"transpose_copy(self, dim0, dim1)", byParts<transposeInts>},
      {"swapaxes(self, axis0, axis1)", byParts<swapAxes>, View},
      {"t(self)", byParts<transposeLast<true>>, View, selected::transposeMatrix},
      {"t_copy(self)", byParts<transposeLast<true>>},
      {"mT(self)", byParts<transposeLast<false>>, View, selected::transposeMatrices},
      {"adjoint(self)", conjugateTransposed<false>, View},
      {"mH(self)", conjugateTransposed<false>, View},
      {"matrix_H(self)", conjugateTransposed<true>, View},
      {"numpy_T(self)", byParts<numpyT>, View, selected::transposeMatrix},
      {"permute(self, dims)", byParts<permute>, View, selected::permute},
      {"permute_copy(self, dims)", byParts<permute>},
      {"movedim(self, source, destination)", byParts<moveDim>, View},
      {"moveaxis(self, source, destination)", byParts<moveDim>, View},
      {"swapdims(self, dim0, dim1)", byParts<transposeInts>, View},
  };
  return rows;
}
