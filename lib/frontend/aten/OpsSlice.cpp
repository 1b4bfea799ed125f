// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of tensors: views of some of the elements.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Entities select(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), index = node.integer("index");
  if (x.rank() == 0 || index < -x.dim(dim) || index >= x.dim(dim))
    fail("the index " + Twine(index) + " is outside a tensor of shape " + show(x.shape()));
  index += index < 0 ? x.dim(dim) : 0;
  SmallVector<int64_t> shape(x.shape());
  shape.erase(shape.begin() + dim);
  node.lay(node.layoutOf(x).selected(dim, index));
  return {x.sliceDim(dim, index, index + 1).reshape(shape)};
}

Entities slice(Node &node) {
  Tensor x = node.in("self");
  auto [dim, start, end, step] = slicedRange(node, x);
  SmallVector<int64_t> low(x.rank(), 0), limit(x.shape()), strides(x.rank(), 1);
  low[dim] = start;
  limit[dim] = end;
  strides[dim] = step;
  Tensor result = x.slice(low, limit, strides);
  node.lay(node.layoutOf(x).sliced(dim, start, step, result.dim(dim)));
  return {result};
}

/// A part of a dimension, in front of `end`.
Tensor part(Node &node, Tensor x, int64_t dim, int64_t start, int64_t end) {
  node.lay(node.layoutOf(x).sliced(dim, start, 1, end - start));
  return x.sliceDim(dim, start, end);
}

Entities narrow(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x), start = node.integer("start"), length = node.integer("length");
  if (x.rank() == 0 || start < -x.dim(dim) || length < 0 ||
      (start < 0 ? start + x.dim(dim) : start) > x.dim(dim) - length)
    fail("the range is outside a tensor of shape " + show(x.shape()));
  start += start < 0 ? x.dim(dim) : 0;
  return {part(node, x, dim, start, start + length)};
}

/// The parts of these sizes along a dimension, as a list.
Entities parts(Node &node, Tensor x, int64_t dim, ArrayRef<int64_t> sizes) {
  std::vector<Entity> results;
  int64_t at = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > x.dim(dim) - at)
      fail("the parts " + show(sizes) + " do not sum to the extent " + Twine(x.dim(dim)));
    results.push_back(part(node, x, dim, at, at + size));
    at += size;
  }
  if (at != x.dim(dim))
    fail("the parts " + show(sizes) + " do not sum to the extent " + Twine(x.dim(dim)));
  return {Entity::ofSequence(std::move(results))};
}
/// Of nothing there is one part.
Entities partsOf(Node &node, Tensor x, int64_t dim, int64_t size) {
  if (x.rank() == 0 || size < 0 || (size == 0 && x.dim(dim) != 0))
    fail("cannot split a tensor of shape " + show(x.shape()) + " into parts of " + Twine(size));
  if (x.dim(dim) == 0)
    return parts(node, x, dim, SmallVector<int64_t>{0});
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
  if (x.dim(dim) == 0) // as many as were asked for
    return parts(node, x, dim, SmallVector<int64_t>(chunks, 0));
  return partsOf(node, x, dim, (x.dim(dim) + chunks - 1) / chunks);
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
    results.push_back(part(node, x, dim, at, std::max(at, end)));
    at = end;
  }
  return {Entity::ofSequence(std::move(results))};
}

/// So many parts, or those between indices, as a tensor says.
Entities tensorSplitBy(Node &node) {
  StringRef name = "tensor_indices_or_sections";
  Tensor given = node.in(name);
  SmallVector<int64_t> values = node.knownIntegers(given, "argument '" + name + "'");
  if (given.rank() == 0) {
    node.set("sections", values.front());
    return tensorSplit(node);
  }
  node.set("indices", Integers(values));
  return tensorSplitAt(node);
}

/// tensor_split along columns, rows or depth; equal parts alone.
template <int64_t least, bool atIndices> Entities splitAlong(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = least == 1 && x.rank() > 1 ? 1 : least == 1 ? 0 : least - 2;
  if (least == 3)
    dim = 2;
  if (x.rank() < least)
    fail("a tensor of shape " + show(x.shape()) + " has too few dimensions");
  node.set("dim", dim);
  if (atIndices)
    return tensorSplitAt(node);
  int64_t sections = node.integer("sections");
  if (sections < 1 || x.dim(dim) % sections != 0)
    fail("cannot split a tensor of shape " + show(x.shape()) + " into " + Twine(sections) +
         " equal parts along dimension " + Twine(dim));
  return tensorSplit(node);
}

Entities unbind(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x);
  if (x.rank() == 0)
    fail("a tensor without dimensions has no parts");
  SmallVector<int64_t> shape(x.shape());
  shape.erase(shape.begin() + dim);
  std::vector<Entity> results;
  for (int64_t i = 0; i < x.dim(dim); ++i) {
    node.lay(node.layoutOf(x).selected(dim, i));
    results.push_back(x.sliceDim(dim, i, i + 1).reshape(shape));
  }
  return {Entity::ofSequence(std::move(results))};
}

/// Windows of `size` elements, `step` apart, along a new last dimension.
Entities unfold(Node &node) {
  Tensor self = node.in("self"), x = asVector(self);
  int64_t dim = node.dim("dimension", x), size = node.integer("size"), step = node.integer("step");
  if (size < 1 || step < 1 || size > x.dim(dim))
    fail("windows of " + Twine(size) + " elements, " + Twine(step) +
         " apart, do not fit a tensor of shape " + show(x.shape()));
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
  y = y.transpose(order);
  if (self.rank() == 0)
    return {y.reshape({size})};
  node.lay(node.layoutOf(x).unfolded(dim, size, step, count));
  return {y};
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
  node.lay(node.layoutOf(x).diagonal(offset, first, second, length));
  Tensor y = x.transpose(order);
  SmallVector<int64_t> shape(y.shape().drop_back(2));
  shape.push_back(rows * columns);
  return {y.reshape(shape).gather(node.integers(positions, {length}),
                                  static_cast<int64_t>(shape.size()) - 1)};
}

/// The sum of the diagonal of a matrix.
Entities trace(Node &node) {
  if (node.in("self").rank() != 2)
    fail("the shape " + show(node.in("self").shape()) + " is not that of a matrix");
  Tensor elements = node.wrap(diagonal(node).front().tensor);
  Type type = elements.elementType();
  if (isa<IntegerType>(type))
    type = node.builder().getI64Type();
  return {prim::sumAll(elements.convert(type))};
}
Entities linalgDiagonal(Node &node) {
  node.set("self", node.in("A").get());
  node.set("A", NoValue());
  return diagonal(node);
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

ArrayRef<OpRow> accc::aten::sliceOps() {
  using enum Alias;
  static const OpRow rows[] = {
      {"select(self, dim, index)", byParts<select>, View},
      {"select_copy(self, dim, index)", byParts<select>},
      {"slice(self, dim=0, start=None, end=None, step=1)", byParts<slice>, View, selected::slice},
      {"slice_copy(self, dim=0, start=None, end=None, step=1)", byParts<slice>},
      {"narrow(self, dim, start, length)", byParts<narrow>, View},
      {"narrow_copy(self, dim, start, length)", byParts<narrow>},
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
      {"tensor_split.tensor_indices_or_sections(self, tensor_indices_or_sections, dim=0, "
       "sections=None, indices=None)",
       byParts<tensorSplitBy>, View},
      {"hsplit(self, sections, dim=0)", byParts<splitAlong<1, false>>, View},
      {"hsplit.array(self, indices, dim=0)", byParts<splitAlong<1, true>>, View},
      {"vsplit(self, sections, dim=0)", byParts<splitAlong<2, false>>, View},
      {"vsplit.array(self, indices, dim=0)", byParts<splitAlong<2, true>>, View},
      {"dsplit(self, sections, dim=0)", byParts<splitAlong<3, false>>, View},
      {"dsplit.array(self, indices, dim=0)", byParts<splitAlong<3, true>>, View},
      {"unbind(self, dim=0)", byParts<unbind>, View},
      {"unbind_copy(self, dim=0)", byParts<unbind>},
      {"unfold(self, dimension, size, step)", byParts<unfold>, View},
      {"unfold_copy(self, dimension, size, step)", byParts<unfold>},
      {"diagonal(self, offset=0, dim1=0, dim2=1)", byParts<diagonal>, View},
      {"linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1, self=None)", byParts<linalgDiagonal>,
       View},
      {"trace(self, offset=0, dim1=0, dim2=1)", byParts<trace>},
      {"diagonal_copy(self, offset=0, dim1=0, dim2=1)", byParts<diagonal>},
      {"diagonal_scatter(self, src, offset=0, dim1=0, dim2=1)",
       [](Node &node) { return byParts(node, diagonalScatter, {"src"}); }},

      {"select_backward(grad_output, input_sizes, dim, index)", byParts<backwardOfView<select>>,
       Alias::None, selected::viewBackward},
      {"slice_backward(grad_output, input_sizes, dim, start, end, step)",
       byParts<backwardOfView<slice>>, Alias::None, selected::viewBackward},
      {"diagonal_backward(grad_output, input_sizes, offset, dim1, dim2)",
       byParts<backwardOfView<diagonal>>},
      {"unfold_backward(grad_in, input_sizes, dim, size, step)", byParts<unfoldBackward>},
  };
  return rows;
}
