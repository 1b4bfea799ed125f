// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/MatrixRules.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// 0, 1, 2, ... along a dimension.
Tensor numbers(Tensor like, ArrayRef<int64_t> shape, int64_t dimension) {
  OpBuilder &b = like.getBuilder();
  return iota(b, like.getLoc(), RankedTensorType::get(shape, b.getI64Type()), dimension);
}

/// How far to the right of the main diagonal each element lies.
Tensor diagonalNumbers(Tensor a) { return numbers(a, a.shape(), 2) - numbers(a, a.shape(), 1); }

/// The product of reflections is 1 - v t v^T, where t^-1 = d^-1 + the products of different v_i
/// above the diagonal, d having the taus. Multiplied by d, as 0 is a tau: t = (1 + d s)^-1 d.
struct Reflections {
  Tensor v, inner, taus;

  Reflections(Tensor a, Tensor taus) : v(lowerTriangle(a, -1)), inner(a), taus(taus) {
    v = v + equal(diagonalNumbers(v), 0.0).convert(a.elementType());
    inner = scaled(matrixProduct(transposed(v), v));
  }

  Tensor scaled(Tensor x) const { return taus.broadcast(x.shape(), {0, 1}) * x; }
  /// t x, or t^T x.
  Tensor times(Tensor x, bool transpose) const {
    return transpose ? scaled(solveTriangular(inner, x, Triangle::unitUpper, true))
                     : solveTriangular(inner, scaled(x), Triangle::unitUpper);
  }
};

/// The numbers of the rows in a tensor of the rows of all matrices.
Tensor rowsOfAll(Tensor a, Tensor rows) {
  Tensor first = numbers(a, rows.shape(), 0) * static_cast<double>(a.dim(1));
  return (first + rows).reshape({rows.size()});
}

} // namespace

Tensor prim::matrixProduct(Tensor a, Tensor b) {
  return dotGeneral(a, b, {0}, {0}, {2}, {1}, /*fullPrecision=*/true);
}

Tensor prim::transposed(Tensor a) { return a.transpose({0, 2, 1}); }

Tensor prim::lowerTriangle(Tensor a, int64_t offset) {
  return select(diagonalNumbers(a) <= static_cast<double>(offset), a, 0.0);
}

Tensor prim::upperTriangle(Tensor a, int64_t offset) {
  return select(diagonalNumbers(a) >= static_cast<double>(offset), a, 0.0);
}

Tensor prim::identityMatrices(Tensor like, int64_t matrices, int64_t n) {
  SmallVector<int64_t> shape = {matrices, n, n};
  return equal(numbers(like, shape, 1), numbers(like, shape, 2)).convert(like.elementType());
}

Tensor prim::diagonalOf(Tensor a) {
  int64_t n = std::min(a.dim(1), a.dim(2));
  Tensor square = a.slice({0, 0, 0}, {a.dim(0), n, n});
  return sum(select(equal(diagonalNumbers(square), 0.0), square, 0.0), {2});
}

Tensor prim::diagonalMatrices(Tensor diagonal) {
  int64_t n = diagonal.dim(1);
  Tensor rows = diagonal.broadcast({diagonal.dim(0), n, n}, {0, 1});
  return select(equal(diagonalNumbers(rows), 0.0), rows, 0.0);
}

Tensor prim::takeRows(Tensor a, Tensor rows) {
  Tensor all = a.reshape({a.dim(0) * a.dim(1), a.dim(2)});
  return all.gather(rowsOfAll(a, rows), 0).reshape({a.dim(0), rows.dim(1), a.dim(2)});
}

Tensor prim::putRows(Tensor a, Tensor rows) {
  Tensor all = a.reshape({a.dim(0) * a.dim(1), a.dim(2)});
  return all.full(0.0).scatter(rowsOfAll(a, rows), all, 0, ScatterKind::set).reshape(a.shape());
}

Tensor prim::solveTriangular(Tensor a, Tensor b, Triangle triangle, bool transpose) {
  bool upper = triangle == Triangle::upper || triangle == Triangle::unitUpper;
  bool unit = triangle == Triangle::unitLower || triangle == Triangle::unitUpper;
  return b.wrap(b.getBuilder().create<TriangularSolveOp>(b.getLoc(), a, b, upper, transpose, unit));
}

// x a = b is a^T x^T = b^T.
Tensor prim::solveTriangularRight(Tensor a, Tensor b, Triangle triangle, bool transpose) {
  return transposed(solveTriangular(a, transposed(b), triangle, !transpose));
}

Tensor prim::pivotedRows(Tensor pivots, int64_t rows) {
  return pivots.wrap(pivots.getBuilder().create<PivotedRowsOp>(pivots.getLoc(), pivots, rows));
}

// With p a = l u: x = u^-1 l^-1 p b, and for the transpose x = p^T l^-T u^-T b.
Tensor prim::solveWithLu(Tensor lu, Tensor pivots, Tensor b, bool transpose) {
  Tensor rows = pivotedRows(pivots, lu.dim(1));
  if (!transpose) {
    Tensor y = solveTriangular(lu, takeRows(b, rows), Triangle::unitLower);
    return solveTriangular(lu, y, Triangle::upper);
  }
  Tensor y = solveTriangular(lu, b, Triangle::upper, /*transpose=*/true);
  return putRows(solveTriangular(lu, y, Triangle::unitLower, /*transpose=*/true), rows);
}

Tensor prim::householderProduct(Tensor a, Tensor taus, int64_t columns) {
  int64_t matrices = a.dim(0), m = a.dim(1), k = taus.dim(1);
  Reflections reflections(a.slice({0, 0, 0}, {matrices, m, k}), taus);
  Tensor v = reflections.v;
  Tensor top = transposed(v.slice({0, 0, 0}, {matrices, columns, k}));
  Tensor identity = identityMatrices(a, matrices, m).slice({0, 0, 0}, {matrices, m, columns});
  return identity - matrixProduct(v, reflections.times(top, /*transpose=*/false));
}

Tensor prim::householderProductTimes(Tensor a, Tensor taus, Tensor c, bool transpose) {
  Reflections reflections(a.slice({0, 0, 0}, {a.dim(0), a.dim(1), taus.dim(1)}), taus);
  Tensor v = reflections.v;
  return c - matrixProduct(v, reflections.times(matrixProduct(transposed(v), c), transpose));
}
