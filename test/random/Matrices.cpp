// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of matrices, and what is solved with them.
#include "Sketch.h"

#include "ir/interfaces/ReferenceValues.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Matrices whose diagonals dominate and increase, so that rounding decides no pivot, sign or
/// order.
Value dominant(Sketch &s, int64_t rows, int64_t columns) {
  int64_t matrices = s.random.between(1, 2);
  Sketch::TensorType type = s.tensor({matrices, rows, columns});
  Value x = s.within(s.of(type), -1, 1);
  ReferenceArray diagonal({matrices, rows, columns});
  for (int64_t k = 0; k < matrices; ++k)
    for (int64_t i = 0; i < std::min(rows, columns); ++i)
      diagonal.at({k, i, i}) = static_cast<double>(6 + 3 * i);
  Value added = s.one("prim.constant", {}, s.named("value", toElements(diagonal, type)), type);
  return s.same("prim.add", {x, added});
}

Value square(Sketch &s) {
  int64_t n = s.random.between(1, 4);
  return dominant(s, n, n);
}
/// For ops that read one triangle, whose derivative is that of a symmetric matrix.
Value symmetric(Sketch &s) {
  Value x = square(s);
  if (!x)
    return nullptr;
  Value turned = s.one("prim.transpose", {x}, s.list("permutation", {0, 2, 1}), x.getType());
  return s.same("prim.add", {x, turned});
}
Value anyMatrix(Sketch &s) { return dominant(s, s.random.between(1, 4), s.random.between(1, 4)); }

bool made(const SmallVector<Value> &results) { return !results.empty(); }

bool cholesky(Sketch &s) {
  return made(s.add("prim.cholesky", symmetric(s), s.flag("check_errors", s.random.chance(0.5))));
}

bool lu(Sketch &s) {
  Value a = anyMatrix(s);
  SmallVector<Value> factors = s.add("prim.lu", a, s.flag("check_errors", s.random.chance(0.5)));
  if (factors.empty() || s.random.chance(0.5))
    return made(factors);
  return made(s.add("prim.pivoted_rows", factors[1], s.integer("rows", Sketch::shapeOf(a)[1])));
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

// prim's own orthogonal factors have no derivatives: nn's have.
bool qr(Sketch &s) { return made(s.add("nn.qr", anyMatrix(s), s.flag("complete", false))); }
bool eigh(Sketch &s) { return made(s.add("nn.eigh", symmetric(s))); }
bool svd(Sketch &s) { return made(s.add("nn.svd", anyMatrix(s), s.flag("full", false))); }

constexpr Production kMatrices[] = {
    {"cholesky", 2, cholesky},
    {"lu", 2, lu},
    {"triangular_solve", 2, triangularSolve},
    {"qr", 2, qr},
    {"eigh", 2, eigh},
    {"svd", 2, svd},
};

} // namespace

ArrayRef<Production> accc::test::matrixProductions() { return kMatrices; }
