// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Determinant.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

constexpr int64_t kMostRows = 64;

/// x [batch..., n, n] as [matrices, n, n].
Tensor asMatrices(Tensor x) {
  if (x.rank() < 2 || x.dim(-1) != x.dim(-2) || x.dim(-1) < 1 || x.dim(-1) > kMostRows)
    fail("determinants are those of square matrices of 1 to " + Twine(kMostRows) +
         " rows, but the input has the shape " + show(x.shape()));
  int64_t n = x.dim(-1);
  return x.reshape({x.size() / (n * n), n, n});
}

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
SmallVector<Tensor> pivots(NodeBuilder &node, Tensor x) {
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

} // namespace

Tensor accc::frontend::determinant(NodeBuilder &node, Tensor x) {
  Tensor matrices = asMatrices(x);
  ArrayRef<int64_t> batch = x.shape().drop_back(2);
  if (matrices.dim(1) <= 3)
    return expanded(matrices).reshape(batch);
  SmallVector<Tensor> factors = pivots(node, matrices);
  Tensor product = factors.front();
  for (Tensor factor : ArrayRef(factors).drop_front())
    product = product * factor;
  return product.reshape(batch);
}

std::pair<Tensor, Tensor> accc::frontend::logDeterminant(NodeBuilder &node, Tensor x) {
  Tensor matrices = asMatrices(x);
  SmallVector<Tensor> factors =
      matrices.dim(1) <= 3 ? SmallVector<Tensor>{expanded(matrices)} : pivots(node, matrices);
  Tensor sign = prim::sign(factors.front()), sum = prim::log(prim::abs(factors.front()));
  for (Tensor factor : ArrayRef(factors).drop_front()) {
    sign = sign * prim::sign(factor);
    sum = sum + prim::log(prim::abs(factor));
  }
  ArrayRef<int64_t> batch = x.shape().drop_back(2);
  return {sign.reshape(batch), sum.reshape(batch)};
}
