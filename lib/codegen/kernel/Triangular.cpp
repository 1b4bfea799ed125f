// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Triangular factors of matrices, and what is solved with them.
#include "codegen/kernel/MatrixLoops.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

// A column at a time: the rest of a[i, j] without the columns before is divided by the root of what
// rests on the diagonal.
void codegen::emitCholesky(MatrixLoops &loops, prim::CholeskyOp op) {
  enum Output : unsigned { kL, kInfo };
  Value zero = loops.number(0), n = loops.number(op.getA().getType().getDimSize(1));
  loops.forShared(zero, n, [&](Value i) {
    loops.forEach(zero, n, [&](Value j) {
      Value isUpper = loops.isBefore(i, j);
      loops.store(kL, {i, j}, loops.select(isUpper, loops.real(0), loops.read(op.getA(), {i, j})));
    });
  });
  Value info = loops.fold(zero, n, zero, [&](Value j, Value info) {
    loops.forShared(j, n, [&](Value i) {
      Value product = loops.sum(zero, j, [&](Value k) {
        return loops.times(loops.load(kL, {i, k}), loops.load(kL, {j, k}));
      });
      loops.store(kL, {i, j}, loops.minus(loops.load(kL, {i, j}), product));
    });
    Value rest = loops.load(kL, {j, j});
    Value isGood = loops.isGreater(rest, loops.real(0));
    Value root = loops.select(isGood, loops.squareRoot(rest),
                              loops.real(std::numeric_limits<double>::quiet_NaN()));
    loops.wait();
    loops.forShared(j, n, [&](Value i) {
      Value below = loops.over(loops.load(kL, {i, j}), root);
      loops.store(kL, {i, j}, loops.select(loops.isSame(i, j), root, below));
    });
    Value isFirst = loops.isSame(info, zero);
    return loops.select(isGood, info, loops.select(isFirst, loops.next(j), info));
  });
  loops.once([&] { loops.store(kInfo, {}, loops.toCount(info)); });
  if (op.getCheckErrors())
    loops.emitter.reportWhere(loops.isBefore(zero, info),
                              "a matrix of a Cholesky factorization is not positive definite");
}

void codegen::emitLu(MatrixLoops &loops, prim::LuOp op) {
  enum Output : unsigned { kLu, kPivots, kInfo };
  ArrayRef<int64_t> shape = op.getA().getType().getShape();
  Value zero = loops.number(0), m = loops.number(shape[1]), n = loops.number(shape[2]);
  loops.forShared(zero, m, [&](Value i) {
    loops.forEach(zero, n,
                  [&](Value j) { loops.store(kLu, {i, j}, loops.read(op.getA(), {i, j})); });
  });
  Value steps = loops.number(std::min(shape[1], shape[2]));
  Value info = loops.fold(zero, steps, zero, [&](Value k, Value info) {
    auto size = [&](Value i) { return loops.absolute(loops.load(kLu, {i, k})); };
    Value pivot = loops.fold(loops.next(k), m, k, [&](Value i, Value best) {
      return loops.select(loops.isGreater(size(i), size(best)), i, best);
    });
    loops.wait();
    loops.forShared(zero, n, [&](Value j) {
      Value above = loops.load(kLu, {k, j}), below = loops.load(kLu, {pivot, j});
      loops.store(kLu, {k, j}, below);
      loops.store(kLu, {pivot, j}, above);
    });
    loops.once([&] { loops.store(kPivots, {k}, loops.toCount(loops.next(pivot))); });
    Value diagonal = loops.load(kLu, {k, k}), isZero = loops.isZero(diagonal);
    // A pivot of 0 has a column of zeros, of which nothing is left to subtract.
    Value divisor = loops.select(isZero, loops.real(1), diagonal);
    loops.forShared(loops.next(k), m, [&](Value i) {
      Value factor = loops.over(loops.load(kLu, {i, k}), divisor);
      loops.store(kLu, {i, k}, factor);
      loops.forEach(loops.next(k), n, [&](Value j) {
        Value product = loops.times(factor, loops.load(kLu, {k, j}));
        loops.store(kLu, {i, j}, loops.minus(loops.load(kLu, {i, j}), product));
      });
    });
    Value isFirst = loops.isSame(info, zero);
    return loops.select(isZero, loops.select(isFirst, loops.next(k), info), info);
  });
  loops.once([&] { loops.store(kInfo, {}, loops.toCount(info)); });
  if (op.getCheckErrors())
    loops.emitter.reportWhere(loops.isBefore(zero, info),
                              "a matrix to be solved with or inverted is singular");
}

void codegen::emitPivotedRows(MatrixLoops &loops, prim::PivotedRowsOp op) {
  ArrayRef<int64_t> pivots = op.getPivots().getType().getShape();
  Value zero = loops.number(0), rows = loops.number(static_cast<int64_t>(op.getRows()));
  loops.forShared(zero, rows, [&](Value i) { loops.store(0, {i}, i); });
  loops.once([&] {
    loops.forEach(zero, loops.number(pivots[1]), [&](Value i) {
      Value pivot = loops.fromCount(loops.read(op.getPivots(), {i}));
      pivot = loops.checked(loops.subtract(pivot, loops.number(1)),
                            static_cast<int64_t>(op.getRows()), "a pivot is not a row's number");
      Value here = loops.load(0, {i}), there = loops.load(0, {pivot});
      loops.store(0, {i}, there);
      loops.store(0, {pivot}, here);
    });
  });
}

// Row by row of x, each lane its own columns.
void codegen::emitTriangularSolve(MatrixLoops &loops, prim::TriangularSolveOp op) {
  ArrayRef<int64_t> shape = op.getB().getType().getShape();
  Value zero = loops.number(0), n = loops.number(shape[1]), columns = loops.number(shape[2]);
  bool backward = op.getUpper() != op.getTranspose();
  auto factor = [&](Value i, Value j) {
    return op.getTranspose() ? loops.read(op.getA(), {j, i}) : loops.read(op.getA(), {i, j});
  };
  loops.forEach(zero, n, [&](Value step) {
    Value i = backward ? loops.subtract(loops.number(shape[1] - 1), step) : step;
    loops.forOwn(zero, columns,
                 [&](Value c) { loops.store(0, {i, c}, loops.read(op.getB(), {i, c})); });
    loops.forEach(backward ? loops.next(i) : zero, backward ? n : i, [&](Value j) {
      Value a = factor(i, j);
      loops.forOwn(zero, columns, [&](Value c) {
        Value product = loops.times(a, loops.load(0, {j, c}));
        loops.store(0, {i, c}, loops.minus(loops.load(0, {i, c}), product));
      });
    });
    if (op.getUnit())
      return;
    Value diagonal = factor(i, i);
    loops.forOwn(zero, columns, [&](Value c) {
      loops.store(0, {i, c}, loops.over(loops.load(0, {i, c}), diagonal));
    });
  });
}
