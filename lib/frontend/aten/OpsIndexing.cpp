// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing at indices.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

// ---- along an axis ----

Entities gather(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  if (indices.size() == 0) // of any number of dimensions
    return {node.full(indices.shape(), x.elementType(), 0)};
  return {flat(x).gather(alongAxis(node, indices, x.shape(), dim), 0)};
}

Entities indexSelect(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  if (x.rank() == 0)
    return {flat(x).gather(wrapNegative(flat(indices), 1), 0).reshape({})};
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

// ---- in the whole tensor ----

void checkElements(Tensor x, Tensor indices) {
  if (x.size() == 0 && indices.size() > 0)
    fail("there are indices of shape " + show(indices.shape()) +
         " for a tensor without elements, of shape " + show(x.shape()));
}
Entities take(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  checkElements(x, indices);
  if (indices.size() == 0)
    return {node.full(indices.shape(), x.elementType(), 0)};
  return {flat(x).gather(wrapNegative(indices, x.size()), 0)};
}
Entities put(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  checkElements(x, indices);
  if (indices.size() == 0)
    return {x};
  Tensor source = node.reshape(node.in("source").convert(x.elementType()), {indices.size()});
  ScatterKind kind = node.boolean("accumulate") ? additionOf(x.elementType()) : ScatterKind::set;
  return {
      flat(x).scatter(wrapNegative(flat(indices), x.size()), source, 0, kind).reshape(x.shape())};
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
                                 accumulates ? additionOf(x.elementType()) : ScatterKind::set);
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
    for (size_t i = 0; i < indices.size(); ++i)
      position = whereInside(indices[i], extents[i], position);
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

/// One mask, and values that do not differ along it: no index is needed, and the mask need not be
/// known.
std::optional<Tensor> asSelection(Node &node, Tensor x, Tensor values, const TensorList &indices) {
  auto isMask = [](Value index) { return index != nullptr; };
  const auto *only = llvm::find_if(indices, isMask);
  if (llvm::count_if(indices, isMask) != 1)
    return std::nullopt;
  auto before = static_cast<int64_t>(only - indices.begin());
  Tensor mask = node.wrap(*only);
  if (!mask.elementType().isInteger(1) || before + mask.rank() > x.rank() ||
      mask.shape() != x.shape().slice(before, mask.rank()))
    return std::nullopt;
  // The dimensions of the mask are one of the values.
  SmallVector<int64_t> shape(std::max<int64_t>(x.rank() - mask.rank() + 1 - values.rank(), 0), 1);
  llvm::append_range(shape, values.shape());
  if (static_cast<int64_t>(shape.size()) != x.rank() - mask.rank() + 1 || shape[before] != 1)
    return std::nullopt;
  shape.erase(shape.begin() + before);
  shape.insert(shape.begin() + before, mask.rank(), 1);
  Tensor value = node.broadcastTo(values.reshape(shape), x.shape());
  SmallVector<int64_t> masked(mask.rank());
  std::iota(masked.begin(), masked.end(), before);
  return prim::select(mask.broadcast(x.shape(), masked),
                      node.boolean("accumulate") ? x + value : value, x);
}

Entities indexPut(Node &node) {
  Tensor x = node.in("self"), values = node.in("values").convert(x.elementType());
  TensorList indices = node.optionalTensors("indices");
  if (std::optional<Tensor> selected = asSelection(node, x, values, indices))
    return {*selected};
  return {AdvancedIndex(node, x, indices).written(values, node.boolean("accumulate"))};
}

/// Indices that are out of range where the mask is false.
TensorList boundedIndices(Node &node, Tensor x) {
  TensorList indices = node.optionalTensors("indices");
  for (auto [d, value] : llvm::enumerate(indices)) {
    if (!value || static_cast<int64_t>(d) >= x.rank())
      continue;
    Tensor index = node.wrap(value);
    double extent = static_cast<double>(x.dim(static_cast<int64_t>(d)));
    value = prim::max(prim::min(index, extent - 1), -extent);
  }
  return indices;
}
Tensor maskedBy(Node &node, Tensor x, double otherwise) {
  auto [mask, data] = node.broadcast(node.in("mask"), x);
  return prim::select(mask, data, data.full(otherwise));
}

/// x[indices] where the mask is true.
Entities maskedIndex(Node &node) {
  Tensor x = node.in("self");
  Tensor found = AdvancedIndex(node, x, boundedIndices(node, x)).read();
  return {maskedBy(node, found, node.number("fill"))};
}
/// x[indices] += values where the mask is true.
Entities maskedIndexAdd(Node &node) {
  Tensor x = node.in("self"), values = node.in("values").convert(x.elementType());
  TensorList indices = boundedIndices(node, x);
  return {AdvancedIndex(node, x, indices).written(maskedBy(node, values, 0), true)};
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
      {"gather(self, dim, index, *, sparse_grad=False)", byParts<gather>, Alias::None,
       selected::readElements},
      {"index_select(self, dim, index)", byParts<indexSelect>, Alias::None, selected::indexSelect},
      {"take_along_dim(self, indices, dim=None)", byParts<takeAlongDim>},
      {"index(self, indices)", byParts<index>, Alias::None, selected::read},
      {"index_put(self, indices, values, accumulate=False)",
       [](Node &node) { return byParts(node, indexPut, {"values"}); }, Alias::None,
       selected::write},
      {"_unsafe_index(self, indices)", byParts<index>},
      {"_unsafe_index_put(self, indices, values, accumulate=False)",
       [](Node &node) { return byParts(node, indexPut, {"values"}); }},
      {"_unsafe_masked_index(self, mask, indices, fill)", maskedIndex},
      {"_unsafe_masked_index_put_accumulate(self, mask, indices, values)", maskedIndexAdd},
      {"take(self, index)", byParts<take>},
      {"put(self, index, source, accumulate=False)",
       [](Node &node) { return byParts(node, put, {"source"}); }},
      {"one_hot(self, num_classes=-1)", oneHot, Alias::None, selected::oneHot},
  };
  return rows;
}
