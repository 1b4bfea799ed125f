// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Infer.h"
#include "ir/prim/MatrixRules.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Matrices.cpp.inc"

namespace {

/// Operand `name` is [matrices, rows, columns]; square if so asked.
template <typename Op>
LogicalResult checkMatrices(std::optional<Location> loc, StringRef name, Value value,
                            bool square = false) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() == 3 && (!square || type.getDimSize(1) == type.getDimSize(2)))
    return success();
  return inferError<Op>(loc, "'", name, "' must be ",
                        square ? "[matrices, n, n]" : "[matrices, rows, columns]", ", but is ",
                        type);
}

RankedTensorType countsOf(RankedTensorType matrices, ArrayRef<int64_t> perMatrix = {}) {
  SmallVector<int64_t> shape = {matrices.getDimSize(0)};
  llvm::append_range(shape, perMatrix);
  return RankedTensorType::get(shape, IntegerType::get(matrices.getContext(), 32));
}

/// Matrix number `number` of a stack.
struct MatrixView {
  double *elements;
  int64_t rows, columns;
  MatrixView(ReferenceArray &stack, int64_t number)
      : elements(stack.values.data() + number * stack.shape[1] * stack.shape[2]),
        rows(stack.shape[1]), columns(stack.shape[2]) {}
  double &operator()(int64_t i, int64_t j) { return elements[i * columns + j]; }
};

ReferenceArray zeros(ArrayRef<int64_t> shape) { return ReferenceArray(shape); }

} // namespace

// ---- cholesky ----

LogicalResult CholeskyOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkMatrices<CholeskyOp>(loc, "a", adaptor.getA(), /*square=*/true)))
    return failure();
  RankedTensorType a = tensorType(adaptor.getA());
  types.assign({a, countsOf(a)});
  return success();
}

// da = l^-T sym(l^T dl) l^-1, where sym makes the lower triangle symmetric and halves what both
// triangles then have.
LogicalResult CholeskyOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getA()) || !gradients.has(getL()))
    return success();
  Tensor dl(gradients.builder(), getLoc(), gradients.of(getL())), l = dl.wrap(getL());
  Tensor product = lowerTriangle(matrixProduct(transposed(l), dl));
  Tensor symmetric = 0.5 * (product + transposed(lowerTriangle(product, -1)));
  Tensor left = solveTriangular(l, symmetric, Triangle::lower, /*transpose=*/true);
  gradients.add(getA(), solveTriangularRight(l, left, Triangle::lower));
  return success();
}

LogicalResult CholeskyOp::evaluate(ArrayRef<ReferenceArray> operands,
                                   SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray a = operands[0], stack = zeros(a.shape), info = zeros({a.shape[0]});
  for (int64_t number = 0; number < a.shape[0]; ++number) {
    MatrixView from(a, number), l(stack, number);
    for (int64_t j = 0; j < l.rows; ++j)
      for (int64_t i = j; i < l.rows; ++i) {
        double rest = from(i, j);
        for (int64_t k = 0; k < j; ++k)
          rest -= l(i, k) * l(j, k);
        if (i == j && !(rest > 0) && info.values[number] == 0)
          info.values[number] = static_cast<double>(j + 1);
        l(i, j) = i == j ? (rest > 0 ? std::sqrt(rest) : std::nan("")) : rest / l(j, j);
      }
    if (getCheckErrors() && info.values[number] != 0)
      return emitOpError("finds a matrix that is not positive definite");
  }
  results.assign({std::move(stack), std::move(info)});
  return success();
}

// ---- lu ----

LogicalResult LuOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  if (failed(checkMatrices<LuOp>(loc, "a", adaptor.getA())))
    return failure();
  RankedTensorType a = tensorType(adaptor.getA());
  types.assign({a, countsOf(a, std::min(a.getDimSize(1), a.getDimSize(2))), countsOf(a)});
  return success();
}

// p da = l^-T (tril(l^T dl, -1) + triu(du u^T)) u^-T for square matrices. Columns that follow are
// p a2 = l u2, and rows that follow l2 u: these add -du2 u2^T to l^T dl, and -l2^T dl2 to du u^T.
LogicalResult LuOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getA()) || !gradients.has(getLu()))
    return success();
  Tensor d(gradients.builder(), getLoc(), gradients.of(getLu())), lu = d.wrap(getLu());
  int64_t matrices = lu.dim(0), m = lu.dim(1), n = lu.dim(2), k = std::min(m, n);
  auto part = [&](Tensor x, int64_t row, int64_t endRow, int64_t column, int64_t endColumn) {
    return x.slice({0, row, column}, {matrices, endRow, endColumn});
  };
  Tensor square = part(lu, 0, k, 0, k), dSquare = part(d, 0, k, 0, k);
  Tensor l = lowerTriangle(square, -1) + identityMatrices(lu, matrices, k);
  Tensor u = upperTriangle(square);
  Tensor ofL = matrixProduct(transposed(l), lowerTriangle(dSquare, -1));
  Tensor ofU = matrixProduct(upperTriangle(dSquare), transposed(u));
  if (n > m)
    ofL = ofL - matrixProduct(part(d, 0, k, k, n), transposed(part(lu, 0, k, k, n)));
  if (m > n)
    ofU = ofU - matrixProduct(transposed(part(lu, k, m, 0, k)), part(d, k, m, 0, k));
  Tensor inner = lowerTriangle(ofL, -1) + upperTriangle(ofU);
  auto throughL = [&](Tensor x) {
    return solveTriangular(square, x, Triangle::unitLower, /*transpose=*/true);
  };
  auto throughU = [&](Tensor x) {
    return solveTriangularRight(square, x, Triangle::upper, /*transpose=*/true);
  };
  Tensor da = throughL(throughU(inner));
  if (n > m)
    da = concatenate({da, throughL(part(d, 0, k, k, n))}, 2);
  if (m > n)
    da = concatenate({da, throughU(part(d, k, m, 0, k))}, 1);
  gradients.add(getA(), putRows(da, pivotedRows(d.wrap(getPivots()), m)));
  return success();
}

LogicalResult LuOp::evaluate(ArrayRef<ReferenceArray> operands,
                             SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray stack = operands[0];
  int64_t steps = std::min(stack.shape[1], stack.shape[2]);
  ReferenceArray pivots = zeros({stack.shape[0], steps}), info = zeros({stack.shape[0]});
  for (int64_t number = 0; number < stack.shape[0]; ++number) {
    MatrixView lu(stack, number);
    for (int64_t k = 0; k < steps; ++k) {
      int64_t pivot = k;
      for (int64_t i = k + 1; i < lu.rows; ++i)
        if (std::abs(lu(i, k)) > std::abs(lu(pivot, k)))
          pivot = i;
      pivots.at({number, k}) = static_cast<double>(pivot + 1);
      for (int64_t j = 0; j < lu.columns; ++j)
        std::swap(lu(k, j), lu(pivot, j));
      if (lu(k, k) == 0) { // nothing is left to eliminate
        if (info.values[number] == 0)
          info.values[number] = static_cast<double>(k + 1);
        continue;
      }
      for (int64_t i = k + 1; i < lu.rows; ++i) {
        lu(i, k) /= lu(k, k);
        for (int64_t j = k + 1; j < lu.columns; ++j)
          lu(i, j) -= lu(i, k) * lu(k, j);
      }
    }
    if (getCheckErrors() && info.values[number] != 0)
      return emitOpError("finds a singular matrix");
  }
  results.assign({std::move(stack), std::move(pivots), std::move(info)});
  return success();
}

// ---- pivoted_rows ----

LogicalResult PivotedRowsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType pivots = tensorType(adaptor.getPivots());
  auto rows = static_cast<int64_t>(adaptor.getRows());
  if (pivots.getRank() != 2 || pivots.getDimSize(1) > rows)
    return inferError<PivotedRowsOp>(loc, "'pivots' must be [matrices, exchanges] of up to ", rows,
                                     " rows, but is ", pivots);
  types.push_back(
      RankedTensorType::get({pivots.getDimSize(0), rows}, IntegerType::get(context, 64)));
  return success();
}

LogicalResult PivotedRowsOp::evaluate(ArrayRef<ReferenceArray> operands,
                                      SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &pivots = operands[0];
  auto rows = static_cast<int64_t>(getRows());
  ReferenceArray y = zeros({pivots.shape[0], rows});
  for (int64_t number = 0; number < pivots.shape[0]; ++number) {
    for (int64_t i = 0; i < rows; ++i)
      y.at({number, i}) = static_cast<double>(i);
    for (int64_t i = 0; i < pivots.shape[1]; ++i) {
      auto pivot = static_cast<int64_t>(pivots.at({number, i}));
      if (pivot < 1 || pivot > rows)
        return emitOpError("finds the pivot ") << pivot << " of " << rows << " rows";
      std::swap(y.at({number, i}), y.at({number, pivot - 1}));
    }
  }
  results.push_back(std::move(y));
  return success();
}

// ---- triangular_solve ----

LogicalResult TriangularSolveOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType a = tensorType(adaptor.getA()), b = tensorType(adaptor.getB());
  if (failed(checkMatrices<TriangularSolveOp>(loc, "a", adaptor.getA(), /*square=*/true)) ||
      failed(checkMatrices<TriangularSolveOp>(loc, "b", adaptor.getB())))
    return failure();
  if (a.getShape().take_front(2) != b.getShape().take_front(2) ||
      a.getElementType() != b.getElementType())
    return inferError<TriangularSolveOp>(loc, "'a' is ", a, " but 'b' ", b);
  types.push_back(b);
  return success();
}

// db is the solution for dx of the transposed system, and da the triangle of -db x^T.
LogicalResult TriangularSolveOp::differentiate(Gradients &gradients) {
  Tensor dx(gradients.builder(), getLoc(), gradients.of(getX())), a = dx.wrap(getA());
  Triangle triangle = getUpper() ? (getUnit() ? Triangle::unitUpper : Triangle::upper)
                                 : (getUnit() ? Triangle::unitLower : Triangle::lower);
  Tensor db = solveTriangular(a, dx, triangle, !getTranspose());
  if (gradients.wants(getB()))
    gradients.add(getB(), db);
  if (!gradients.wants(getA()))
    return success();
  Tensor x = dx.wrap(getX());
  Tensor da =
      getTranspose() ? -matrixProduct(x, transposed(db)) : -matrixProduct(db, transposed(x));
  int64_t offset = getUnit() ? 1 : 0;
  gradients.add(getA(), getUpper() ? upperTriangle(da, offset) : lowerTriangle(da, -offset));
  return success();
}

LogicalResult TriangularSolveOp::evaluate(ArrayRef<ReferenceArray> operands,
                                          SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray stack = operands[0], solution = operands[1];
  bool backward = getUpper() != getTranspose();
  for (int64_t number = 0; number < stack.shape[0]; ++number) {
    MatrixView a(stack, number), x(solution, number);
    auto factor = [&](int64_t i, int64_t j) { return getTranspose() ? a(j, i) : a(i, j); };
    for (int64_t step = 0; step < a.rows; ++step) {
      int64_t i = backward ? a.rows - 1 - step : step;
      for (int64_t column = 0; column < x.columns; ++column) {
        for (int64_t j = backward ? i + 1 : 0, end = backward ? a.rows : i; j < end; ++j)
          x(i, column) -= factor(i, j) * x(j, column);
        if (!getUnit())
          x(i, column) /= a(i, i);
      }
    }
  }
  results.push_back(std::move(solution));
  return success();
}

// ---- householder ----

LogicalResult HouseholderOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkMatrices<HouseholderOp>(loc, "x", adaptor.getX())))
    return failure();
  RankedTensorType x = tensorType(adaptor.getX());
  types.assign({x, x.clone({x.getDimSize(0), std::min(x.getDimSize(1), x.getDimSize(2))})});
  return success();
}

LogicalResult HouseholderOp::evaluate(ArrayRef<ReferenceArray> operands,
                                      SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray packed = operands[0];
  int64_t steps = std::min(packed.shape[1], packed.shape[2]);
  ReferenceArray taus = zeros({packed.shape[0], steps});
  for (int64_t number = 0; number < packed.shape[0]; ++number) {
    MatrixView x(packed, number);
    for (int64_t k = 0; k < steps; ++k) {
      double squares = 0, alpha = x(k, k);
      for (int64_t i = k + 1; i < x.columns; ++i)
        squares += x(k, i) * x(k, i);
      if (squares == 0)
        continue;
      double beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha);
      double tau = taus.at({number, k}) = (beta - alpha) / beta;
      for (int64_t i = k + 1; i < x.columns; ++i)
        x(k, i) /= alpha - beta;
      x(k, k) = beta;
      for (int64_t j = k + 1; j < x.rows; ++j) {
        double product = x(j, k);
        for (int64_t i = k + 1; i < x.columns; ++i)
          product += x(k, i) * x(j, i);
        x(j, k) -= tau * product;
        for (int64_t i = k + 1; i < x.columns; ++i)
          x(j, i) -= tau * product * x(k, i);
      }
    }
  }
  results.assign({std::move(packed), std::move(taus)});
  return success();
}

// ---- jacobi_eigh, jacobi_svd ----

namespace {

constexpr int kMostSweeps = 60;

/// Turns rows p and q of a matrix.
void turnRows(MatrixView a, int64_t p, int64_t q, double cosine, double sine) {
  for (int64_t i = 0; i < a.columns; ++i) {
    double x = a(p, i), y = a(q, i);
    a(p, i) = cosine * x - sine * y;
    a(q, i) = sine * x + cosine * y;
  }
}

/// Cosine and sine of the lesser angle by which `off`, the product of two directions whose squares
/// differ by `difference`, is turned away.
std::pair<double, double> turnAway(double difference, double off) {
  double zeta = difference / (2 * off);
  double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  double cosine = 1 / std::sqrt(1 + tangent * tangent);
  return {cosine, cosine * tangent};
}

ReferenceArray identities(int64_t matrices, int64_t n) {
  ReferenceArray result = zeros({matrices, n, n});
  for (int64_t number = 0; number < matrices; ++number)
    for (int64_t i = 0; i < n; ++i)
      result.at({number, i, i}) = 1;
  return result;
}

} // namespace

LogicalResult JacobiEighOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkMatrices<JacobiEighOp>(loc, "a", adaptor.getA(), /*square=*/true)))
    return failure();
  types.assign(2, tensorType(adaptor.getA()));
  return success();
}

LogicalResult JacobiEighOp::evaluate(ArrayRef<ReferenceArray> operands,
                                     SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray stack = operands[0];
  int64_t n = stack.shape[1];
  ReferenceArray vectors = identities(stack.shape[0], n);
  for (int64_t number = 0; number < stack.shape[0]; ++number) {
    MatrixView a(stack, number), v(vectors, number);
    double squares = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        a(i, j) = i < j ? a(j, i) : a(i, j);
        squares += a(i, j) * a(i, j);
      }
    double least = std::sqrt(squares) * 1e-17;
    bool turned = true;
    for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
      turned = false;
      for (int64_t p = 0; p < n; ++p)
        for (int64_t q = p + 1; q < n; ++q) {
          if (!(std::abs(a(p, q)) > least))
            continue;
          turned = true;
          auto [cosine, sine] = turnAway(a(q, q) - a(p, p), a(p, q));
          turnRows(a, p, q, cosine, sine);
          for (int64_t i = 0; i < n; ++i) {
            double x = a(i, p), y = a(i, q);
            a(i, p) = cosine * x - sine * y;
            a(i, q) = sine * x + cosine * y;
          }
          turnRows(v, p, q, cosine, sine);
        }
    }
  }
  results.assign({std::move(stack), std::move(vectors)});
  return success();
}

LogicalResult JacobiSvdOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkMatrices<JacobiSvdOp>(loc, "x", adaptor.getX())))
    return failure();
  RankedTensorType x = tensorType(adaptor.getX());
  types.assign({x, x.clone({x.getDimSize(0), x.getDimSize(1), x.getDimSize(1)})});
  return success();
}

LogicalResult JacobiSvdOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray stack = operands[0];
  int64_t n = stack.shape[1];
  ReferenceArray vectors = identities(stack.shape[0], n);
  for (int64_t number = 0; number < stack.shape[0]; ++number) {
    MatrixView x(stack, number), v(vectors, number);
    auto product = [&](int64_t p, int64_t q) {
      double sum = 0;
      for (int64_t i = 0; i < x.columns; ++i)
        sum += x(p, i) * x(q, i);
      return sum;
    };
    bool turned = true;
    for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
      turned = false;
      for (int64_t p = 0; p < n; ++p)
        for (int64_t q = p + 1; q < n; ++q) {
          double pp = product(p, p), qq = product(q, q), pq = product(p, q);
          if (!(std::abs(pq) > 1e-15 * std::sqrt(pp * qq)))
            continue;
          turned = true;
          auto [cosine, sine] = turnAway(qq - pp, pq);
          turnRows(x, p, q, cosine, sine);
          turnRows(v, p, q, cosine, sine);
        }
    }
  }
  results.assign({std::move(stack), std::move(vectors)});
  return success();
}
