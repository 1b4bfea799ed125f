// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of matrices, what is solved with them, and recurrences along rows.
#include "Sketch.h"

#include "ir/interfaces/ReferenceValues.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Matrices whose diagonals dominate and increase, so that rounding decides no pivot, sign or
/// order.
Value dominant(Sketch &s, Value x) {
  if (!x)
    return nullptr;
  Sketch::TensorType type = Sketch::typeOf(x);
  int64_t matrices = type.getDimSize(0), rows = type.getDimSize(1), columns = type.getDimSize(2);
  ReferenceArray diagonal({matrices, rows, columns});
  for (int64_t k = 0; k < matrices; ++k)
    for (int64_t i = 0; i < std::min(rows, columns); ++i)
      diagonal.at({k, i, i}) = static_cast<double>(6 + 3 * i);
  Value added = s.one("prim.constant", {}, s.named("value", toElements(diagonal, type)), type);
  return s.same("prim.add", {x, added});
}

Value square(Sketch &s) {
  int64_t n = s.random.between(1, 4);
  return dominant(s, s.within(s.of({s.random.between(1, 2), n, n}), -1, 1));
}
/// For ops that read one triangle, whose derivative is that of a symmetric matrix.
Value symmetric(Sketch &s, Value x) {
  if (!x)
    return nullptr;
  Value turned = s.one("prim.transpose", {x}, s.list("permutation", {0, 2, 1}), x.getType());
  return s.same("prim.add", {x, turned});
}
Value anyMatrix(Sketch &s) {
  SmallVector<int64_t> shape;
  for (int64_t most : {2, 4, 4})
    shape.push_back(s.random.between(1, most));
  return dominant(s, s.within(s.of(shape), -1, 1));
}
/// One that no parameter changes, for the factors whose derivatives belong to nn's ops.
Value givenMatrix(Sketch &s) {
  int64_t n = s.random.between(1, 4);
  return dominant(s, s.input(s.tensor({s.random.between(1, 2), n, n}), {-1, 1}));
}

bool made(const SmallVector<Value> &results) { return !results.empty(); }

bool cholesky(Sketch &s) {
  return made(s.add("prim.cholesky", symmetric(s, square(s)),
                    s.flag("check_errors", s.random.chance(0.5))));
}

bool lu(Sketch &s) {
  Value a = anyMatrix(s);
  SmallVector<Value> factors = s.add("prim.lu", a, s.flag("check_errors", s.random.chance(0.5)));
  if (factors.empty() || s.random.chance(0.5))
    return made(factors);
  return made(s.add("prim.pivoted_rows", factors[1], s.integer("rows", Sketch::shapeOf(a)[1])));
}

bool luSolve(Sketch &s) {
  Value a = square(s);
  SmallVector<Value> factors = s.add("prim.lu", a, s.flag("check_errors", s.random.chance(0.5)));
  if (factors.empty())
    return false;
  ArrayRef<int64_t> shape = Sketch::shapeOf(a);
  Value b = s.of({shape[0], shape[1], s.random.between(1, 4)});
  return bool(s.one("nn.lu_solve", {a, factors[0], factors[1], b},
                    s.flag("transpose", s.random.chance(0.5)), b ? b.getType() : Type()));
}

bool triangularSolve(Sketch &s) {
  Value a = square(s);
  if (!a)
    return false;
  ArrayRef<int64_t> shape = Sketch::shapeOf(a);
  Value b = s.of({shape[0], shape[1], s.random.between(1, 4)});
  return bool(s.one("prim.triangular_solve", {a, b},
                    {s.flag("upper", s.random.chance(0.5)), s.flag("unit", s.random.chance(0.2)),
                     s.flag("transpose", s.random.chance(0.5))},
                    b ? b.getType() : Type()));
}

bool householder(Sketch &s) { return made(s.add("prim.householder", givenMatrix(s))); }
bool jacobiEigh(Sketch &s) { return made(s.add("prim.jacobi_eigh", symmetric(s, givenMatrix(s)))); }
bool jacobiSvd(Sketch &s) { return made(s.add("prim.jacobi_svd", givenMatrix(s))); }

template <bool isLog> bool recurrence(Sketch &s) {
  int64_t matrices = s.random.between(1, 2), rows = s.random.between(1, 5);
  int64_t columns = s.random.between(1, 5), terms = s.random.between(1, 3);
  Value x = s.within(s.of({matrices, rows, columns}), -1, 1);
  Value a = s.within(s.of({matrices, terms, rows, columns}), -1, 1);
  return bool(s.one(isLog ? "prim.log_recurrence" : "prim.linear_recurrence", {x, a}, {},
                    x ? x.getType() : Type()));
}

bool qr(Sketch &s) { return made(s.add("nn.qr", anyMatrix(s), s.flag("complete", false))); }
bool eigh(Sketch &s) { return made(s.add("nn.eigh", symmetric(s, square(s)))); }
bool svd(Sketch &s) { return made(s.add("nn.svd", anyMatrix(s), s.flag("full", false))); }

constexpr Production kMatrices[] = {
    {"cholesky", 2, cholesky},
    {"lu", 2, lu},
    {"lu_solve", 2, luSolve},
    {"householder", 1, householder},
    {"triangular_solve", 2, triangularSolve},
    {"jacobi_eigh", 1, jacobiEigh},
    {"jacobi_svd", 1, jacobiSvd},
    {"linear_recurrence", 2, recurrence<false>},
    {"log_recurrence", 2, recurrence<true>},
    {"qr", 2, qr},
    {"eigh", 2, eigh},
    {"svd", 2, svd},
};

} // namespace

ArrayRef<Production> accc::test::matrixProductions() { return kMatrices; }
