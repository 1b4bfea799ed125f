// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear systems, inverses, powers and norms of matrices.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/LinearAlgebra.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <limits>
#include <tuple>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;
using accc::prim::Triangle;

namespace {

Tensor product(Node &node, Tensor a, Tensor b) { return node.make<nn::MatmulOp>({a, b}); }

// ---- systems ----

struct Solution {
  Tensor x, lu, pivots, info;
};

/// Whether b is a vector for each matrix.
bool areVectors(Tensor a, Tensor b) {
  return b.rank() == 1 || (a.rank() - 1 == b.rank() && b.shape() == a.shape().drop_back());
}

Tensor asColumns(Tensor vectors) {
  SmallVector<int64_t> shape(vectors.shape());
  shape.push_back(1);
  return vectors.reshape(shape);
}

/// X with A X = B, or X A = B. B may be a vector for each matrix.
Solution solution(Node &node, Tensor a, Tensor b, bool left, bool check) {
  bool isVector = areVectors(a, b);
  if (isVector) {
    b = asColumns(b);
    if (!left)
      fail("solves with vectors from the left only");
  }
  auto [repeated, sides] = withCommonBatch(node, a, b);
  Stack stack(repeated), right(sides);
  stack.requireSquare();
  if ((left ? right.rows() : right.columns()) != stack.rows())
    fail("the shapes " + show(a.shape()) + " and " + show(b.shape()) + " do not fit");
  prim::LuOp lu = luOf(node, stack.all, check);
  Tensor factors = a.wrap(lu.getLu()), pivots = a.wrap(lu.getPivots());
  auto solved = [&](Tensor sides) {
    return node.make<nn::LuSolveOp>({stack.all, factors, pivots, sides},
                                    {node.flag("transpose", !left)});
  };
  Tensor x = right.restore(left ? solved(right.all)
                                : prim::transposed(solved(prim::transposed(right.all))));
  if (isVector)
    x = x.reshape(x.shape().drop_back());
  return {x, stack.restore(factors), stack.restore(pivots), stack.restore(a.wrap(lu.getInfo()))};
}

Solution solutionOf(Node &node, bool check) {
  return solution(node, node.floatIn("A"), node.floatIn("B"), node.boolean("left"), check);
}
/// Of complex numbers without factors and pivots, which are those of the real matrices.
template <Rule rule> Entities solveAny(Node &node) {
  if (!node.hasComplex())
    return rule(node);
  Node columns = node;
  bool isVector = areVectors(node.complexIn("A").real, node.complexIn("B").real);
  if (isVector)
    columns.set("B", node.complexIn("B").map(asColumns).value(node));
  Entities results = byRealMatrices(columns, rule);
  if (isVector)
    results.front() = mapParts(node, results.front().tensor,
                               [](Tensor part) { return part.reshape(part.shape().drop_back()); });
  if (results.size() == 4)
    results[1] = results[2] = Entity::none();
  return results;
}

Entities solve(Node &node) { return {solutionOf(node, /*check=*/true).x}; }
Entities solveWithInfo(Node &node) {
  Solution s = solutionOf(node, node.boolean("check_errors"));
  return {s.x, s.info};
}
Entities solveWithFactors(Node &node) {
  Solution s = solutionOf(node, node.boolean("check_errors"));
  return {s.x, s.lu, s.pivots, s.info};
}

Solution inverseOf(Node &node, Tensor a, bool check) {
  Stack stack(a);
  stack.requireSquare();
  Tensor ones = stack.restore(prim::identityMatrices(stack.all, stack.all.dim(0), stack.rows()));
  return solution(node, a, ones, /*left=*/true, check);
}
template <bool isLinalg> Entities inverse(Node &node) {
  return {inverseOf(node, node.floatIn(isLinalg ? "A" : "self"), /*check=*/true).x};
}
Entities inverseWithInfo(Node &node) {
  Solution s = inverseOf(node, node.floatIn("A"), node.boolean("check_errors"));
  return {s.x, s.info};
}

Triangle triangle(bool upper, bool unit) {
  if (upper)
    return unit ? Triangle::unitUpper : Triangle::upper;
  return unit ? Triangle::unitLower : Triangle::lower;
}

Entities solveTriangularMatrix(Node &node) {
  auto [a, b] = withCommonBatch(node, node.floatIn("self"), node.floatIn("B"));
  Stack matrices(a), sides(b);
  matrices.requireSquare();
  Triangle part = triangle(node.boolean("upper"), node.boolean("unitriangular"));
  if (node.boolean("left"))
    return {sides.restore(prim::solveTriangular(matrices.all, sides.all, part))};
  return {sides.restore(prim::solveTriangularRight(matrices.all, sides.all, part))};
}
/// The old form gives its coefficients as well.
Entities oldTriangularSolve(Node &node) {
  auto [a, b] = withCommonBatch(node, node.floatIn("A"), node.floatIn("self"));
  Stack matrices(a), sides(b);
  matrices.requireSquare();
  Triangle part = triangle(node.boolean("upper"), node.boolean("unitriangular"));
  Tensor x = prim::solveTriangular(matrices.all, sides.all, part, node.boolean("transpose"));
  return {sides.restore(x), a};
}

/// X with A X = B, where A is L L^T, or U^T U. The factor has PyTorch's gradient, that of A as a
/// product of whole matrices: in B - (A - A') X, of which the value is B, A alone carries it.
Tensor solvedWithCholesky(Tensor factor, Tensor b, bool upper) {
  Triangle part = triangle(upper, /*unit=*/false);
  Tensor still = detach(factor);
  auto solved = [&](Tensor right) {
    Tensor y = prim::solveTriangular(still, right, part, /*transpose=*/upper);
    return prim::solveTriangular(still, y, part, /*transpose=*/!upper);
  };
  auto squared = [&](Tensor x) {
    return upper ? prim::matrixProduct(prim::transposed(x), x)
                 : prim::matrixProduct(x, prim::transposed(x));
  };
  Tensor difference = squared(factor) - detach(squared(factor));
  return solved(b - prim::matrixProduct(difference, detach(solved(b))));
}
Entities choleskySolve(Node &node) {
  auto [factor, b] = withCommonBatch(node, node.floatIn("input2"), node.floatIn("self"));
  Stack matrices(factor), sides(b);
  matrices.requireSquare();
  return {sides.restore(solvedWithCholesky(matrices.all, sides.all, node.boolean("upper")))};
}
Entities choleskyInverse(Node &node) {
  Stack factor(node.floatIn("self"));
  factor.requireSquare();
  Tensor ones = prim::identityMatrices(factor.all, factor.all.dim(0), factor.rows());
  return {factor.restore(solvedWithCholesky(factor.all, ones, node.boolean("upper")))};
}

Entities pseudoInverseOf(Node &node, StringRef absolute, StringRef relative, double byDefault) {
  Stack a(node.floatIn("self"));
  if (a.all.size() == 0)
    return {a.restore(prim::transposed(a.all))};
  Tensor all = a.all;
  if (node.boolean("hermitian"))
    all = symmetricOfLower(all);
  auto limit = [&](StringRef name, double otherwise) {
    Tensor perMatrix = node.full({all.dim(0)}, all.elementType(), otherwise);
    if (name.empty() || !node.has(name))
      return perMatrix;
    Tensor given = asTensor(node, name, all.elementType());
    return node.broadcastTo(given, a.batch).reshape({all.dim(0)});
  };
  bool hasAbsolute = !absolute.empty() && node.has(absolute);
  Tensor p =
      pseudoInverse(node, all, limit(absolute, 0), limit(relative, hasAbsolute ? 0 : byDefault));
  return {a.restore(p)};
}
double pseudoInverseLimit(Node &node) {
  Tensor a = node.floatIn("self");
  if (a.rank() < 2)
    fail("needs a matrix or a batch of matrices");
  double epsilon = a.elementType().isF64() ? std::numeric_limits<double>::epsilon()
                                           : std::numeric_limits<float>::epsilon();
  return epsilon * static_cast<double>(std::max(a.dim(-1), a.dim(-2)));
}
Entities pinv(Node &node) {
  return pseudoInverseOf(node, "atol", "rtol", pseudoInverseLimit(node));
}
Entities pinvWithLimit(Node &node) { return pseudoInverseOf(node, "", "rcond", 0); }
Entities oldPinverse(Node &node) {
  node.set("hermitian", false);
  return pseudoInverseOf(node, "", "rcond", 0);
}

// ---- products ----

Entities exponential(Node &node) {
  Stack a(node.floatIn("self"));
  a.requireSquare();
  return {a.all.size() == 0 ? a.restore(a.all) : a.restore(matrixExponential(a.all))};
}

/// By squarings; of a negative power those of the inverse.
Entities matrixPower(Node &node) {
  Tensor a = node.floatIn("self");
  Stack stack(a);
  stack.requireSquare();
  int64_t n = node.integer("n");
  if (n < 0)
    a = inverseOf(node, a, /*check=*/true).x;
  std::optional<Tensor> result;
  for (uint64_t left = static_cast<uint64_t>(std::abs(n)); left > 0; left /= 2) {
    if (left % 2 == 1)
      result = result ? product(node, *result, a) : a;
    if (left > 1)
      a = product(node, a, a);
  }
  if (result)
    return {*result};
  return {stack.restore(prim::identityMatrices(stack.all, stack.all.dim(0), stack.rows()))};
}

/// The product of matrices in the order that takes the fewest multiplications; the first and the
/// last may be vectors.
Entities chain(Node &node, StringRef name) {
  SmallVector<Tensor> factors = node.tensors(name);
  if (factors.empty())
    fail("nothing to multiply");
  bool fromVector = factors.front().rank() == 1, toVector = factors.back().rank() == 1;
  if (factors.size() == 1)
    return {factors.front()};
  if (fromVector)
    factors.front() = factors.front().reshape({1, factors.front().dim(0)});
  if (toVector)
    factors.back() = factors.back().reshape({factors.back().dim(0), 1});
  for (auto [i, factor] : llvm::enumerate(factors))
    if (factor.rank() != 2 || (i > 0 && factor.dim(0) != factors[i - 1].dim(1)))
      fail("factor " + Twine(i) + " has the shape " + show(factor.shape()));
  size_t count = factors.size();
  SmallVector<SmallVector<double>> cost(count, SmallVector<double>(count, 0.0));
  SmallVector<SmallVector<size_t>> split(count, SmallVector<size_t>(count, 0));
  for (size_t length = 1; length < count; ++length)
    for (size_t i = 0; i + length < count; ++i) {
      size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        double own = static_cast<double>(factors[i].dim(0)) *
                     static_cast<double>(factors[k].dim(1)) *
                     static_cast<double>(factors[j].dim(1));
        double total = cost[i][k] + cost[k + 1][j] + own;
        if (total < cost[i][j]) {
          cost[i][j] = total;
          split[i][j] = k;
        }
      }
    }
  auto multiply = [&](auto &self, size_t i, size_t j) -> Tensor {
    if (i == j)
      return factors[i];
    return product(node, self(self, i, split[i][j]), self(self, split[i][j] + 1, j));
  };
  Tensor y = multiply(multiply, 0, count - 1);
  SmallVector<int64_t> shape;
  if (!fromVector)
    shape.push_back(y.dim(0));
  if (!toVector)
    shape.push_back(y.dim(1));
  return {y.reshape(shape)};
}
Entities multiDot(Node &node) { return chain(node, "tensors"); }
Entities chainMatmul(Node &node) { return chain(node, "matrices"); }

Entities vectorDot(Node &node) {
  auto [x, y] = operands(node, "x", "y");
  return {prim::sum(x * y, {node.dim("dim", x)})};
}

// ---- tensors as matrices ----

int64_t count(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

Entities tensorSolve(Node &node) {
  Tensor a = node.floatIn("self"), b = node.floatIn("other");
  if (node.has("dims")) { // which go last
    SmallVector<int64_t> last = node.integers("dims"), order;
    for (int64_t &d : last)
      d = node.axis(d, a.rank());
    for (int64_t d = 0; d < a.rank(); ++d)
      if (!llvm::is_contained(last, d))
        order.push_back(d);
    llvm::append_range(order, last);
    a = a.transpose(order);
  }
  SmallVector<int64_t> shape(a.shape().drop_front(std::min(b.rank(), a.rank())));
  if (count(shape) != b.size() || a.size() != b.size() * b.size())
    fail("the shapes " + show(a.shape()) + " and " + show(b.shape()) + " do not fit");
  Tensor x = solution(node, a.reshape({b.size(), b.size()}), b.reshape({b.size()}), /*left=*/true,
                      /*check=*/true)
                 .x;
  return {x.reshape(shape)};
}

Entities tensorInverse(Node &node) {
  Tensor a = node.floatIn("self");
  int64_t first = node.integer("ind");
  if (first < 1 || first > a.rank())
    fail("ind must be 1 to " + Twine(a.rank()));
  SmallVector<int64_t> shape(a.shape().drop_front(first));
  int64_t n = count(shape);
  llvm::append_range(shape, a.shape().take_front(first));
  if (a.size() != n * n)
    fail("the dimensions of " + show(a.shape()) + " before and from " + Twine(first) +
         " on have different products");
  return {inverseOf(node, a.reshape({n, n}), /*check=*/true).x.reshape(shape)};
}

/// The solution of least squares for matrices of full rank: by the factors of the matrix, or of its
/// transpose where that has more rows.
Entities leastSquares(Node &node) {
  Tensor a = node.floatIn("self"), b = node.floatIn("b");
  bool isVector = b.rank() == a.rank() - 1;
  if (isVector) {
    SmallVector<int64_t> column(b.shape());
    column.push_back(1);
    b = b.reshape(column);
  }
  auto [matrices, sides] = withCommonBatch(node, a, b);
  Stack stack(matrices), right(sides);
  int64_t m = stack.rows(), n = stack.columns();
  bool isTall = m >= n;
  Operation *qr = node.create<nn::QrOp>({isTall ? stack.all : prim::transposed(stack.all)},
                                        {node.flag("complete", false)});
  Tensor q = a.wrap(qr->getResult(0)), r = a.wrap(qr->getResult(1));
  Tensor x = isTall ? prim::solveTriangular(r, prim::matrixProduct(prim::transposed(q), right.all),
                                            Triangle::upper)
                    : prim::matrixProduct(q, prim::solveTriangular(r, right.all, Triangle::upper,
                                                                   /*transpose=*/true));
  Tensor rest = right.all - prim::matrixProduct(stack.all, x);
  Tensor none = node.full({0}, a.elementType(), 0);
  // LAPACK's routines differ in what they tell beside the solution. As in PyTorch, no gradient
  // flows through it.
  std::string driver = node.has("driver") ? node.string("driver") : "gelsy";
  Type i64 = node.builder().getI64Type();
  Tensor rank = driver == "gels" ? node.full({0}, i64, 0)
                                 : node.full(stack.batch, i64, static_cast<double>(std::min(m, n)));
  bool tellsValues = driver == "gelss" || driver == "gelsd";
  Tensor values = tellsValues ? detach(stack.restore(singularValues(node, stack.all))) : none;
  bool tellsRest = m > n && (n > 0 || tellsValues);
  Tensor residuals = tellsRest ? right.restore(prim::sum(rest * rest, {1})) : none;
  x = right.restore(x);
  if (isVector)
    x = x.reshape(x.shape().drop_back());
  return {x, residuals, rank, values};
}

// ---- norms ----

/// What a norm of a matrix is of.
enum class NormKind { frobenius, nuclear, number };

/// Over the two dimensions `dims`, which stay as extents of 1 if so asked.
Tensor matrixNorm(Node &node, Tensor x, NormKind kind, double order, ArrayRef<int64_t> dims,
                  bool keep) {
  int64_t row = node.axis(dims[0], x.rank()), column = node.axis(dims[1], x.rank());
  if (row == column)
    fail("the dimensions of a matrix norm are the same");
  SmallVector<int64_t> permutation, batch, kept(x.shape());
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != row && d != column) {
      permutation.push_back(d);
      batch.push_back(x.dim(d));
    }
  permutation.append({row, column});
  kept[row] = kept[column] = 1;
  Tensor a = x.transpose(permutation).reshape({count(batch), x.dim(row), x.dim(column)});
  auto extreme = [&](Tensor values) {
    return prim::reduce(order > 0 ? prim::ReduceKind::max : prim::ReduceKind::min, values, {1});
  };
  std::optional<Tensor> y;
  if (kind == NormKind::frobenius) {
    Tensor squares = prim::sum(a * a, {1, 2});
    Tensor isZero = prim::equal(squares, 0.0); // where the gradient is 0
    y = prim::select(isZero, 0.0, prim::sqrt(prim::select(isZero, 1.0, squares)));
  } else if (kind == NormKind::nuclear) {
    y = prim::sum(singularValues(node, a), {1});
  } else if (std::abs(order) == 2) {
    y = extreme(singularValues(node, a));
  } else if (std::abs(order) == 1) {
    y = extreme(prim::sum(prim::abs(a), {1}));
  } else if (std::isinf(order)) {
    y = extreme(prim::sum(prim::abs(a), {2}));
  } else {
    fail("a matrix norm of order " + std::to_string(order) + " is not one of PyTorch's");
  }
  return y->reshape(keep ? ArrayRef<int64_t>(kept) : ArrayRef<int64_t>(batch));
}

std::pair<NormKind, double> normOf(Node &node, StringRef name) {
  if (!node.has(name))
    return {NormKind::frobenius, 2};
  if (!node.isString(name))
    return {NormKind::number, node.number(name)};
  std::string kind = node.string(name);
  if (kind == "fro")
    return {NormKind::frobenius, 2};
  if (kind == "nuc")
    return {NormKind::nuclear, 1};
  fail("the norm '" + kind + "' is not 'fro' or 'nuc'");
}

Tensor normOperand(Node &node) {
  Tensor x = node.in("self");
  return asFloat(node, x.convert(node.elementType("dtype", x.elementType())));
}

Entities matrixNormOf(Node &node) {
  auto [kind, order] = normOf(node, "ord");
  SmallVector<int64_t> dims = node.integers("dim");
  if (dims.size() != 2)
    fail("a matrix norm is over two dimensions");
  return {matrixNorm(node, normOperand(node), kind, order, dims, node.boolean("keepdim"))};
}

/// Of matrices where an order and two dimensions are given, or there are but two; else of vectors.
Entities anyNorm(Node &node) {
  int64_t rank =
      node.has("dim") ? static_cast<int64_t>(node.integers("dim").size()) : node.in("self").rank();
  if (!node.has("ord") || rank != 2)
    return findOperator("linalg_vector_norm")->rule(node);
  if (!node.has("dim"))
    node.set("dim", Integers{-2, -1});
  return matrixNormOf(node);
}

Entities conditionNumber(Node &node) {
  Tensor a = node.floatIn("self");
  NormKind kind = NormKind::number;
  double order = 2;
  if (node.has("p"))
    std::tie(kind, order) = normOf(node, "p");
  if (kind == NormKind::number && std::abs(order) == 2) {
    Stack stack(a);
    Tensor s = singularValues(node, stack.all);
    Tensor first = s.sliceDim(1, 0, 1), last = s.sliceDim(1, s.dim(1) - 1, s.dim(1));
    Tensor y = order > 0 ? first / last : last / first;
    return {stack.restore(y.reshape({s.dim(0)}))};
  }
  Tensor inverted = inverseOf(node, a, /*check=*/false).x;
  auto norm = [&](Tensor x) { return matrixNorm(node, x, kind, order, {-2, -1}, false); };
  return {norm(a) * norm(inverted)};
}

} // namespace

ArrayRef<OpRow> accc::aten::solvingOps() {
  static const OpRow rows[] = {
      {"linalg_solve(A, B, *, left=True)", solveAny<solve>},
      {"linalg_solve_ex(A, B, *, left=True, check_errors=False)", solveAny<solveWithInfo>},
      {"_linalg_solve_ex(A, B, *, left=True, check_errors=False)", solveAny<solveWithFactors>},
      {"linalg_inv(A)", byRealMatrices<inverse<true>>},
      {"inverse(self)", byRealMatrices<inverse<false>>},
      {"linalg_inv_ex(A, *, check_errors=False)", byRealMatrices<inverseWithInfo>},
      {"linalg_solve_triangular(self, B, *, upper, left=True, unitriangular=False)",
       solveTriangularMatrix},
      {"triangular_solve(self, A, upper=True, transpose=False, unitriangular=False)",
       oldTriangularSolve},
      {"cholesky_solve(self, input2, upper=False)", choleskySolve},
      {"cholesky_inverse(self, upper=False)", choleskyInverse},
      {"linalg_pinv(self, rcond, hermitian=False)", pinvWithLimit},
      {"linalg_pinv.atol_rtol_tensor(self, *, atol=None, rtol=None, hermitian=False)", pinv},
      {"linalg_pinv.atol_rtol_float(self, *, atol=None, rtol=None, hermitian=False)", pinv},
      {"pinverse(self, rcond=1e-15)", oldPinverse},
      {"linalg_matrix_exp(self)", byRealMatrices<exponential>},
      {"matrix_exp(self)", byRealMatrices<exponential>},
      {"linalg_matrix_power(self, n)", byRealMatrices<matrixPower>},
      {"matrix_power(self, n)", byRealMatrices<matrixPower>},
      {"linalg_multi_dot(tensors)", multiDot},
      {"chain_matmul(matrices)", chainMatmul},
      {"linalg_vecdot(x, y, *, dim=-1)", vectorDot},
      {"linalg_tensorsolve(self, other, dims=None)", tensorSolve},
      {"linalg_tensorinv(self, ind=2)", tensorInverse},
      {"linalg_lstsq(self, b, rcond=None, *, driver=None)", leastSquares},
      {"linalg_matrix_norm(self, ord='fro', dim=[-2 -1], keepdim=False, *, dtype=None)",
       matrixNormOf},
      {"linalg_norm(self, ord=None, dim=None, keepdim=False, *, dtype=None)", anyNorm},
      {"linalg_cond(self, p=None)", conditionNumber},
  };
  return rows;
}
