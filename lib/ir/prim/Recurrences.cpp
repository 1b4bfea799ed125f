// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Infer.h"
#include "ir/prim/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Recurrences.cpp.inc"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Op>
LogicalResult inferRecurrence(std::optional<Location> loc, Value xs, Value as,
                              SmallVectorImpl<Type> &types) {
  RankedTensorType x = tensorType(xs), a = tensorType(as);
  auto isMatch = [&] {
    return x.getRank() == 3 && a.getRank() == 4 && a.getDimSize(0) == x.getDimSize(0) &&
           a.getShape().drop_front(2) == x.getShape().drop_front(1) &&
           a.getElementType() == x.getElementType();
  };
  if (!isMatch())
    return inferError<Op>(loc, "'x' must be [matrices, rows, columns] and 'a' [matrices, terms, ",
                          "rows, columns], but they are ", x, " and ", a);
  types.push_back(x);
  return success();
}

/// Calls body(matrix, row, column, terms), row by row; a term is the number k and the places of
/// a[k, t, s] and y[t - 1, s - k].
template <typename Body>
void forEachElement(const ReferenceArray &x, const ReferenceArray &a, Body body) {
  struct Term {
    double a;
    int64_t before;
  };
  int64_t rows = x.shape[1], columns = x.shape[2];
  ReferenceArray::forEachIndex(x.shape, [&](ArrayRef<int64_t> at) {
    SmallVector<Term> terms;
    for (int64_t k = 0; at[1] > 0 && k < std::min(a.shape[1], at[2] + 1); ++k)
      terms.push_back(
          {a.at({at[0], k, at[1], at[2]}), (at[0] * rows + at[1] - 1) * columns + at[2] - k});
    body(x.offset(at), terms);
  });
}

/// Of y[t - 1, s - k] the element for each [matrix, t, s], and `none` where there is none.
Tensor before(Tensor y, int64_t k, double none) {
  if (k >= y.dim(2))
    return y.full(none);
  return y.pad(none, {0, 1, k}, {0, -1, -k});
}

/// a[k], without the dimension of the terms.
Tensor term(Tensor a, int64_t k) {
  return a.sliceDim(1, k, k + 1).reshape({a.dim(0), a.dim(2), a.dim(3)});
}

Tensor stacked(ArrayRef<Tensor> terms) {
  SmallVector<Tensor> parts;
  for (Tensor each : terms)
    parts.push_back(each.reshape({each.dim(0), 1, each.dim(1), each.dim(2)}));
  return concatenate(parts, 1);
}

/// What reaches each element of y from dy and from the elements that it is a term of:
/// g[t, s] = dy[t, s] + sum of factors[k][t + 1, s + k] g[t + 1, s + k], from the last row on.
Tensor allReaching(Tensor dy, ArrayRef<Tensor> factors) {
  SmallVector<Tensor> backward;
  for (auto [k, factor] : llvm::enumerate(factors)) {
    auto by = static_cast<int64_t>(k);
    Tensor behind = by >= dy.dim(2) ? factor.full(0.0) : factor.pad(0.0, {0, -1, -by}, {0, 1, by});
    backward.push_back(behind.reverse({1, 2}));
  }
  Tensor g = dy.wrap(dy.getBuilder().create<LinearRecurrenceOp>(dy.getLoc(), dy.reverse({1, 2}),
                                                                stacked(backward)));
  return g.reverse({1, 2});
}

bool hasTerms(Tensor y, Tensor a) { return y.size() > 0 && a.dim(1) > 0; }

} // namespace

// ---- linear_recurrence ----

LogicalResult LinearRecurrenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferRecurrence<LinearRecurrenceOp>(loc, adaptor.getX(), adaptor.getA(), types);
}

LogicalResult LinearRecurrenceOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getY()));
  Tensor y = dy.wrap(getY()), a = dy.wrap(getA()), g = dy;
  SmallVector<Tensor> factors, das;
  if (hasTerms(y, a)) {
    for (int64_t k = 0; k < a.dim(1); ++k)
      factors.push_back(term(a, k));
    g = allReaching(dy, factors);
  }
  gradients.add(getX(), g);
  if (!gradients.wants(getA()) || !hasTerms(y, a))
    return success();
  for (int64_t k = 0; k < a.dim(1); ++k)
    das.push_back(g * before(y, k, 0.0));
  gradients.add(getA(), stacked(das));
  return success();
}

LogicalResult LinearRecurrenceOp::evaluate(ArrayRef<ReferenceArray> operands,
                                           SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray y = operands[0];
  forEachElement(operands[0], operands[1], [&](int64_t at, auto &terms) {
    for (auto [a, before] : terms)
      y.values[at] += a * y.values[before];
  });
  results.push_back(std::move(y));
  return success();
}

// ---- log_recurrence ----

LogicalResult LogRecurrenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferRecurrence<LogRecurrenceOp>(loc, adaptor.getX(), adaptor.getA(), types);
}

// Each term's derivative is its share of e^y.
LogicalResult LogRecurrenceOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getY()));
  Tensor y = dy.wrap(getY()), a = dy.wrap(getA()), g = dy;
  Tensor whole = select(equal(y, -kInfinity), 0.0, y);
  SmallVector<Tensor> shares, das;
  if (hasTerms(y, a)) {
    for (int64_t k = 0; k < a.dim(1); ++k)
      shares.push_back(exp(term(a, k) + before(y, k, -kInfinity) - whole));
    g = allReaching(dy, shares);
  }
  if (gradients.wants(getX()))
    gradients.add(getX(), g * exp(dy.wrap(getX()) - whole));
  if (!gradients.wants(getA()) || !hasTerms(y, a))
    return success();
  for (Tensor share : shares)
    das.push_back(g * share);
  gradients.add(getA(), stacked(das));
  return success();
}

LogicalResult LogRecurrenceOp::evaluate(ArrayRef<ReferenceArray> operands,
                                        SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray y = operands[0];
  forEachElement(operands[0], operands[1], [&](int64_t at, auto &terms) {
    double greatest = y.values[at];
    for (auto [a, before] : terms)
      greatest = std::max(greatest, a + y.values[before]);
    // Without a finite greatest term the sum is that of 0, infinity or NaN as it is.
    double scale = std::isfinite(greatest) ? greatest : 0;
    double sum = std::exp(y.values[at] - scale);
    for (auto [a, before] : terms)
      sum += std::exp(a + y.values[before] - scale);
    y.values[at] = scale + std::log(sum);
  });
  results.push_back(std::move(y));
  return success();
}
