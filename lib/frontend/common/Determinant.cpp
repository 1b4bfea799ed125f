// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Determinant.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

/// Up to so many rows the elimination is in the graph, whose gradient is right for singular
/// matrices as well; code grows with them.
constexpr int64_t kMostEliminated = 64;
constexpr int64_t kMostExpanded = 3;

/// Element (i, j) of all matrices.
Tensor at(Tensor x, int64_t i, int64_t j) {
  return x.slice({0, i, j}, {x.dim(0), i + 1, j + 1}).reshape({x.dim(0)});
}

/// Up to three rows, by expansion along the first one.
Tensor expanded(Tensor x) {
  auto minor = [&](int64_t i, int64_t j) {
    return at(x, 1, i) * at(x, 2, j) - at(x, 1, j) * at(x, 2, i);
  };
  switch (x.dim(1)) {
  case 1:
    return at(x, 0, 0);
  case 2:
    return at(x, 0, 0) * at(x, 1, 1) - at(x, 0, 1) * at(x, 1, 0);
  default:
    return at(x, 0, 0) * minor(1, 2) - at(x, 0, 1) * minor(0, 2) + at(x, 0, 2) * minor(0, 1);
  }
}

/// The factors of the determinant: after each step of the elimination the greatest element of the
/// first column, whose row and column are then taken away, with the sign of the exchange of rows.
SmallVector<Tensor> eliminated(NodeBuilder &node, Tensor x) {
  int64_t matrices = x.dim(0);
  SmallVector<Tensor> found;
  for (int64_t n = x.dim(1); n > 1; --n) {
    Tensor column = x.sliceDim(2, 0, 1).reshape({matrices, n});
    Tensor row = node.make<prim::ArgReduceOp>(
        {prim::abs(column)},
        {node.attr("kind", prim::ReduceKindAttr::get(&node.context(), prim::ReduceKind::max)),
         node.i64("dimension", 1)});
    Tensor place = node.iota({matrices}, 0) * static_cast<double>(n) + row;
    Tensor top = x.reshape({matrices * n, n}).gather(place, 0);
    Tensor pivot = top.sliceDim(1, 0, 1).reshape({matrices});
    Tensor isFirst = prim::equal(row, 0.0);
    found.push_back(prim::select(isFirst, pivot, -pivot));

    // The first row in the place of the pivot's; then multiples of the pivot's row are subtracted.
    SmallVector<int64_t> rest = {matrices, n - 1, n}, next = {matrices, n - 1, n - 1};
    Tensor number = node.iota(rest, 1) + 1.0;
    Tensor first = x.sliceDim(1, 0, 1).reshape({matrices, n}).broadcast(rest, {0, 2});
    Tensor others =
        prim::select(prim::equal(number, row.broadcast(rest, {0})), first, x.sliceDim(1, 1, n));
    // A pivot of 0 has a column of zeros, of which nothing is left to subtract.
    Tensor divisor = prim::select(prim::equal(pivot, 0.0), 1.0, pivot);
    Tensor factor = others.sliceDim(2, 0, 1).reshape({matrices, n - 1}) /
                    divisor.broadcast({matrices, n - 1}, {0});
    x = others.sliceDim(2, 1, n) -
        factor.broadcast(next, {0, 1}) * top.sliceDim(1, 1, n).broadcast(next, {0, 2});
  }
  found.push_back(x.reshape({matrices}));
  return found;
}

/// The diagonal [matrices, n] of the upper factor, and the sign of the exchanges of rows: -1 for
/// each pivot that is not in its place.
std::pair<Tensor, Tensor> luDiagonal(const Tensor &matrices, prim::LuOp lu) {
  Tensor diagonal = prim::diagonalOf(matrices.wrap(lu.getLu())),
         pivots = diagonal.wrap(lu.getPivots());
  Tensor own = prim::iota(pivots.getBuilder(), pivots.getLoc(), pivots.type(), 1) + 1.0;
  Tensor signs = prim::select(prim::equal(pivots, own), diagonal.full(1.0), -1.0);
  return {diagonal, prim::reduce(prim::ReduceKind::prod, signs, {1})};
}

} // namespace

Determinants accc::frontend::determinant(NodeBuilder &node, Tensor x) {
  Stack stack(x);
  stack.requireSquare();
  int64_t n = stack.rows();
  prim::LuOp lu = luOf(node, prim::transposed(stack.all), /*check=*/false);
  Tensor factors = stack.restore(lu.getLu()), pivots = stack.restore(lu.getPivots());
  if (n == 0)
    return {node.full(stack.batch, x.elementType(), 1), factors, pivots};
  if (n <= kMostExpanded)
    return {stack.restore(expanded(stack.all)), factors, pivots};
  if (n > kMostEliminated) {
    auto [diagonal, sign] = luDiagonal(stack.all, lu);
    Tensor product = sign * prim::reduce(prim::ReduceKind::prod, diagonal, {1});
    return {stack.restore(product), factors, pivots};
  }
  SmallVector<Tensor> all = eliminated(node, stack.all);
  Tensor product = all.front();
  for (Tensor factor : ArrayRef(all).drop_front())
    product = product * factor;
  return {stack.restore(product), factors, pivots};
}

LogDeterminants accc::frontend::logDeterminant(NodeBuilder &node, Tensor x) {
  Stack stack(x);
  stack.requireSquare();
  prim::LuOp lu = luOf(node, prim::transposed(stack.all), /*check=*/false);
  Tensor factors = stack.restore(lu.getLu()), pivots = stack.restore(lu.getPivots());
  int64_t n = stack.rows();
  if (n == 0)
    return {node.full(stack.batch, x.elementType(), 1), node.full(stack.batch, x.elementType(), 0),
            factors, pivots};
  if (n <= kMostExpanded) {
    Tensor value = expanded(stack.all);
    return {stack.restore(prim::sign(value)), stack.restore(prim::log(prim::abs(value))), factors,
            pivots};
  }
  auto [diagonal, exchanges] = luDiagonal(stack.all, lu);
  Tensor sign = exchanges * prim::reduce(prim::ReduceKind::prod, prim::sign(diagonal), {1});
  return {stack.restore(sign), stack.restore(prim::sum(prim::log(prim::abs(diagonal)), {1})),
          factors, pivots};
}
