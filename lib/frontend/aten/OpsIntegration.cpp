// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives and integrals of functions that are given at points.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// Along a dimension, the elements from `start` to the one that is `end` before the last.
Tensor part(Tensor x, int64_t dim, int64_t start, int64_t end) {
  return x.sliceDim(dim, start, x.dim(dim) - end);
}

// ---- integrals ----

/// Numbers: PyTorch knows no rule for booleans.
Tensor numbersIn(Node &node, StringRef name) {
  Tensor x = node.in(name);
  if (x.elementType().isInteger(1))
    fail("'" + name + "' is of booleans");
  return x;
}

/// The points of a call, in as many dimensions as y: one row of them may stand for all.
Tensor pointsFor(Node &node, Tensor y, int64_t dim) {
  Tensor x = numbersIn(node, "x");
  SmallVector<int64_t> shape(std::max<int64_t>(y.rank() - x.rank(), 0), 1);
  llvm::append_range(shape, x.shape());
  if (x.rank() == 1) {
    shape.assign(y.rank(), 1);
    shape[dim] = x.dim(0);
  }
  if (x.rank() > y.rank() || shape[dim] != y.dim(dim))
    fail("points of shape " + show(x.shape()) + " for values of shape " + show(y.shape()));
  return x.reshape(shape);
}

/// What the trapezoidal rule speaks of. Integers stay what they are, and wrap as PyTorch's do,
/// until they are halved.
struct Trapezoids {
  Tensor y;
  int64_t dim;
  Tensor sums;                  // of neighbours
  std::optional<Tensor> widths; // of the shape of `sums`, where points are given
};

std::optional<Trapezoids> trapezoidsOf(Node &node) {
  Tensor y = numbersIn(node, "y");
  if (y.rank() == 0)
    fail("a tensor without dimensions has no neighbours");
  int64_t dim = node.dim("dim", y);
  std::optional<Tensor> x;
  if (node.has("x"))
    x = pointsFor(node, y, dim);
  if (y.dim(dim) == 0)
    return std::nullopt;
  Tensor sums = part(y, dim, 0, 1) + part(y, dim, 1, 0);
  if (!x)
    return Trapezoids{y, dim, sums, std::nullopt};
  auto [widths, heights] = node.broadcast(part(*x, dim, 1, 0) - part(*x, dim, 0, 1), sums);
  return Trapezoids{y, dim, heights, widths};
}

/// A sum as PyTorch has it: that of integers is int64.
Tensor sumAlong(Node &node, Tensor x, int64_t dim) {
  bool isInteger = isa<IntegerType>(x.elementType());
  return asFloat(node, prim::sum(isInteger ? x.convert(node.builder().getI64Type()) : x, {dim}));
}

Entities trapezoid(Node &node) {
  std::optional<Trapezoids> all = trapezoidsOf(node);
  if (!all) {
    Tensor y = node.in("y");
    return {asFloat(node, prim::sum(y, {node.dim("dim", y)}))};
  }
  auto [y, dim, sums, widths] = *all;
  if (widths) {
    Type type = promoteTypes(widths->elementType(), sums.elementType());
    return {sumAlong(node, widths->convert(type) * sums.convert(type), dim) / 2.0};
  }
  Tensor ends = prim::sum(part(y, dim, 0, y.dim(dim) - 1) + part(y, dim, y.dim(dim) - 1, 0), {dim});
  return {(sumAlong(node, y, dim) - asFloat(node, ends) * 0.5) * node.number("dx")};
}
Entities cumulativeTrapezoid(Node &node) {
  std::optional<Trapezoids> all = trapezoidsOf(node);
  if (!all)
    return {asFloat(node, node.in("y"))};
  auto [y, dim, sums, widths] = *all;
  auto accumulated = [&, dim = dim](Tensor x) {
    return prim::cumulative(prim::ReduceKind::sum, x, dim);
  };
  if (!widths)
    return {accumulated(asFloat(node, sums) * (node.number("dx") / 2))};
  Type type = promoteTypes(widths->elementType(), sums.elementType());
  Tensor doubled = widths->convert(type) * sums.convert(type); // narrow integers wrap around
  if (isa<IntegerType>(type))
    doubled = doubled.convert(node.builder().getI64Type());
  return {asFloat(node, accumulated(doubled)) / 2.0};
}

// ---- derivatives ----

/// The distances between neighbours along the given dimension number i.
Tensor spacingOf(Node &node, Tensor x, size_t i, size_t count, int64_t extent) {
  SmallVector<int64_t> shape = {extent - 1};
  if (!node.has("spacing"))
    return node.full(shape, x.elementType(), 1);
  if (node.isTensorList("spacing")) {
    SmallVector<Tensor> all = node.tensors("spacing");
    if (all.size() != count || all[i].rank() != 1 || all[i].dim(0) != extent)
      fail("the coordinates in 'spacing' do not fit a tensor of shape " + show(x.shape()));
    Tensor at = all[i].convert(promoteTypes(x.elementType(), all[i].elementType()));
    return part(at, 0, 1, 0) - part(at, 0, 0, 1);
  }
  SmallVector<double> all = node.isNumber("spacing")
                                ? SmallVector<double>(count, node.number("spacing"))
                                : node.reals("spacing");
  if (all.size() != count)
    fail("'spacing' has " + Twine(all.size()) + " entries for " + Twine(count) + " dimensions");
  return node.full(shape, x.elementType(), all[i]);
}

/// The derivative of the parabola through three neighbours, at the first (-1), the one in the
/// middle (0) or the last (1) of them; `before` and `behind` are the distances between them.
Tensor slope(ArrayRef<Tensor> values, Tensor before, Tensor behind, int at) {
  Tensor whole = before + behind;
  auto first = (values[1] - values[0]) / before, second = (values[2] - values[1]) / behind;
  Tensor bend = (second - first) / whole;
  return at < 0 ? first - bend * before : at == 0 ? first + bend * before : second + bend * behind;
}

/// The derivative along one dimension: of second order inside and of `order` at both ends.
Tensor derivative(Tensor x, Tensor spacing, int64_t dim, int64_t order) {
  int64_t extent = x.dim(dim);
  if (extent < order + 1)
    fail("a derivative of order " + Twine(order) + " needs " + Twine(order + 1) +
         " elements along each dimension, but the shape is " + show(x.shape()));
  auto distances = [&](int64_t start, int64_t end) {
    Tensor some = spacing.sliceDim(0, start, end);
    SmallVector<int64_t> shape(x.shape());
    shape[dim] = end - start;
    return some.broadcast(shape, {dim});
  };
  auto values = [&](int64_t start, int64_t end) { return x.sliceDim(dim, start, end); };
  auto parabola = [&](int64_t start, int64_t end, int at) {
    return slope({values(start, end), values(start + 1, end + 1), values(start + 2, end + 2)},
                 distances(start, end), distances(start + 1, end + 1), at);
  };
  auto line = [&](int64_t start) {
    return (values(start + 1, start + 2) - values(start, start + 1)) / distances(start, start + 1);
  };
  SmallVector<Tensor> parts = {order == 1 ? line(0) : parabola(0, 1, -1)};
  if (extent > 2)
    parts.push_back(parabola(0, extent - 2, 0));
  parts.push_back(order == 1 ? line(extent - 2) : parabola(extent - 3, extent - 2, 1));
  return prim::concatenate(parts, dim);
}

Entities gradient(Node &node) {
  Tensor x = asFloat(node, node.in("self"));
  int64_t order = node.integer("edge_order");
  if (order != 1 && order != 2)
    fail("edge_order is " + Twine(order) + ", not 1 or 2");
  SmallVector<int64_t> dims;
  if (node.has("dim"))
    dims = node.integers("dim");
  else
    dims = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  for (int64_t &dim : dims)
    dim = node.axis(dim, x.rank());
  std::vector<Entity> results;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Tensor spacing = spacingOf(node, x, i, dims.size(), x.dim(dim));
    results.push_back(derivative(x.convert(spacing.elementType()), spacing, dim, order));
  }
  return {Entity::ofSequence(std::move(results))};
}

} // namespace

ArrayRef<OpRow> accc::aten::integrationOps() {
  static const OpRow rows[] = {
      {"trapezoid(y, x=None, *, dx=1, dim=-1)", trapezoid},
      {"trapezoid.dx(y, *, dx=1, dim=-1, x=None)", trapezoid},
      {"trapz(y, x=None, *, dx=1, dim=-1)", trapezoid},
      {"trapz.dx(y, *, dx=1, dim=-1, x=None)", trapezoid},
      {"cumulative_trapezoid(y, x=None, *, dx=1, dim=-1)", cumulativeTrapezoid},
      {"cumulative_trapezoid.dx(y, *, dx=1, dim=-1, x=None)", cumulativeTrapezoid},
      {"gradient(self, *, spacing=None, dim=None, edge_order=1)", gradient},
  };
  return rows;
}
