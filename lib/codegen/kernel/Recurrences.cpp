// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences along the rows of matrices: row by row, the lanes share the columns of each.
#include "codegen/kernel/MatrixLoops.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Term = llvm::function_ref<Value(Value a, Value before)>;
using Sum = llvm::function_ref<Value(ArrayRef<Value> terms)>;

/// The term of y[t - 1, s - k], which is in output 0; `none` where there is no such column.
Value termOf(MatrixLoops &loops, Value a, Value t, Value s, int64_t k, double none, Term term) {
  Value above = loops.subtract(t, loops.number(1));
  if (k == 0)
    return term(a, loops.load(0, {above, s}));
  Value isNone = loops.isBefore(s, loops.number(k));
  Value column = loops.select(isNone, loops.number(0), loops.subtract(s, loops.number(k)));
  return loops.select(isNone, loops.real(none), term(a, loops.load(0, {above, column})));
}

/// Writes output 0: the first row of x, and then the sums of x[t, s] and the terms of each k.
void emitRows(MatrixLoops &loops, Value x, Value a, double none, Term term, Sum sum) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(a.getType()).getShape();
  int64_t terms = std::min(shape[1], shape[3]);
  Value zero = loops.number(0), columns = loops.number(shape[3]);
  loops.forShared(zero, columns,
                  [&](Value s) { loops.store(0, {zero, s}, loops.read(x, {zero, s})); });
  loops.forEach(loops.number(1), loops.number(shape[2]), [&](Value t) {
    loops.forShared(zero, columns, [&](Value s) {
      SmallVector<Value> all = {loops.read(x, {t, s})};
      for (int64_t k = 0; k < terms; ++k)
        all.push_back(termOf(loops, loops.read(a, {loops.number(k), t, s}), t, s, k, none, term));
      loops.store(0, {t, s}, sum(all));
    });
  });
}

} // namespace

void codegen::emitLinearRecurrence(MatrixLoops &loops, prim::LinearRecurrenceOp op) {
  emitRows(
      loops, op.getX(), op.getA(), 0.0,
      [&](Value a, Value before) { return loops.times(a, before); },
      [&](ArrayRef<Value> terms) {
        Value sum = terms.front();
        for (Value term : terms.drop_front())
          sum = loops.plus(sum, term);
        return sum;
      });
}

// Terms are added as shares of the greatest. Where that is not finite, the sum is: 0, infinity or
// NaN.
void codegen::emitLogRecurrence(MatrixLoops &loops, prim::LogRecurrenceOp op) {
  emitRows(
      loops, op.getX(), op.getA(), -kInfinity,
      [&](Value a, Value before) { return loops.plus(a, before); },
      [&](ArrayRef<Value> terms) {
        Value greatest = terms.front(), sum = loops.real(0);
        for (Value term : terms.drop_front())
          greatest = loops.select(loops.isGreater(term, greatest), term, greatest);
        Value isFinite = loops.isLess(loops.absolute(greatest), loops.real(kInfinity));
        Value scale = loops.select(isFinite, greatest, loops.real(0));
        for (Value term : terms)
          sum = loops.plus(sum, loops.exponential(loops.minus(term, scale)));
        return loops.plus(scale, loops.logarithm(sum));
      });
}
