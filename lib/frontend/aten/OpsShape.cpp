// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of tensors.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Entities identity(Node &node) { return {node.in("self")}; }
Entities stopGradient(Node &node) {
  Tensor x = node.in("self");
  return {isa<FloatType>(x.elementType()) ? frontend::detach(x) : x};
}

Entities copied(Node &node) {
  Tensor self = node.in("self");
  return {node.broadcastTo(node.in("src").convert(self.elementType()), self.shape())};
}

// ---- shapes ----

/// One extent may be -1: what is left.
Entities reshapeTo(Node &node, StringRef name) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shape = node.integers(name);
  int64_t known = 1;
  for (int64_t extent : shape)
    known *= extent == -1 ? 1 : extent;
  for (int64_t &extent : shape)
    if (extent == -1 && known > 0)
      extent = x.size() / known;
  return {node.reshape(x, shape)};
}
Entities view(Node &node) { return reshapeTo(node, "size"); }
Entities reshape(Node &node) { return reshapeTo(node, "shape"); }
Entities viewAs(Node &node) {
  node.set("size", Integers(node.tensorType("other").getShape()));
  node.set("other", NoValue());
  return byParts<view>(node);
}

Entities flatten(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() == 0)
    return {x.reshape({1})};
  int64_t from = node.dim("start_dim", x), to = node.dim("end_dim", x);
  if (from > to)
    fail("start_dim lies behind end_dim");
  SmallVector<int64_t> shape(x.shape().take_front(from));
  shape.push_back(1);
  for (int64_t d = from; d <= to; ++d)
    shape.back() *= x.dim(d);
  shape.append(x.shape().begin() + to + 1, x.shape().end());
  return {x.reshape(shape)};
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
  return {node.reshape(x, shape)};
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
  return {x.reshape(shape)};
}

Entities unsqueeze(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shape(x.shape());
  shape.insert(shape.begin() + node.axis(node.integer("dim"), x.rank() + 1), 1);
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
  return {node.broadcastTo(x, shape)};
}
Entities expandAs(Node &node) {
  node.set("size", Integers(node.tensorType("other").getShape()));
  node.set("other", NoValue());
  return byParts<expand>(node);
}
Entities broadcastTensors(Node &node) {
  SmallVector<Tensor> all = node.tensors("tensors");
  for (size_t pass = 0; pass < 2; ++pass) // the last of a first pass has the common shape
    for (size_t i = 1; i < all.size(); ++i)
      std::tie(all[i - 1], all[i]) = node.broadcast(all[i - 1], all[i]);
  std::vector<Entity> results;
  for (Tensor each : all)
    results.push_back(node.broadcastTo(each, all.back().shape()));
  return {Entity::ofSequence(std::move(results))};
}

// ---- order of dimensions ----

Entities transposeInts(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() == 0)
    return {x};
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[node.dim("dim0", x)], order[node.dim("dim1", x)]);
  return {x.transpose(order)};
}

/// The last two dimensions, or those of a matrix.
template <bool isMatrix> Entities transposeLast(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() < 2 || (isMatrix && x.rank() > 2)) {
    if (isMatrix && x.rank() < 2)
      return {x};
    fail("the shape " + show(x.shape()) + " has no two dimensions to transpose");
  }
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[x.rank() - 2], order[x.rank() - 1]);
  return {x.transpose(order)};
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
  return {x.transpose(order)};
}

Entities permute(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> order = node.integers("dims");
  if (static_cast<int64_t>(order.size()) != x.rank())
    fail("the permutation " + show(order) + " does not fit a tensor of rank " + Twine(x.rank()));
  for (int64_t &d : order)
    d = node.axis(d, x.rank());
  node.axes(order, x.rank());
  return {x.transpose(order)};
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
  return {x.transpose(order)};
}

// ---- parts ----

/// An index of a dimension, as Python counts it, within [0, extent].
int64_t clampIndex(int64_t index, int64_t extent) {
  return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent);
}

Entities select(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), index = node.integer("index");
  if (x.rank() == 0 || index < -x.dim(dim) || index >= x.dim(dim))
    fail("the index " + Twine(index) + " is outside a tensor of shape " + show(x.shape()));
  index += index < 0 ? x.dim(dim) : 0;
  SmallVector<int64_t> shape(x.shape());
  shape.erase(shape.begin() + dim);
  return {x.sliceDim(dim, index, index + 1).reshape(shape)};
}

Entities slice(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), step = node.integer("step");
  if (x.rank() == 0 || step < 1)
    fail("cannot slice a tensor of shape " + show(x.shape()) + " in steps of " + Twine(step));
  int64_t extent = x.dim(dim);
  int64_t start = node.has("start") ? clampIndex(node.integer("start"), extent) : 0;
  int64_t end = node.has("end") ? clampIndex(node.integer("end"), extent) : extent;
  SmallVector<int64_t> low(x.rank(), 0), limit(x.shape()), strides(x.rank(), 1);
  low[dim] = start;
  limit[dim] = std::max(start, end);
  strides[dim] = std::min(step, extent + 1);
  return {x.slice(low, limit, strides)};
}

Entities narrow(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), start = node.integer("start"), length = node.integer("length");
  if (x.rank() == 0 || start < -x.dim(dim) || length < 0 ||
      (start < 0 ? start + x.dim(dim) : start) > x.dim(dim) - length)
    fail("the range is outside a tensor of shape " + show(x.shape()));
  start += start < 0 ? x.dim(dim) : 0;
  return {x.sliceDim(dim, start, start + length)};
}

/// The parts of these sizes along a dimension, as a list.
Entities parts(Node &node, Tensor x, int64_t dim, ArrayRef<int64_t> sizes) {
  std::vector<Entity> results;
  int64_t at = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > x.dim(dim) - at)
      fail("the parts " + show(sizes) + " do not sum to the extent " + Twine(x.dim(dim)));
    results.push_back(x.sliceDim(dim, at, at + size));
    at += size;
  }
  if (at != x.dim(dim))
    fail("the parts " + show(sizes) + " do not sum to the extent " + Twine(x.dim(dim)));
  return {Entity::ofSequence(std::move(results))};
}
Entities partsOf(Node &node, Tensor x, int64_t dim, int64_t size) {
  if (x.rank() == 0 || size < 1)
    fail("cannot split a tensor of shape " + show(x.shape()) + " into parts of " + Twine(size));
  SmallVector<int64_t> sizes;
  for (int64_t rest = x.dim(dim); rest > 0; rest -= size)
    sizes.push_back(std::min(rest, size));
  return parts(node, x, dim, sizes);
}

Entities split(Node &node) {
  Tensor x = node.in("self");
  return partsOf(node, x, node.dim("dim", x), node.integer("split_size"));
}
Entities splitWithSizes(Node &node) {
  Tensor x = node.in("self");
  return parts(node, x, node.dim("dim", x), node.integers("split_sizes"));
}
Entities splitSizes(Node &node) {
  node.set("split_sizes", node.integers("split_size"));
  return splitWithSizes(node);
}
Entities chunk(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), chunks = node.integer("chunks");
  if (x.rank() == 0 || chunks < 1)
    fail("cannot split a tensor of shape " + show(x.shape()) + " into " + Twine(chunks) + " parts");
  return partsOf(node, x, dim, std::max<int64_t>((x.dim(dim) + chunks - 1) / chunks, 1));
}
/// The first parts are one longer where the extent is no multiple.
Entities tensorSplit(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), sections = node.integer("sections");
  if (x.rank() == 0 || sections < 1)
    fail("cannot split a tensor of shape " + show(x.shape()));
  SmallVector<int64_t> sizes(sections, x.dim(dim) / sections);
  for (int64_t i = 0; i < x.dim(dim) % sections; ++i)
    ++sizes[i];
  return parts(node, x, dim, sizes);
}

/// The parts between these indices.
Entities tensorSplitAt(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), at = 0;
  if (x.rank() == 0)
    fail("cannot split a tensor of shape " + show(x.shape()));
  SmallVector<int64_t> ends = node.integers("indices");
  ends.push_back(x.dim(dim));
  std::vector<Entity> results;
  for (int64_t index : ends) {
    int64_t end = clampIndex(index, x.dim(dim));
    results.push_back(x.sliceDim(dim, at, std::max(at, end)));
    at = end;
  }
  return {Entity::ofSequence(std::move(results))};
}

Entities unbind(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x);
  if (x.rank() == 0)
    fail("a tensor without dimensions has no parts");
  SmallVector<int64_t> shape(x.shape());
  shape.erase(shape.begin() + dim);
  std::vector<Entity> results;
  for (int64_t i = 0; i < x.dim(dim); ++i)
    results.push_back(x.sliceDim(dim, i, i + 1).reshape(shape));
  return {Entity::ofSequence(std::move(results))};
}

/// Windows of `size` elements, `step` apart, along a new last dimension.
Entities unfold(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dimension", x), size = node.integer("size"), step = node.integer("step");
  if (x.rank() == 0 || size < 1 || step < 1 || size > x.dim(dim))
    fail("the window does not fit a tensor of shape " + show(x.shape()));
  int64_t count = (x.dim(dim) - size) / step + 1;
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < size; ++j)
      positions.push_back(i * step + j);
  Tensor y = x.gather(node.integers(positions, {count, size}), dim);
  SmallVector<int64_t> order(y.rank());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  return {y.transpose(order)};
}

Entities diagonal(Node &node) {
  Tensor x = node.in("self");
  int64_t first = node.axis(node.integer("dim1"), x.rank());
  int64_t second = node.axis(node.integer("dim2"), x.rank()), offset = node.integer("offset");
  if (first == second)
    fail("the dimensions of a diagonal must differ");
  int64_t rows = x.dim(first), columns = x.dim(second);
  int64_t length = std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset)
                                                    : std::min(rows + offset, columns));
  SmallVector<int64_t> order, positions;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != first && d != second)
      order.push_back(d);
  order.append({first, second});
  for (int64_t i = 0; i < length; ++i)
    positions.push_back((i - std::min<int64_t>(offset, 0)) * columns + i +
                        std::max<int64_t>(offset, 0));
  Tensor y = x.transpose(order);
  SmallVector<int64_t> shape(y.shape().drop_back(2));
  shape.push_back(rows * columns);
  return {y.reshape(shape).gather(node.integers(positions, {length}),
                                  static_cast<int64_t>(shape.size()) - 1)};
}

/// The tensor with other elements on a diagonal.
Entities diagonalScatter(Node &node) {
  Tensor x = node.in("self"), part = node.in("src").convert(x.elementType());
  Node positions = node;
  positions.set("self", node.iota({x.size()}, 0).reshape(x.shape()).get());
  Tensor there = node.wrap(diagonal(positions).front().tensor);
  part = node.broadcastTo(part, there.shape());
  return {flat(x).scatter(flat(there), flat(part), 0, prim::ScatterKind::set).reshape(x.shape())};
}

Entities unfoldBackward(Node &node) {
  node.set("grad_output", node.in("grad_in").get());
  node.set("dimension", node.integer("dim"));
  return backwardOfView<unfold>(node);
}

} // namespace

ArrayRef<OpRow> accc::aten::shapeOps() {
  using enum Alias;
  static const OpRow rows[] = {
      {"alias(self)", byParts<identity>, View},
      {"clone(self, *, memory_format=None)", byParts<identity>},
      {"contiguous(self, *, memory_format=None)", byParts<identity>, MaybeView},
      {"lift_fresh_copy(self)", byParts<identity>},
      {"lift_fresh(self)", byParts<identity>, View},
      {"detach(self)", byParts<stopGradient>, View},
      {"detach_copy(self)", byParts<stopGradient>},
      {"copy(self, src, non_blocking=False)",
       [](Node &node) { return byParts(node, copied, {"src"}); }},
      {"view(self, size)", byParts<view>, View},
      {"_unsafe_view(self, size)", byParts<view>, View},
      {"view_copy(self, size)", byParts<view>},
      {"reshape(self, shape)", byParts<reshape>, MaybeView},
      {"view_as(self, other)", viewAs, View},
      {"reshape_as(self, other)", viewAs, MaybeView},
      {"flatten(self, start_dim=0, end_dim=-1)", byParts<flatten>, MaybeView},
      {"unflatten(self, dim, sizes)", byParts<unflatten>, View},
      {"squeeze(self, dim=None)", byParts<squeeze>, View},
      {"squeeze_copy(self, dim=None)", byParts<squeeze>},
      {"unsqueeze(self, dim)", byParts<unsqueeze>, View},
      {"unsqueeze_copy(self, dim)", byParts<unsqueeze>},
      {"expand(self, size, *, implicit=False)", byParts<expand>, View},
      {"expand_copy(self, size, *, implicit=False)", byParts<expand>},
      {"expand_as(self, other)", expandAs, View},
      {"broadcast_to(self, size)", byParts<expand>, View},
      {"broadcast_tensors(tensors)", byParts<broadcastTensors>},
      {"transpose(self, dim0, dim1)", byParts<transposeInts>, View},
      {"transpose_copy(self, dim0, dim1)", byParts<transposeInts>},
      {"swapaxes(self, dim0, dim1)", byParts<transposeInts>, View},
      {"t(self)", byParts<transposeLast<true>>, View},
      {"mT(self)", byParts<transposeLast<false>>, View},
      {"adjoint(self)", conjugateTransposed<false>, View},
      {"mH(self)", conjugateTransposed<false>, View},
      {"matrix_H(self)", conjugateTransposed<true>, View},
      {"numpy_T(self)", byParts<numpyT>, View},
      {"permute(self, dims)", byParts<permute>, View},
      {"permute_copy(self, dims)", byParts<permute>},
      {"movedim(self, source, destination)", byParts<moveDim>, View},
      {"moveaxis(self, source, destination)", byParts<moveDim>, View},
      {"select(self, dim, index)", byParts<select>, View},
      {"select_copy(self, dim, index)", byParts<select>},
      {"slice(self, dim=0, start=None, end=None, step=1)", byParts<slice>, View},
      {"slice_copy(self, dim=0, start=None, end=None, step=1)", byParts<slice>},
      {"narrow(self, dim, start, length)", byParts<narrow>, View},
      {"split(self, split_size, dim=0)", byParts<split>, View},
      {"split.sizes(self, split_size, dim=0)", byParts<splitSizes>, View},
      {"split_with_sizes(self, split_sizes, dim=0)", byParts<splitWithSizes>, View},
      {"split_with_sizes_copy(self, split_sizes, dim=0)", byParts<splitWithSizes>},
      {"split_copy(self, split_size, dim=0)", byParts<split>},
      {"unsafe_split(self, split_size, dim=0)", byParts<split>, View},
      {"chunk(self, chunks, dim=0)", byParts<chunk>, View},
      {"unsafe_chunk(self, chunks, dim=0)", byParts<chunk>, View},
      {"tensor_split(self, sections, dim=0)", byParts<tensorSplit>, View},
      {"tensor_split.indices(self, indices, dim=0)", byParts<tensorSplitAt>, View},
      {"unbind(self, dim=0)", byParts<unbind>, View},
      {"unbind_copy(self, dim=0)", byParts<unbind>},
      {"unfold(self, dimension, size, step)", byParts<unfold>, View},
      {"unfold_copy(self, dimension, size, step)", byParts<unfold>},
      {"diagonal(self, offset=0, dim1=0, dim2=1)", byParts<diagonal>, View},
      {"diagonal_copy(self, offset=0, dim1=0, dim2=1)", byParts<diagonal>},
      {"diagonal_scatter(self, src, offset=0, dim1=0, dim2=1)", byParts<diagonalScatter>},
      {"swapdims(self, dim0, dim1)", byParts<transposeInts>, View},

      {"select_backward(grad_output, input_sizes, dim, index)", byParts<backwardOfView<select>>},
      {"slice_backward(grad_output, input_sizes, dim, start, end, step)",
       byParts<backwardOfView<slice>>},
      {"diagonal_backward(grad_output, input_sizes, offset, dim1, dim2)",
       byParts<backwardOfView<diagonal>>},
      {"unfold_backward(grad_in, input_sizes, dim, size, step)", byParts<unfoldBackward>},
  };
  return rows;
}
