// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements taken from, and put to, positions that are data.
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Tensors.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

/// More known indices than this are left to the check of the step.
constexpr int64_t kMostChecked = 1 << 20;

Tensor indicesOf(Node &node, size_t input) {
  Tensor indices = node.in(input);
  if (isa<FloatType>(indices.elementType()) || indices.elementType().isInteger(1))
    fail("the indices (input " + Twine(input) + ") must be integers");
  bool fits =
      indices.elementType().isSignlessInteger(32) || indices.elementType().isSignlessInteger(64);
  return fits ? indices : indices.convert(node.builder().getI64Type());
}

/// Rows of a table with the gradients of the embedding that they were exported from, if they were:
/// its padding_idx and scale_grad_by_freq.
Tensor asEmbedding(Node &node, Tensor rows, Tensor table, Tensor indices) {
  std::optional<TorchCall> call = node.torchCall();
  if (call && scalesByFrequency(*call))
    rows = straightThrough(rows, dividedByFrequency(node, rows, indices, table.dim(0)));
  std::optional<int64_t> padding = call ? paddingOf(*call) : node.importer().paddingIndex(table);
  return padding ? withoutGradientOf(rows, indices, *padding) : rows;
}

Entities gather(Node &node) {
  Tensor x = node.in(0), indices = indicesOf(node, 1);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  SmallVector<int64_t> shape(x.shape().take_front(axis));
  shape.append(indices.shape().begin(), indices.shape().end());
  shape.append(x.shape().begin() + axis + 1, x.shape().end());
  tensorType(shape, x.elementType());
  if (node.isKnown(1) && indices.size() <= kMostChecked) {
    // A table that is too short (positions, of a sequence longer than the model learned) is known
    // now.
    SmallVector<int64_t> known = node.knownIntegers(1, "indices");
    for (int64_t at : known)
      if (at < -x.dim(axis) || at >= x.dim(axis))
        fail("the index " + Twine(at) + " is outside an axis of " + Twine(x.dim(axis)) +
             " elements");
    if (known.size() == 1) { // a slice
      int64_t at = known.front() < 0 ? known.front() + x.dim(axis) : known.front();
      return {x.sliceDim(axis, at, at + 1).reshape(shape)};
    }
  }
  indices = wrapNegative(indices, x.dim(axis));
  Tensor rows = x.gather(indices, axis);
  return {axis == 0 ? asEmbedding(node, rows, x, indices) : rows};
}

// ---- linear indices ----

/// The row-major position among the first dimensions of data that index tuples (the last dimension
/// of `indices`) name, after `batch` dimensions that both have.
Tensor ofTuples(Node &node, Tensor indices, ArrayRef<int64_t> data, int64_t batch) {
  int64_t k = indices.dim(-1), last = indices.rank() - 1;
  SmallVector<int64_t> strides = stridesOf(data.take_front(batch + k));
  SmallVector<int64_t> shape(indices.shape().drop_back());
  Type i64 = node.builder().getI64Type();
  Tensor wide = indices.convert(i64);
  Tensor linear = node.full(shape, i64, 0);
  for (int64_t d = 0; d < batch; ++d)
    linear = linear + prim::iota(node.builder(), node.loc(), linear.type(), d) *
                          static_cast<double>(strides[d]);
  SmallVector<Tensor> tuple;
  for (int64_t i = 0; i < k; ++i) {
    tuple.push_back(wrapNegative(wide.sliceDim(last, i, i + 1).reshape(shape), data[batch + i]));
    linear = linear + tuple.back() * static_cast<double>(strides[batch + i]);
  }
  for (int64_t i = 0; i < k; ++i)
    linear = whereInside(tuple[i], data[batch + i], linear);
  return linear;
}

void checkTuples(Tensor data, Tensor indices, int64_t batch) {
  bool fits = batch >= 0 && indices.rank() > batch && data.rank() > batch &&
              indices.dim(-1) <= data.rank() - batch &&
              data.shape().take_front(batch) == indices.shape().take_front(batch);
  if (!fits)
    fail("the indices have the shape " + show(indices.shape()) + " for data of shape " +
         show(data.shape()));
}

Entities gatherElements(Node &node) {
  Tensor x = node.in(0), indices = indicesOf(node, 1);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  return {flat(x).gather(alongAxis(node, indices, x.shape(), axis), 0)};
}

Entities gatherNd(Node &node) {
  Tensor x = node.in(0), indices = indicesOf(node, 1);
  int64_t batch = node.integer("batch_dims", 0);
  checkTuples(x, indices, batch);
  Tensor rows = asRows(node, x, batch + indices.dim(-1));
  return {rows.gather(ofTuples(node, indices, x.shape(), batch), 0)};
}

/// The rows of a tensor whose leading dimensions are those of `at`, but `length` along the last, at
/// these positions along the last. Positions outside of it are rows that the tensor does not have.
Tensor alongRows(Node &node, Tensor at, int64_t length) {
  SmallVector<int64_t> shape(at.shape());
  shape.back() = length;
  SmallVector<int64_t> strides = stridesOf(shape);
  Tensor row = at;
  for (int64_t d = 0; d + 1 < at.rank(); ++d)
    row = row + node.iota(at.shape(), d) * static_cast<double>(strides[d]);
  return whereInside(at, length, row);
}

ScatterKind scatterKind(Node &node) {
  std::string reduction = node.string("reduction", "none");
  if (reduction == "none")
    return ScatterKind::set;
  if (reduction == "add")
    return ScatterKind::add;
  if (reduction == "mul")
    return ScatterKind::mul;
  if (reduction == "max")
    return ScatterKind::max;
  if (reduction == "min")
    return ScatterKind::min;
  fail("unknown reduction '" + reduction + "'");
}

Entities scatterElements(Node &node) {
  Tensor x = node.in(0), indices = indicesOf(node, 1), updates = node.in(2);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (updates.shape() != indices.shape() || updates.elementType() != x.elementType())
    fail("the updates have the shape " + show(updates.shape()) + " for indices of shape " +
         show(indices.shape()) + ", or another element type than the data");
  Tensor linear = alongAxis(node, indices, x.shape(), axis);
  return {flat(x).scatter(flat(linear), flat(updates), 0, scatterKind(node)).reshape(x.shape())};
}

Entities scatterNd(Node &node) {
  Tensor x = node.in(0), indices = indicesOf(node, 1), updates = node.in(2);
  checkTuples(x, indices, 0);
  int64_t k = indices.dim(-1);
  SmallVector<int64_t> expected(indices.shape().drop_back());
  expected.append(x.shape().begin() + k, x.shape().end());
  if (updates.shape() != ArrayRef(expected) || updates.elementType() != x.elementType())
    fail("the updates have the shape " + show(updates.shape()) + " where " + show(expected) +
         " is needed, or another element type than the data");
  Tensor linear = ofTuples(node, indices, x.shape(), 0);
  return {asRows(node, x, k).scatter(linear, updates, 0, scatterKind(node)).reshape(x.shape())};
}

/// Writes a piece of a cache, along one axis, from a position on that each sample has its own of.
Entities tensorScatter(Node &node) {
  Tensor cache = node.in(0), update = node.in(1);
  int64_t axis = node.axis(node.integer("axis", -2), cache.rank());
  SmallVector<int64_t> expected(cache.shape());
  if (update.rank() == cache.rank())
    expected[axis] = std::min(cache.dim(axis), update.dim(axis));
  if (axis == 0 || update.shape() != ArrayRef(expected))
    fail("an update of the shape " + show(update.shape()) + " along axis " + Twine(axis) +
         " of a cache of shape " + show(cache.shape()));
  std::string mode = node.string("mode", "linear");
  if (mode != "linear" && mode != "circular")
    fail("'mode' must be linear or circular, not '" + mode + "'");
  int64_t length = cache.dim(axis);
  SmallVector<int64_t> shape(update.shape().take_front(axis + 1));
  Tensor at = node.iota(shape, axis);
  if (node.has(2)) {
    Tensor from = indicesOf(node, 2).convert(at.elementType());
    if (from.shape() != cache.shape().take_front(1))
      fail("the write indices (input 2) must be one for each sample");
    at = at + from.broadcast(shape, {0});
  }
  if (mode == "circular")
    at = wrapNegative(prim::rem(at, at.full(static_cast<double>(length))), length);
  // A position outside the cache must not be one of the next sample.
  Tensor row = alongRows(node, at, length);
  Tensor rows = asRows(node, cache, axis + 1);
  return {rows.scatter(flat(row), asRows(node, update, axis + 1), 0, ScatterKind::set)
              .reshape(cache.shape())};
}

// ---- others ----

Entities oneHot(Node &node) {
  Tensor indices = node.in(0), values = node.in(2);
  int64_t depth = static_cast<int64_t>(node.knownReal(1, "depth"));
  int64_t rank = indices.rank() + 1, axis = node.axis(node.integer("axis", -1), rank);
  if (values.rank() != 1 || values.dim(0) != 2)
    fail("the values must be [off, on]");
  node.importer().markUnclear(values.get(), "the numbers of a one-hot encoding");
  if (depth < 0 || depth > int64_t(1) << 40)
    fail("the depth is " + Twine(depth));
  Type i64 = node.builder().getI64Type();
  SmallVector<int64_t> shape(indices.shape());
  shape.insert(shape.begin() + axis, depth);
  RankedTensorType type = tensorType(shape, i64);
  Tensor wide = wrapNegative(indices.convert(i64), depth);
  Tensor hit = prim::equal(wide.broadcastAlong(shape, {axis}),
                           prim::iota(node.builder(), node.loc(), type, axis));
  Tensor off = values.sliceDim(0, 0, 1).reshape({}), on = values.sliceDim(0, 1, 2).reshape({});
  return {prim::select(hit, on.broadcast(shape, {}), off.broadcast(shape, {}))};
}

/// The first `length` elements along the time axis in reverse order, the others where they are.
Entities reverseSequence(Node &node) {
  Tensor x = node.in(0), lengths = node.in(1);
  int64_t time = node.axis(node.integer("time_axis", 0), x.rank());
  int64_t batch = node.axis(node.integer("batch_axis", 1), x.rank());
  if (time == batch || lengths.rank() != 1 || lengths.dim(0) != x.dim(batch))
    fail("the lengths have the shape " + show(lengths.shape()) + " for data of shape " +
         show(x.shape()));
  RankedTensorType type = x.type().clone(node.builder().getI64Type());
  Tensor at = prim::iota(node.builder(), node.loc(), type, time);
  Tensor length = lengths.convert(node.builder().getI64Type()).broadcast(x.shape(), {batch});
  Tensor from = prim::select(at < length, length - 1.0 - at, at);
  return {flat(x).gather(alongAxis(node, from, x.shape(), time), 0)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::indexingOps() {
  static const OpRow rows[] = {
      {"Gather", gather},
      {"GatherElements", gatherElements},
      {"GatherND", gatherNd},
      {"Scatter", scatterElements},
      {"ScatterElements", scatterElements},
      {"ScatterND", scatterNd},
      {"TensorScatter", tensorScatter},
      {"OneHot", oneHot},
      {"ReverseSequence", reverseSequence},
  };
  return rows;
}
