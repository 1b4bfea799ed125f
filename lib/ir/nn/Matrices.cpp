// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"
#include "ir/prim/MatrixRules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/nn/Matrices.cpp.inc"

namespace {

template <typename Op>
LogicalResult checkMatrices(std::optional<Location> loc, RankedTensorType a) {
  if (a.getRank() == 3)
    return success();
  return inferError<Op>(loc, "a of type ", a, " is not [matrices, m, n]");
}

/// Columns of a scaled by the elements [matrices, columns] of a vector, and rows.
Tensor scaleColumns(Tensor a, Tensor factors) { return a * factors.broadcast(a.shape(), {0, 2}); }
Tensor scaleRows(Tensor a, Tensor factors) { return a * factors.broadcast(a.shape(), {0, 1}); }

/// Element (i, j) is v_j - v_i, and 1 on the diagonal.
Tensor differences(Tensor v) {
  SmallVector<int64_t> shape = {v.dim(0), v.dim(1), v.dim(1)};
  return v.broadcast(shape, {0, 2}) - v.broadcast(shape, {0, 1}) +
         identityMatrices(v, v.dim(0), v.dim(1));
}

Tensor antisymmetric(Tensor a) { return a - transposed(a); }

/// Row numbers that sort each of the vectors v.
std::pair<Tensor, Tensor> sorted(Tensor v, bool descending) {
  auto sort = v.getBuilder().create<SortOp>(v.getLoc(), v, 1, descending);
  return {v.wrap(sort.getValues()), v.wrap(sort.getIndices())};
}

Tensor firstColumns(Tensor a, int64_t count) { return a.sliceDim(2, 0, count); }
Tensor firstRows(Tensor a, int64_t count) { return a.sliceDim(1, 0, count); }

} // namespace

// ---- qr ----

LogicalResult QrOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  RankedTensorType a = nn::typeOf(adaptor.getA());
  if (failed(checkMatrices<QrOp>(loc, a))) // qr_c1
    return failure();
  int64_t matrices = a.getDimSize(0), m = a.getDimSize(1), n = a.getDimSize(2);
  int64_t columns = adaptor.getComplete() ? m : std::min(m, n);
  types.assign({a.clone({matrices, m, columns}), a.clone({matrices, columns, n})});
  return success();
}

LogicalResult QrOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor a(builder, getLoc(), getA());
  auto factors = builder.create<HouseholderOp>(getLoc(), transposed(a).get());
  Tensor packed = transposed(a.wrap(factors.getPacked()));
  int64_t columns = nn::shapeOf(getQ())[2];
  results.assign({householderProduct(packed, a.wrap(factors.getTaus()), columns),
                  upperTriangle(firstRows(packed, columns))});
  return success();
}

// da = (dq + q m) r^-T for a square r, where m is triu(dr r^T - q^T dq), made symmetric by its
// upper triangle. Columns that follow are a2 = q r2: they add q r2 dr2^T to dq.
LogicalResult QrOp::differentiate(Gradients &gradients) {
  Tensor dq(gradients.builder(), getLoc(), gradients.of(getQ())),
      dr = dq.wrap(gradients.of(getR()));
  Tensor q = dq.wrap(getQ()), r = dq.wrap(getR());
  int64_t m = q.dim(1), n = r.dim(2), k = r.dim(1);
  if (k > n)
    return emitOpError("has no gradient in its complete form where the matrix has more rows than "
                       "columns, as in PyTorch; take the reduced one");
  if (n > m)
    dq =
        dq + matrixProduct(matrixProduct(q, r.sliceDim(2, m, n)), transposed(dr.sliceDim(2, m, n)));
  Tensor square = firstColumns(r, k);
  Tensor inner = upperTriangle(matrixProduct(firstColumns(dr, k), transposed(square)) -
                               matrixProduct(transposed(q), dq));
  inner = inner + transposed(upperTriangle(inner, 1));
  Tensor da = solveTriangularRight(square, dq + matrixProduct(q, inner), Triangle::upper,
                                   /*transpose=*/true);
  if (n > m)
    da = concatenate({da, matrixProduct(q, dr.sliceDim(2, m, n))}, 2);
  gradients.add(getA(), da);
  return success();
}

// ---- lu_solve ----

LogicalResult LuSolveOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType a = nn::typeOf(adaptor.getA()), b = nn::typeOf(adaptor.getB()),
                   pivots = nn::typeOf(adaptor.getPivots());
  if (failed(checkMatrices<LuSolveOp>(loc, a)))
    return failure();
  ArrayRef<int64_t> rows = a.getShape().take_front(2);
  bool fits = a.getDimSize(1) == a.getDimSize(2) && nn::typeOf(adaptor.getLu()) == a &&
              pivots.getShape() == rows && b.getRank() == 3 && b.getShape().take_front(2) == rows &&
              b.getElementType() == a.getElementType();
  if (!fits) // lu_solve_c1
    return inferError<LuSolveOp>(loc, "a of type ", a, " and lu of type ",
                                 nn::typeOf(adaptor.getLu()), ", pivots of type ", pivots,
                                 " and b of type ", b, " do not fit");
  types.push_back(b);
  return success();
}

LogicalResult LuSolveOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor lu(builder, getLoc(), getLu());
  results.push_back(solveWithLu(lu, lu.wrap(getPivots()), lu.wrap(getB()), getTranspose()));
  return success();
}

// db is the solution for dx of the transposed system; da is -db x^T, or its transposed.
LogicalResult LuSolveOp::differentiate(Gradients &gradients) {
  Tensor dx(gradients.builder(), getLoc(), gradients.of(getX())), x = dx.wrap(getX());
  Tensor db = dx.wrap(dx.getBuilder().create<LuSolveOp>(getLoc(), getA(), getLu(), getPivots(), dx,
                                                        !getTranspose()));
  if (gradients.wants(getB()))
    gradients.add(getB(), db);
  if (gradients.wants(getA()))
    gradients.add(getA(), getTranspose() ? -matrixProduct(x, transposed(db))
                                         : -matrixProduct(db, transposed(x)));
  return success();
}

// ---- eigh ----

LogicalResult EighOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType a = nn::typeOf(adaptor.getA());
  if (failed(checkMatrices<EighOp>(loc, a)))
    return failure();
  if (a.getDimSize(1) != a.getDimSize(2)) // eigh_c1
    return inferError<EighOp>(loc, "a of type ", a, " is not [matrices, n, n]");
  types.assign({a.clone(a.getShape().take_front(2)), a});
  return success();
}

LogicalResult EighOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor a(builder, getLoc(), getA());
  auto rotated = builder.create<JacobiEighOp>(getLoc(), a.get());
  auto [values, order] = sorted(diagonalOf(a.wrap(rotated.getRotated())), /*descending=*/false);
  results.assign({values, transposed(takeRows(a.wrap(rotated.getVectors()), order))});
  return success();
}

// da = v m v^T, m being the antisymmetric part of v^T dv over the differences of the values, and on
// the diagonal their cotangents.
LogicalResult EighOp::differentiate(Gradients &gradients) {
  Tensor values(gradients.builder(), getLoc(), getValues()), v = values.wrap(getVectors());
  Tensor inner = v.full(0.0);
  if (gradients.has(getVectors())) {
    Tensor dv = v.wrap(gradients.of(getVectors()));
    inner = 0.5 * antisymmetric(matrixProduct(transposed(v), dv)) / differences(values);
  }
  if (gradients.has(getValues()))
    inner = inner + diagonalMatrices(values.wrap(gradients.of(getValues())));
  gradients.add(getA(), matrixProduct(v, matrixProduct(inner, transposed(v))));
  return success();
}

// ---- svd ----

LogicalResult SvdOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType a = nn::typeOf(adaptor.getA());
  if (failed(checkMatrices<SvdOp>(loc, a))) // svd_c1
    return failure();
  int64_t matrices = a.getDimSize(0), m = a.getDimSize(1), n = a.getDimSize(2), k = std::min(m, n);
  bool full = adaptor.getFull();
  types.assign({a.clone({matrices, m, full ? m : k}), a.clone({matrices, k}),
                a.clone({matrices, full ? n : k, n})});
  return success();
}

// The columns of a v, in the order of their lengths, are u s. An orthogonal u, also where s is 0,
// are their QR factors: r is diagonal but for rounding.
LogicalResult SvdOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor a(builder, getLoc(), getA());
  bool isWide = a.dim(2) > a.dim(1);
  a = isWide ? transposed(a) : a;
  int64_t n = a.dim(2);
  auto rotated = builder.create<JacobiSvdOp>(getLoc(), transposed(a).get());
  Tensor rows = a.wrap(rotated.getRotated());
  auto [s, order] = sorted(sqrt(sum(rows * rows, {2})), /*descending=*/true);
  Tensor vh = takeRows(a.wrap(rotated.getVectors()), order);
  auto qr = builder.create<QrOp>(getLoc(), transposed(takeRows(rows, order)), getFull());
  Tensor q = a.wrap(qr.getQ()), diagonal = diagonalOf(a.wrap(qr.getR()));
  Tensor signs = select(diagonal < 0.0, -1.0, diagonal.full(1.0));
  Tensor u = scaleColumns(firstColumns(q, n), signs);
  if (q.dim(2) > n)
    u = concatenate({u, q.sliceDim(2, n, q.dim(2))}, 2);
  if (isWide)
    results.assign({transposed(vh), s, transposed(u)});
  else
    results.assign({u, s, vh});
  return success();
}

// da = u m vh, m = (skew(u^T du) s + s skew(vh dvh^T)) / (s_j^2 - s_i^2) + ds on the diagonal; and
// what du and dvh have outside of the spaces of u and v, over s.
LogicalResult SvdOp::differentiate(Gradients &gradients) {
  Tensor s(gradients.builder(), getLoc(), getS());
  int64_t k = s.dim(1), m = nn::shapeOf(getA())[1], n = nn::shapeOf(getA())[2];
  Tensor u = firstColumns(s.wrap(getU()), k), vh = firstRows(s.wrap(getVh()), k);
  Tensor inner = identityMatrices(s, s.dim(0), k) * 0.0;
  std::optional<Tensor> outer;
  if (gradients.has(getU())) {
    Tensor du = firstColumns(s.wrap(gradients.of(getU())), k);
    Tensor inside = matrixProduct(transposed(u), du);
    inner = inner + scaleColumns(antisymmetric(inside), s) / differences(s * s);
    if (m > k)
      outer = matrixProduct(scaleColumns(du - matrixProduct(u, inside), 1.0 / s), vh);
  }
  if (gradients.has(getVh())) {
    Tensor dvh = firstRows(s.wrap(gradients.of(getVh())), k);
    Tensor inside = matrixProduct(vh, transposed(dvh));
    inner = inner + scaleRows(antisymmetric(inside), s) / differences(s * s);
    if (n > k) {
      Tensor outside = dvh - matrixProduct(transposed(inside), vh);
      outer = matrixProduct(u, scaleRows(outside, 1.0 / s));
    }
  }
  if (gradients.has(getS()))
    inner = inner + diagonalMatrices(s.wrap(gradients.of(getS())));
  Tensor da = matrixProduct(u, matrixProduct(inner, vh));
  gradients.add(getA(), outer ? da + *outer : da);
  return success();
}
