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
  auto [rowLanes, columnLanes] = loops.inRows(shape[2]);
  loops.forOwn(rowLanes, zero, m, [&](Value i) {
    loops.forOwn(columnLanes, zero, n,
                 [&](Value j) { loops.store(kLu, {i, j}, loops.read(op.getA(), {i, j})); });
  });
  loops.wait();
  Value steps = loops.number(std::min(shape[1], shape[2]));
  Value info = loops.fold(zero, steps, zero, [&](Value k, Value info) {
    Value below = loops.next(k);
    auto size = [&](Value i) { return loops.absolute(loops.load(kLu, {i, k})); };
    Value pivot = loops.sharedBest(
        below, m, k, [&](Value i, Value best) { return loops.isGreater(size(i), size(best)); });
    loops.once([&] { loops.store(kPivots, {k}, loops.toCount(loops.next(pivot))); });
    loops.forShared(zero, n, [&](Value j) {
      Value here = loops.load(kLu, {k, j}), there = loops.load(kLu, {pivot, j});
      loops.store(kLu, {k, j}, there);
      loops.store(kLu, {pivot, j}, here);
    });
    Value diagonal = loops.load(kLu, {k, k}), isZero = loops.isZero(diagonal);
    // A pivot of 0 has a column of zeros, of which nothing is left to subtract.
    Value divisor = loops.select(isZero, loops.real(1), diagonal);
    auto divide = [&](Value i) {
      Value factor = loops.over(loops.load(kLu, {i, k}), divisor);
      loops.store(kLu, {i, k}, factor);
      return factor;
    };
    if (loops.areShared())
      loops.forShared(below, m, divide);
    loops.forOwn(rowLanes, below, m, [&](Value i) {
      Value factor = loops.areShared() ? loops.load(kLu, {i, k}) : divide(i);
      loops.forOwn(columnLanes, below, n, [&](Value j) {
        Value product = loops.times(factor, loops.load(kLu, {k, j}));
        loops.store(kLu, {i, j}, loops.minus(loops.load(kLu, {i, j}), product));
      });
    });
    loops.wait();
    Value isFirst = loops.isSame(info, zero);
    return loops.select(isZero, loops.select(isFirst, below, info), info);
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

// Row by row of x. One lane subtracts from a row what all before it have in it; many subtract what
// a row has in all behind it. Each element loses the same, in the same order.
void codegen::emitTriangularSolve(MatrixLoops &loops, prim::TriangularSolveOp op, Columns columns) {
  int64_t rows = op.getB().getType().getDimSize(1);
  Value zero = loops.number(0), n = loops.number(rows);
  bool backward = op.getUpper() != op.getTranspose();
  auto [rowLanes, columnLanes] = loops.inRows(columns.most);
  auto factor = [&](Value i, Value j) {
    return op.getTranspose() ? loops.read(op.getA(), {j, i}) : loops.read(op.getA(), {i, j});
  };
  auto inRow = [&](MatrixLoops::Body body) {
    loops.forOwn(columnLanes, columns.low, columns.high, body);
  };
  auto copy = [&](Value i) {
    inRow([&](Value c) { loops.store(0, {i, c}, loops.read(op.getB(), {i, c})); });
  };
  auto subtract = [&](Value i, Value j) {
    Value a = factor(i, j);
    inRow([&](Value c) {
      Value product = loops.times(a, loops.load(0, {j, c}));
      loops.store(0, {i, c}, loops.minus(loops.load(0, {i, c}), product));
    });
  };
  if (loops.areShared()) {
    loops.forOwn(rowLanes, zero, n, copy);
    loops.wait();
  }
  loops.forEach(zero, n, [&](Value step) {
    Value i = backward ? loops.subtract(loops.number(rows - 1), step) : step;
    Value next = loops.next(i);
    if (!loops.areShared()) {
      copy(i);
      loops.forEach(backward ? next : zero, backward ? n : i, [&](Value j) { subtract(i, j); });
    }
    if (!op.getUnit()) {
      Value diagonal = factor(i, i);
      loops.forShared(columns.low, columns.high, [&](Value c) {
        loops.store(0, {i, c}, loops.over(loops.load(0, {i, c}), diagonal));
      });
    }
    if (loops.areShared()) {
      loops.forOwn(rowLanes, backward ? zero : next, backward ? i : n,
                   [&](Value j) { subtract(j, i); });
      loops.wait();
    }
  });
}
