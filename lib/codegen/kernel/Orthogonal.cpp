// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orthogonal factors of matrices: reflections, and rotations until nothing is left to rotate.
#include "codegen/kernel/MatrixLoops.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

// Row k of the output becomes a reflection that all rows after it are multiplied by.
void codegen::emitHouseholder(MatrixLoops &loops, prim::HouseholderOp op) {
  enum Output : unsigned { kPacked, kTaus };
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  Value zero = loops.number(0), n = loops.number(shape[1]), m = loops.number(shape[2]);
  loops.forShared(zero, n, [&](Value i) {
    loops.forEach(zero, m,
                  [&](Value j) { loops.store(kPacked, {i, j}, loops.read(op.getX(), {i, j})); });
  });
  loops.forEach(zero, loops.number(std::min(shape[1], shape[2])), [&](Value k) {
    Value behind = loops.next(k);
    auto ofRow = [&](Value i) { return loops.load(kPacked, {k, i}); };
    Value alpha = ofRow(k);
    Value squares =
        loops.sharedSum(behind, m, [&](Value i) { return loops.times(ofRow(i), ofRow(i)); });
    Value isFlat = loops.isZero(squares);
    Value length = loops.squareRoot(loops.plus(loops.times(alpha, alpha), squares));
    Value beta = loops.withSign(length, loops.minus(loops.real(-0.0), alpha));
    beta = loops.select(isFlat, alpha, beta);
    Value tau = loops.select(isFlat, loops.real(0), loops.over(loops.minus(beta, alpha), beta));
    Value divisor = loops.select(isFlat, loops.real(1), loops.minus(alpha, beta));
    loops.wait();
    loops.forShared(k, m, [&](Value i) {
      Value scaled = loops.over(ofRow(i), divisor);
      loops.store(kPacked, {k, i}, loops.select(loops.isSame(i, k), beta, scaled));
    });
    loops.once([&] { loops.store(kTaus, {k}, tau); });
    loops.forShared(behind, n, [&](Value j) {
      Value product = loops.sum(
          behind, m, [&](Value i) { return loops.times(ofRow(i), loops.load(kPacked, {j, i})); });
      Value first = loops.load(kPacked, {j, k});
      Value factor = loops.times(tau, loops.plus(first, product));
      loops.store(kPacked, {j, k}, loops.minus(first, factor));
      loops.forEach(behind, m, [&](Value i) {
        Value part = loops.times(factor, ofRow(i));
        loops.store(kPacked, {j, i}, loops.minus(loops.load(kPacked, {j, i}), part));
      });
    });
  });
}

namespace {

constexpr int64_t kMostSweeps = 40;

/// A rotation in the plane of two rows.
struct Rotation {
  Value cosine, sine;

  /// That by the lesser angle which turns away `off`, the product of two directions whose squares
  /// differ by `difference`.
  Rotation(MatrixLoops &loops, Value difference, Value off) {
    Value one = loops.real(1), zeta = loops.over(difference, loops.times(loops.real(2), off));
    Value root = loops.squareRoot(loops.plus(one, loops.times(zeta, zeta)));
    Value tangent = loops.over(loops.withSign(one, zeta), loops.plus(loops.absolute(zeta), root));
    cosine = loops.over(one, loops.squareRoot(loops.plus(one, loops.times(tangent, tangent))));
    sine = loops.times(cosine, tangent);
  }

  /// Turns the elements of an output at two places.
  void turn(MatrixLoops &loops, unsigned output, ValueRange p, ValueRange q) const {
    Value x = loops.load(output, p), y = loops.load(output, q);
    loops.store(output, p, loops.minus(loops.times(cosine, x), loops.times(sine, y)));
    loops.store(output, q, loops.plus(loops.times(sine, x), loops.times(cosine, y)));
  }
};

void storeIdentity(MatrixLoops &loops, unsigned output, Value n) {
  Value zero = loops.number(0);
  loops.forShared(zero, n, [&](Value i) {
    loops.forEach(zero, n, [&](Value j) {
      Value element = loops.select(loops.isSame(i, j), loops.real(1), loops.real(0));
      loops.store(output, {i, j}, element);
    });
  });
}

/// Sweeps over all pairs of rows p < q until `visit` has turned none: it says whether it has.
void sweepPairs(MatrixLoops &loops, Value n, function_ref<Value(Value p, Value q)> visit) {
  loops.repeat(kMostSweeps, [&] {
    return loops.fold(loops.number(0), n, loops.boolean(false), [&](Value p, Value any) {
      return loops.fold(loops.next(p), n, any,
                        [&](Value q, Value before) { return loops.either(before, visit(p, q)); });
    });
  });
}

} // namespace

void codegen::emitJacobiEigh(MatrixLoops &loops, prim::JacobiEighOp op) {
  enum Output : unsigned { kRotated, kVectors };
  Value zero = loops.number(0), n = loops.number(op.getA().getType().getDimSize(1));
  loops.forShared(zero, n, [&](Value i) {
    loops.forEach(zero, n, [&](Value j) {
      Value isUpper = loops.isBefore(i, j);
      Value row = loops.select(isUpper, j, i), column = loops.select(isUpper, i, j);
      loops.store(kRotated, {i, j}, loops.read(op.getA(), {row, column}));
    });
  });
  storeIdentity(loops, kVectors, n);
  // What is left beside the diagonal is then lost in the rounding of the greatest eigenvalue.
  Value squares = loops.sharedSum(zero, n, [&](Value i) {
    return loops.sum(zero, n, [&](Value j) {
      Value element = loops.load(kRotated, {i, j});
      return loops.times(element, element);
    });
  });
  auto extent = static_cast<double>(op.getA().getType().getDimSize(1));
  Value least = loops.times(loops.squareRoot(squares), loops.real(0.5 * loops.epsilon() / extent));
  sweepPairs(loops, n, [&](Value p, Value q) {
    Value off = loops.load(kRotated, {p, q});
    Value isLarge = loops.isGreater(loops.absolute(off), least);
    Value difference = loops.minus(loops.load(kRotated, {q, q}), loops.load(kRotated, {p, p}));
    loops.where(isLarge, [&] {
      Rotation rotation(loops, difference, off);
      loops.wait();
      loops.forShared(zero, n, [&](Value i) {
        rotation.turn(loops, kRotated, {p, i}, {q, i});
        rotation.turn(loops, kVectors, {p, i}, {q, i});
      });
      loops.forShared(zero, n, [&](Value i) { rotation.turn(loops, kRotated, {i, p}, {i, q}); });
    });
    return isLarge;
  });
}

void codegen::emitJacobiSvd(MatrixLoops &loops, prim::JacobiSvdOp op) {
  enum Output : unsigned { kRotated, kVectors };
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  Value zero = loops.number(0), n = loops.number(shape[1]), m = loops.number(shape[2]);
  loops.forShared(zero, n, [&](Value i) {
    loops.forEach(zero, m,
                  [&](Value j) { loops.store(kRotated, {i, j}, loops.read(op.getX(), {i, j})); });
  });
  storeIdentity(loops, kVectors, n);
  // A product of rows is rounded by about so much of their lengths.
  Value rounding = loops.real(2 * loops.epsilon() * std::sqrt(static_cast<double>(shape[2])));
  sweepPairs(loops, n, [&](Value p, Value q) {
    auto product = [&](Value i, Value j) {
      return loops.sharedSum(zero, m, [&](Value k) {
        return loops.times(loops.load(kRotated, {i, k}), loops.load(kRotated, {j, k}));
      });
    };
    Value pp = product(p, p), qq = product(q, q), pq = product(p, q);
    Value lengths = loops.times(loops.squareRoot(pp), loops.squareRoot(qq));
    Value isLarge = loops.isGreater(loops.absolute(pq), loops.times(rounding, lengths));
    loops.where(isLarge, [&] {
      Rotation rotation(loops, loops.minus(qq, pp), pq);
      loops.wait();
      loops.forOwn(zero, m, [&](Value i) { rotation.turn(loops, kRotated, {p, i}, {q, i}); });
      loops.forShared(zero, n, [&](Value i) { rotation.turn(loops, kVectors, {p, i}, {q, i}); });
    });
    return isLarge;
  });
}
