// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables whose rows are read by index.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

/// The rows of the table, whose gradients are divided so where the node says so.
Tensor rowsOf(Node &node, Tensor table, Tensor indices) {
  Tensor rows = table.gather(indices, 0);
  if (!node.boolean("scale_grad_by_freq"))
    return rows;
  return straightThrough(rows, dividedByFrequency(node, rows, indices, table.dim(0)));
}

Entities embedding(Node &node) {
  Tensor table = node.floatIn("weight"), indices = node.indexIn("indices");
  if (table.rank() != 2)
    fail("the table must be a matrix, but has the shape " + show(table.shape()));
  Tensor rows = rowsOf(node, table, indices);
  int64_t padding = node.integer("padding_idx");
  if (padding < 0) // none; PyTorch made others positive
    return {rows};
  return {withoutGradientOf(rows, indices, padding)};
}

/// Zeros in place of the rows whose index is `padding`.
Tensor withoutRowsOf(Tensor rows, Tensor indices, int64_t padding) {
  Tensor isPadding = prim::equal(indices, static_cast<double>(padding));
  return prim::select(isPadding.broadcast(rows.shape(), {0}), rows.full(0.0), rows);
}

/// The sum of the gradients of each row's readers; that of the padding's row is 0.
Entities embeddingBackward(Node &node) {
  Tensor g = node.floatIn("grad_output"), indices = node.indexIn("indices");
  if (g.rank() != indices.rank() + 1 || g.shape().drop_back() != indices.shape())
    fail("a gradient of shape " + show(g.shape()) + " for indices of shape " +
         show(indices.shape()));
  int64_t padding = node.integer("padding_idx"), width = g.dim(-1);
  Tensor rows = g.reshape({indices.size(), width}), index = flat(indices);
  if (padding >= 0)
    rows = withoutRowsOf(rows, index, padding);
  int64_t count = node.integer("num_weights");
  if (node.boolean("scale_grad_by_freq"))
    rows = dividedByFrequency(node, rows, index, count);
  Tensor table = node.full({count, width}, g.elementType(), 0);
  return {table.scatter(index, rows, 0, ScatterKind::add)};
}

// ---- bags ----

/// Of each bag, the index in the table that the greatest value of each column stands at, of the
/// rows where `counted` is not 0; -1 where a bag is empty.
Tensor indexOfGreatest(Node &node, Tensor indices, Tensor bag, Tensor rows, Tensor counted,
                       Tensor greatest) {
  Type i64 = node.builder().getI64Type();
  Tensor position = node.iota(rows.shape(), 0), none = position.full(rows.dim(0));
  Tensor isOther = prim::bitOr(prim::notEqual(rows, greatest.gather(bag, 0)),
                               (counted < 1.0).broadcast(rows.shape(), {0}));
  Tensor first = node.full(greatest.shape(), i64, static_cast<double>(rows.dim(0)))
                     .scatter(bag, prim::select(isOther, none, position), 0, ScatterKind::min);
  Tensor isEmpty = first >= static_cast<double>(rows.dim(0));
  Tensor found = indices.convert(i64).gather(prim::select(isEmpty, first.full(0.0), first), 0);
  return prim::select(isEmpty, found.full(-1.0), found);
}

/// Sums (mode 0), means (1) or greatest values (2) of the rows in each bag: those from its offset
/// to the next one's. Beside it the bag of each index, what counts in each bag, and in mode 2 the
/// indices of the greatest. A negative padding_idx counts from the table's end, or means none.
template <bool fromEnd> Entities embeddingBag(Node &node) {
  Tensor table = node.floatIn("weight"), indices = node.indexIn("indices");
  Type i64 = node.builder().getI64Type();
  Tensor offsets = node.indexIn("offsets").convert(i64);
  if (table.rank() != 2 || indices.rank() != 1 || offsets.rank() != 1)
    fail("a table of shape " + show(table.shape()) + ", indices of shape " + show(indices.shape()) +
         " and offsets of shape " + show(offsets.shape()));
  int64_t bags = offsets.dim(0) - node.boolean("include_last_offset"), count = indices.dim(0);
  if (bags < 0)
    fail("there is no offset");
  // The bag of an index: how many offsets lie at or before it, but one. Bags at the end may be
  // empty.
  Tensor begun = node.full({count + 1}, i64, 0)
                     .scatter(offsets, offsets.full(1.0), 0, ScatterKind::add)
                     .sliceDim(0, 0, count);
  Tensor bag = prim::cumulative(prim::ReduceKind::sum, begun, 0) - 1.0;
  Tensor rows = rowsOf(node, table, indices);
  if (node.has("per_sample_weights"))
    rows = rows * node.floatIn("per_sample_weights").broadcast(rows.shape(), {0});
  int64_t padding = node.has("padding_idx") ? node.integer("padding_idx") : -1;
  if (fromEnd && node.has("padding_idx"))
    padding = node.axis(padding, table.dim(0));
  Tensor counted = node.full({count}, table.elementType(), 1);
  int64_t mode = node.integer("mode");
  if (padding >= 0) {
    Tensor isPadding = prim::equal(indices, static_cast<double>(padding));
    counted = prim::select(isPadding, counted.full(0.0), counted);
    if (mode != 2)
      rows = withoutRowsOf(rows, indices, padding);
  }
  SmallVector<int64_t> shape = {bags, table.dim(1)};
  Tensor none = node.full(shape, table.elementType(), 0);
  Tensor counts =
      node.full({bags}, table.elementType(), 0).scatter(bag, counted, 0, ScatterKind::add);
  if (mode == 2) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Tensor least = none.full(-kInfinity);
    Tensor isPadding = (counted < 1.0).broadcast(rows.shape(), {0});
    Tensor seen = prim::select(isPadding, rows.full(-kInfinity), rows);
    Tensor greatest = least.scatter(bag, seen, 0, ScatterKind::max);
    Tensor isEmpty = (counts < 1.0).broadcast(shape, {0});
    return {prim::select(isEmpty, none, greatest), bag, counts.convert(i64),
            indexOfGreatest(node, indices, bag, rows, counted, greatest)};
  }
  Tensor sums = none.scatter(bag, rows, 0, ScatterKind::add);
  if (mode == 1) {
    Tensor sizes = prim::select(counts < 1.0, counts.full(1.0), counts);
    sums = sums / sizes.broadcast(shape, {0});
  }
  return {sums, bag, counts.convert(i64), node.full({0}, i64, 0)};
}

/// From the gradient of each bag those of the table's rows.
Entities embeddingBagBackward(Node &node) {
  Tensor g = node.floatIn("grad"), indices = node.indexIn("indices");
  int64_t mode = node.integer("mode");
  if (g.rank() != 2 || indices.rank() != 1)
    fail("a gradient of shape " + show(g.shape()) + " and indices of shape " +
         show(indices.shape()));
  Tensor table = node.full({node.integer("num_weights"), g.dim(1)}, g.elementType(), 0);
  if (mode == 2) {
    Tensor row = node.reshape(node.indexIn("maximum_indices"), g.shape());
    Tensor isEmpty = row < 0.0, column = node.iota(g.shape(), 1).convert(row.elementType());
    Tensor place = prim::select(isEmpty, row.full(0.0), row) * static_cast<double>(g.dim(1));
    Tensor updates = prim::select(isEmpty, g.full(0.0), g);
    return {flat(table)
                .scatter(flat(place + column), flat(updates), 0, ScatterKind::add)
                .reshape(table.shape())};
  }
  Tensor bag = node.reshape(node.indexIn("offset2bag"), indices.shape());
  if (mode == 1) {
    Tensor counts = node.reshape(node.in("bag_size"), {g.dim(0)}).convert(g.elementType());
    g = g / prim::select(counts < 1.0, counts.full(1.0), counts).broadcast(g.shape(), {0});
  }
  Tensor rows = g.gather(bag, 0);
  if (node.has("per_sample_weights"))
    rows = rows * node.floatIn("per_sample_weights").broadcast(rows.shape(), {0});
  if (int64_t padding = node.integer("padding_idx"); padding >= 0)
    rows = withoutRowsOf(rows, indices, padding);
  if (node.boolean("scale_grad_by_freq"))
    rows = dividedByFrequency(node, rows, indices, table.dim(0));
  return {table.scatter(indices, rows, 0, ScatterKind::add)};
}

/// From the gradient of each bag, a sum, those of the numbers that its rows are multiplied by.
Entities embeddingBagFactorsBackward(Node &node) {
  Tensor g = node.floatIn("grad"), table = node.floatIn("weight"),
         indices = node.indexIn("indices");
  if (g.rank() != 2 || table.rank() != 2 || indices.rank() != 1)
    fail("a gradient of shape " + show(g.shape()) + ", a table of shape " + show(table.shape()) +
         " and indices of shape " + show(indices.shape()));
  Tensor bag = node.reshape(node.indexIn("offset2bag"), indices.shape());
  Tensor products = g.gather(bag, 0) * table.gather(indices, 0);
  if (int64_t padding = node.integer("padding_idx"); padding >= 0)
    products = withoutRowsOf(products, indices, padding);
  return {prim::sum(products, {1})};
}

} // namespace

ArrayRef<OpRow> accc::aten::embeddingOps() {
  static const OpRow rows[] = {
      {"embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False)",
       embedding, Alias::None, selected::embedding},
      {"embedding_dense_backward(grad_output, indices, num_weights, padding_idx, "
       "scale_grad_by_freq)",
       embeddingBackward, Alias::None, selected::embeddingBackward},
      {"embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
       "per_sample_weights=None, include_last_offset=False, padding_idx=None)",
       embeddingBag<true>},
      {"_embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
       "per_sample_weights=None, include_last_offset=False, padding_idx=None)",
       embeddingBag<false>},
      {"_embedding_bag_forward_only(weight, indices, offsets, scale_grad_by_freq=False, mode=0, "
       "sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None)",
       embeddingBag<false>},
      {"_embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size, maximum_indices, "
       "num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx=-1)",
       embeddingBagBackward},
      {"_embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, "
       "num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx=-1)",
       embeddingBagBackward},
      {"_embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, "
       "mode, padding_idx=-1)",
       embeddingBagFactorsBackward},
  };
  return rows;
}
