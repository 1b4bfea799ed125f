// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing at indices.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

Entities embedding(Node &node) {
  Tensor table = node.floatIn("weight"), indices = node.indexIn("indices");
  if (table.rank() != 2)
    fail("the table must be a matrix, but has the shape " + show(table.shape()));
  Tensor rows = table.gather(indices, 0);
  int64_t padding = node.integer("padding_idx");
  if (padding < 0) // none; PyTorch made others positive
    return {rows};
  return {withoutGradientOf(rows, indices, padding)};
}

/// Sums (mode 0), means (1) or greatest values (2) of the rows in each bag: those from its offset
/// to the next one's.
Entities embeddingBag(Node &node) {
  Tensor table = node.floatIn("weight"), indices = node.indexIn("indices");
  Type i64 = node.builder().getI64Type();
  Tensor offsets = node.indexIn("offsets").convert(i64);
  if (table.rank() != 2 || indices.rank() != 1 || offsets.rank() != 1)
    fail("a table of shape " + show(table.shape()) + ", indices of shape " + show(indices.shape()) +
         " and offsets of shape " + show(offsets.shape()));
  int64_t bags = offsets.dim(0) - node.boolean("include_last_offset"), count = indices.dim(0);
  if (bags < 0)
    fail("there is no offset");
  // The bag of an index: how many offsets lie at or before it, but one.
  SmallVector<int64_t> pairs = {count, offsets.dim(0)};
  Tensor begun = offsets.broadcast(pairs, {1}) <= node.iota(pairs, 0);
  Tensor bag = prim::sum(begun.convert(i64), {1}) - 1.0;
  Tensor rows = table.gather(indices, 0);
  if (node.has("per_sample_weights"))
    rows = rows * node.floatIn("per_sample_weights").broadcast(rows.shape(), {0});
  int64_t padding = node.has("padding_idx") ? node.integer("padding_idx") : -1;
  Tensor counted = node.full({count}, table.elementType(), 1);
  int64_t mode = node.integer("mode");
  if (padding >= 0) {
    Tensor isPadding = prim::equal(indices, static_cast<double>(padding));
    counted = prim::select(isPadding, counted.full(0.0), counted);
    if (mode == 2)
      fail("padding_idx is not supported in mode 'max'");
    rows = prim::select(isPadding.broadcast(rows.shape(), {0}), rows.full(0.0), rows);
  }
  SmallVector<int64_t> shape = {bags, table.dim(1)};
  Tensor none = node.full(shape, table.elementType(), 0);
  if (mode == 2) {
    Tensor least = none.full(-std::numeric_limits<double>::infinity());
    Tensor greatest = least.scatter(bag, rows, 0, ScatterKind::max);
    return {prim::select(prim::isFinite(greatest), greatest, none), Entity(), Entity(), Entity()};
  }
  Tensor sums = none.scatter(bag, rows, 0, ScatterKind::add);
  if (mode == 1) {
    Tensor sizes =
        node.full({bags}, table.elementType(), 0).scatter(bag, counted, 0, ScatterKind::add);
    sizes = prim::select(sizes < 1.0, sizes.full(1.0), sizes);
    sums = sums / sizes.broadcast(shape, {0});
  }
  return {sums, Entity(), Entity(), Entity()};
}

// ---- along an axis ----

Entities gather(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  if (x.rank() == 0)
    return {node.broadcastTo(x, indices.shape())};
  return {flat(x).gather(alongAxis(node, indices, x.shape(), dim), 0)};
}

Entities indexSelect(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  if (x.rank() == 0)
    return {x};
  int64_t dim = node.dim("dim", x);
  return {x.gather(wrapNegative(flat(indices), x.dim(dim)), dim)};
}

/// gather, with shapes that broadcast outside the axis.
Entities takeAlongDim(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("indices");
  if (!node.has("dim"))
    return {flat(x).gather(wrapNegative(flat(indices), x.size()), 0)};
  int64_t dim = node.dim("dim", x);
  if (x.rank() != indices.rank())
    fail("the indices have the shape " + show(indices.shape()) + " for data of shape " +
         show(x.shape()));
  SmallVector<int64_t> ofData(x.shape()), ofIndices(indices.shape());
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != dim)
      ofData[d] = ofIndices[d] = std::max(ofData[d], ofIndices[d]);
  x = node.broadcastTo(x, ofData);
  indices = node.broadcastTo(indices, ofIndices);
  return {flat(x).gather(alongAxis(node, indices, x.shape(), dim), 0)};
}

// ---- x[i, :, j] ----

/// Tensors of indices, one for some of the dimensions of a tensor, as numpy's advanced indexing has
/// them.
class AdvancedIndex {
public:
  AdvancedIndex(Node &node, Tensor x, const TensorList &given) : node(node), x(x) {
    int64_t dim = 0;
    for (Value value : given) {
      if (!value) {
        ++dim;
        continue;
      }
      Tensor index = node.wrap(value);
      if (index.elementType().isInteger(1)) {
        addMask(index, dim);
        dim += index.rank();
      } else {
        add(index.convert(node.builder().getI64Type()), dim++);
      }
    }
    if (dim > x.rank())
      fail("there are more indices than dimensions");
    if (indices.empty())
      fail("there is no index");
    for (size_t i = 1; i < indices.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        std::tie(indices[j], indices[i]) = node.broadcast(indices[j], indices[i]);
    for (size_t i = 0; i + 1 < indices.size(); ++i)
      indices[i] = node.broadcastTo(indices[i], indices.back().shape());
    for (int64_t d = 0; d < x.rank(); ++d)
      if (!llvm::is_contained(dims, d))
        rest.push_back(d);
    isTogether = dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  }

  Tensor read() {
    Tensor rows = asRows(node, x.transpose(order()), static_cast<int64_t>(dims.size()));
    return fromFront(rows.gather(linear(), 0));
  }

  /// x with `values`, which broadcast to what read() gives, in place of or added to its elements.
  Tensor written(Tensor values, bool accumulates) {
    Tensor rows = asRows(node, x.transpose(order()), static_cast<int64_t>(dims.size()));
    SmallVector<int64_t> shape(indices.front().shape());
    for (int64_t d : rest)
      shape.push_back(x.dim(d));
    Tensor updates = toFront(values, shape);
    SmallVector<int64_t> flatShape = {indices.front().size()};
    for (int64_t d : rest)
      flatShape.push_back(x.dim(d));
    Tensor result = rows.scatter(flat(linear()), node.reshape(updates, flatShape), 0,
                                 accumulates ? ScatterKind::add : ScatterKind::set);
    SmallVector<int64_t> front;
    for (int64_t d : order())
      front.push_back(x.dim(d));
    SmallVector<int64_t> back(x.rank());
    for (auto [i, d] : llvm::enumerate(order()))
      back[d] = static_cast<int64_t>(i);
    return result.reshape(front).transpose(back);
  }

private:
  void add(Tensor index, int64_t dim) {
    if (dim >= x.rank())
      fail("there are more indices than dimensions");
    dims.push_back(dim);
    indices.push_back(wrapNegative(index, x.dim(dim)));
  }

  /// Where a mask is true must be known, for the shape depends on it.
  void addMask(Tensor mask, int64_t dim) {
    SmallVector<int64_t> truth = node.knownIntegers(mask, "mask of an index"), strides;
    strides = stridesOf(mask.shape());
    for (int64_t d = 0; d < mask.rank(); ++d) {
      SmallVector<int64_t> positions;
      for (auto [at, isTrue] : llvm::enumerate(truth))
        if (isTrue)
          positions.push_back(static_cast<int64_t>(at) / strides[d] % mask.dim(d));
      add(node.integers(positions, {static_cast<int64_t>(positions.size())}), dim + d);
    }
  }

  /// The indexed dimensions first.
  SmallVector<int64_t> order() const {
    SmallVector<int64_t> result(dims);
    result.append(rest);
    return result;
  }

  Tensor linear() const {
    SmallVector<int64_t> extents;
    for (int64_t d : dims)
      extents.push_back(x.dim(d));
    SmallVector<int64_t> strides = stridesOf(extents);
    Tensor position = indices.front() * static_cast<double>(strides.front());
    for (size_t i = 1; i < indices.size(); ++i)
      position = position + indices[i] * static_cast<double>(strides[i]);
    return position;
  }

  /// Where the indexed dimensions stand in a result: in their place if they are neighbours, else at
  /// the front.
  SmallVector<int64_t> places() const {
    int64_t width = indices.front().rank(), before = isTogether ? dims.front() : 0;
    SmallVector<int64_t> result;
    for (int64_t d = 0; d < before; ++d)
      result.push_back(width + d);
    for (int64_t d = 0; d < width; ++d)
      result.push_back(d);
    for (int64_t d = before; d < static_cast<int64_t>(rest.size()); ++d)
      result.push_back(width + d);
    return result;
  }
  Tensor fromFront(Tensor y) const { return y.transpose(places()); }
  Tensor toFront(Tensor values, ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> there, back(shape.size());
    for (auto [i, d] : llvm::enumerate(places())) {
      there.push_back(shape[d]);
      back[d] = static_cast<int64_t>(i);
    }
    return node.broadcastTo(values, there).transpose(back);
  }

  Node &node;
  Tensor x;
  SmallVector<int64_t> dims, rest;
  SmallVector<Tensor> indices;
  bool isTogether = true;
};

Entities index(Node &node) {
  Tensor x = node.in("self");
  return {AdvancedIndex(node, x, node.optionalTensors("indices")).read()};
}

/// One mask over leading dimensions, and a value for all: no index is needed.
std::optional<Tensor> asSelection(Node &node, Tensor x, Tensor values, const TensorList &indices) {
  if (indices.size() != 1 || !indices.front() || values.size() != 1 || node.boolean("accumulate"))
    return std::nullopt;
  Tensor mask = node.wrap(indices.front());
  if (!mask.elementType().isInteger(1) || mask.rank() > x.rank() ||
      mask.shape() != x.shape().take_front(mask.rank()))
    return std::nullopt;
  SmallVector<int64_t> leading(mask.rank());
  std::iota(leading.begin(), leading.end(), 0);
  Tensor value = node.broadcastTo(values.reshape({}), x.shape());
  return prim::select(mask.broadcast(x.shape(), leading), value, x);
}

Entities indexPut(Node &node) {
  Tensor x = node.in("self"), values = node.in("values").convert(x.elementType());
  TensorList indices = node.optionalTensors("indices");
  if (std::optional<Tensor> selected = asSelection(node, x, values, indices))
    return {*selected};
  return {AdvancedIndex(node, x, indices).written(values, node.boolean("accumulate"))};
}

// ---- others ----

Entities oneHot(Node &node) {
  Tensor indices = node.indexIn("self").convert(node.builder().getI64Type());
  int64_t classes = node.integer("num_classes");
  if (classes < 1)
    fail("the number of classes must be given: else it depends on the data");
  SmallVector<int64_t> shape(indices.shape());
  shape.push_back(classes);
  Tensor hit = prim::equal(indices.broadcastAlong(shape, {indices.rank()}),
                           node.iota(shape, indices.rank()));
  return {hit.convert(node.builder().getI64Type())};
}

} // namespace

ArrayRef<OpRow> accc::aten::indexingOps() {
  static const OpRow rows[] = {
      {"embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False)",
       embedding},
      {"embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
       "per_sample_weights=None, include_last_offset=False, padding_idx=None)",
       embeddingBag},
      {"_embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
       "per_sample_weights=None, include_last_offset=False, padding_idx=None)",
       embeddingBag},
      {"_embedding_bag_forward_only(weight, indices, offsets, scale_grad_by_freq=False, mode=0, "
       "sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None)",
       embeddingBag},
      {"gather(self, dim, index, *, sparse_grad=False)", gather},
      {"index_select(self, dim, index)", indexSelect},
      {"take_along_dim(self, indices, dim=None)", takeAlongDim},
      {"index(self, indices)", index},
      {"index_put(self, indices, values, accumulate=False)", indexPut},
      {"_unsafe_index(self, indices)", index},
      {"_unsafe_index_put(self, indices, values, accumulate=False)", indexPut},
      {"one_hot(self, num_classes=-1)", oneHot},
  };
  return rows;
}
