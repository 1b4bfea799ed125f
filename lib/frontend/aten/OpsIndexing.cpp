// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing at indices.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

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

/// Where only the first elements of the source are read, the index is smaller than it.
Tensor sourceFor(Node &node, StringRef name, Tensor indices, Type type) {
  if (!node.isTensor(name))
    return node.broadcastTo(asTensor(node, name, type), indices.shape());
  Tensor source = node.in(name);
  if (source.rank() == 0 && indices.rank() > 0)
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

Entities scatter(Node &node) {
  return {scatterAlong(node, node.has("value") ? "value" : "src", ScatterKind::set)};
}
Entities scatterAdd(Node &node) { return {scatterAlong(node, "src", ScatterKind::add)}; }
Entities scatterReduce(Node &node) {
  std::string reduce = node.string("reduce");
  if (!node.boolean("include_self"))
    fail("include_self=False is not supported");
  ScatterKind kind;
  if (reduce == "sum")
    kind = ScatterKind::add;
  else if (reduce == "prod")
    kind = ScatterKind::mul;
  else if (reduce == "amax")
    kind = ScatterKind::max;
  else if (reduce == "amin")
    kind = ScatterKind::min;
  else
    fail("the reduction '" + reduce + "' is not supported");
  return {scatterAlong(node, "src", kind)};
}

/// Whole slices along an axis.
template <ScatterKind kind, bool scaled> Entities scatterSlices(Node &node) {
  Tensor x = node.in("self"), indices = node.indexIn("index");
  int64_t dim = node.dim("dim", x);
  StringRef name = node.has("source") ? "source" : "value";
  SmallVector<int64_t> shape(x.shape());
  if (x.rank() == 0)
    fail("a tensor without dimensions has no slices");
  shape[dim] = indices.size();
  Tensor source = node.broadcastTo(asTensor(node, name, x.elementType()), shape);
  if (scaled)
    if (double alpha = node.number("alpha"); alpha != 1)
      source = source * alpha;
  return {x.scatter(wrapNegative(flat(indices), x.dim(dim)), source, dim, kind)};
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
    return pieces.size() == 1 ? part : node.concatenate(pieces, dim);
  }
  SmallVector<int64_t> positions;
  for (int64_t at = start; at < end; at += step)
    positions.push_back(at);
  Tensor indices = node.integers(positions, {static_cast<int64_t>(positions.size())});
  return x.scatter(indices, part, dim, ScatterKind::set);
}

Entities sliceScatter(Node &node) {
  Tensor x = node.in("self"), part = node.in("src");
  int64_t dim = node.dim("dim", x), step = node.integer("step");
  if (x.rank() == 0 || step < 1)
    fail("cannot slice a tensor of shape " + show(x.shape()) + " in steps of " + Twine(step));
  int64_t extent = x.dim(dim);
  auto clampIndex = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  int64_t start = node.has("start") ? clampIndex(node.integer("start")) : 0;
  int64_t end = node.has("end") ? clampIndex(node.integer("end")) : extent;
  end = std::max(start, end);
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = (end - start + step - 1) / step;
  if (shape[dim] == 0)
    return {x};
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
      {"gather(self, dim, index, *, sparse_grad=False)", gather},
      {"index_select(self, dim, index)", indexSelect},
      {"scatter(self, dim, index, src=None, *, value=None)", scatter},
      {"scatter_add(self, dim, index, src)", scatterAdd},
      {"scatter_reduce(self, dim, index, src, reduce, *, include_self=True)", scatterReduce},
      {"index_add(self, dim, index, source, *, alpha=1)", scatterSlices<ScatterKind::add, true>},
      {"index_copy(self, dim, index, source)", scatterSlices<ScatterKind::set, false>},
      {"index_fill(self, dim, index, value, source=None)", scatterSlices<ScatterKind::set, false>},
      {"slice_scatter(self, src, dim=0, start=None, end=None, step=1)", sliceScatter},
      {"select_scatter(self, src, dim, index)", selectScatter},
      {"index(self, indices)", index},
      {"index_put(self, indices, values, accumulate=False)", indexPut},
      {"_unsafe_index(self, indices)", index},
      {"_unsafe_index_put(self, indices, values, accumulate=False)", indexPut},
      {"one_hot(self, num_classes=-1)", oneHot},
  };
  return rows;
}
