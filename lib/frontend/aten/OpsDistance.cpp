// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distances between vectors, and slices and rows of bounded norm.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

SmallVector<int64_t> allDims(Tensor x) {
  SmallVector<int64_t> dims(x.rank());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// Of all elements.
Entities distance(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  return {norm(a - b, node.number("p"), allDims(a))};
}

/// Of vectors along the last dimension.
Entities pairwiseDistance(Node &node) {
  auto [a, b] = operands(node, "x1", "x2");
  if (a.rank() == 0)
    fail("needs vectors along the last dimension");
  int64_t last = a.rank() - 1;
  Tensor y = norm(asFloat(node, a - b) + node.number("eps"), node.number("p"), {last});
  if (!node.boolean("keepdim"))
    return {y};
  SmallVector<int64_t> shape(a.shape());
  shape[last] = 1;
  return {y.reshape(shape)};
}

/// The norms of vectors along the last dimension. Other than that of norm(), PyTorch's gradient for
/// p = 0 is there, and zero.
Tensor lengths(Tensor vectors, double p) {
  Tensor y = norm(vectors, p, {vectors.rank() - 1});
  return p == 0 ? zeroDependence(y, vectors) : y;
}

/// Of each row of one matrix and each of another.
Entities distances(Node &node) {
  Tensor a = node.floatIn("x1"), b = node.floatIn("x2");
  if (a.rank() < 2 || b.rank() < 2)
    fail("needs two matrices, or batches of them");
  auto between = [](Tensor x, int64_t dim) { // a dimension of one there
    SmallVector<int64_t> shape(x.shape());
    shape.insert(shape.end() - dim, 1);
    return x.reshape(shape);
  };
  auto [left, right] = node.broadcast(between(a, 1), between(b, 2));
  return {lengths(left - right, node.number("p"))};
}
Entities distancesBackward(Node &node) { return backward<distances>(node, "x1"); }

/// Of each row of a matrix and each row behind it.
Entities distancesOfRows(Node &node) {
  Tensor x = node.floatIn("self");
  if (x.rank() != 2)
    fail("a tensor of shape " + show(x.shape()) + " is no matrix");
  int64_t n = x.dim(0);
  if (n > 1 << 13)
    fail("the distances of " + Twine(n) + " rows are too many");
  SmallVector<int64_t> first, second;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  int64_t count = static_cast<int64_t>(first.size());
  if (count == 0)
    return {node.full({0}, x.elementType(), 0)};
  Tensor a = x.gather(node.integers(first, {count}), 0);
  Tensor b = x.gather(node.integers(second, {count}), 0);
  return {lengths(a - b, node.number("p"))};
}

/// What scales slices of these norms to the bound, where they are greater.
Tensor boundFactor(Tensor norms, double bound) {
  return prim::select(norms > bound, bound / (norms + 1e-7), norms.full(1.0));
}

/// Slices along a dimension whose norm is greater than the bound, scaled to it.
Entities boundNorm(Node &node) {
  Tensor x = node.floatIn("self");
  int64_t dim = node.dim("dim", x);
  double p = node.number("p"), bound = node.number("maxnorm");
  if (x.rank() < 2 || p <= 0 || bound < 0)
    fail("cannot bound norms of order " + Twine(std::to_string(p)) + " by " +
         Twine(std::to_string(bound)) + " in a tensor of shape " + show(x.shape()));
  SmallVector<int64_t> others = allDims(x);
  others.erase(others.begin() + dim);
  Tensor factor = boundFactor(norm(x, p, others), bound);
  return {x * factor.broadcastAlong(x.shape(), others)};
}

/// The table with those of its rows that the indices name scaled to the bound.
Entities boundNormsOfRows(Node &node) {
  Tensor table = node.floatIn("self"), index = flat(node.indexIn("indices"));
  if (table.rank() != 2)
    fail("the table must be a matrix, but has the shape " + show(table.shape()));
  Tensor rows = table.gather(index, 0);
  Tensor factor = boundFactor(norm(rows, node.number("norm_type"), {1}), node.number("max_norm"));
  return {table.scatter(index, rows * factor.broadcast(rows.shape(), {0}), 0, ScatterKind::set)};
}

} // namespace

ArrayRef<OpRow> accc::aten::distanceOps() {
  static const OpRow rows[] = {
      {"dist(self, other, p=2)", distance},
      {"pairwise_distance(x1, x2, p=2, eps=1e-06, keepdim=False)", pairwiseDistance},
      {"cdist(x1, x2, p=2, compute_mode=None)", distances},
      {"_cdist_forward(x1, x2, p, compute_mode=None)", distances},
      {"_euclidean_dist(x1, x2, p=2)", distances},
      {"_cdist_backward(grad_output, x1, x2, p, cdist)", distancesBackward},
      {"pdist(self, p=2)", distancesOfRows},
      {"_pdist_forward(self, p=2)", distancesOfRows},
      {"_pdist_backward(grad_output, self, p, pdist)", backward<distancesOfRows>},
      {"renorm(self, p, dim, maxnorm)", boundNorm},
      {"embedding_renorm(self, indices, max_norm, norm_type)", boundNormsOfRows},
  };
  return rows;
}
