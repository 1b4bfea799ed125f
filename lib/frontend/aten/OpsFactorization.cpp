// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of matrices.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/LinearAlgebra.h"
#include "ir/nn/Nn.h"

#include <limits>
#include <tuple>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The argument has another name in torch.linalg.
Stack stackOf(Node &node, StringRef name) { return Stack(node.floatIn(name)); }

// ---- cholesky ----

/// The factor and LAPACK's info, of the triangle that is asked for.
Entities choleskyFactor(Node &node, bool check) {
  Stack a = stackOf(node, "self");
  a.requireSquare();
  bool upper = node.boolean("upper");
  Tensor lower = upper ? prim::transposed(a.all) : a.all;
  Operation *op = node.create<prim::CholeskyOp>({lower}, {node.flag("check_errors", check)});
  Tensor l = a.all.wrap(op->getResult(0));
  return {a.restore(upper ? prim::transposed(l) : l), a.restore(op->getResult(1))};
}
Entities cholesky(Node &node) { return {choleskyFactor(node, /*check=*/true).front()}; }
Entities choleskyWithInfo(Node &node) { return choleskyFactor(node, node.boolean("check_errors")); }

/// The op that gave LAPACK's info makes a data error of it.
Entities checkErrors(Node &node) {
  Operation *op = node.in("info").get().getDefiningOp();
  while (op && isa<prim::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  if (op && op->hasAttr("check_errors"))
    op->setAttr("check_errors", node.builder().getBoolAttr(true));
  return {};
}

// ---- lu ----

void requirePivots(Node &node) {
  if (!node.boolean("pivot"))
    fail("elimination without pivoting is not supported, as in PyTorch on a CPU");
}

Entities luFactors(Node &node, StringRef name, bool check) {
  requirePivots(node);
  Stack a = stackOf(node, name);
  prim::LuOp op = luOf(node, a.all, check);
  return {a.restore(op.getLu()), a.restore(op.getPivots()), a.restore(op.getInfo())};
}
Entities luWithInfo(Node &node) { return luFactors(node, "A", node.boolean("check_errors")); }
Entities oldLuWithInfo(Node &node) { return luFactors(node, "self", node.boolean("check_errors")); }
Entities luFactor(Node &node) {
  Entities factors = luFactors(node, "A", /*check=*/true);
  factors.pop_back();
  return factors;
}

/// p, l and u of a = p l u; p, or l and u, without elements where they are not asked for.
Entities unpackedLu(Node &node, const Stack &lu, Tensor pivots, bool data, bool permutation) {
  int64_t matrices = lu.all.dim(0), m = lu.rows(), n = lu.columns(), k = std::min(m, n);
  Tensor none = node.full({0}, lu.all.elementType(), 0);
  Entities result = {none, none, none};
  if (permutation)
    result[0] = lu.restore(
        prim::putRows(prim::identityMatrices(lu.all, matrices, m), prim::pivotedRows(pivots, m)));
  if (!data)
    return result;
  Tensor left = prim::lowerTriangle(lu.all.sliceDim(2, 0, k), -1);
  Tensor ones = prim::identityMatrices(lu.all, matrices, m).sliceDim(2, 0, k);
  result[1] = lu.restore(left + ones);
  result[2] = lu.restore(prim::upperTriangle(lu.all.sliceDim(1, 0, k)));
  return result;
}
Entities lu(Node &node) {
  requirePivots(node);
  Stack a = stackOf(node, "A");
  prim::LuOp op = luOf(node, a.all, /*check=*/false);
  Stack factors(a.restore(op.getLu()));
  return unpackedLu(node, factors, a.all.wrap(op.getPivots()), /*data=*/true,
                    /*permutation=*/true);
}

/// Pivots [batch..., k] as [matrices, k].
Tensor pivotStack(Node &node, StringRef name, const Stack &lu) {
  Tensor pivots = node.in(name);
  if (pivots.rank() < 1 || pivots.shape().drop_back() != ArrayRef<int64_t>(lu.batch))
    fail("the pivots have the shape " + show(pivots.shape()));
  return pivots.convert(node.builder().getI32Type()).reshape({lu.all.dim(0), pivots.dim(-1)});
}
Entities unpackLu(Node &node) {
  Stack factors = stackOf(node, "LU_data");
  return unpackedLu(node, factors, pivotStack(node, "LU_pivots", factors),
                    node.boolean("unpack_data"), node.boolean("unpack_pivots"));
}

/// X with A X = B, or X A = B; of the transpose, if `adjoint`.
Tensor solvedWithLu(Node &node, StringRef lu, StringRef pivots, StringRef right, bool left,
                    bool adjoint) {
  Tensor b = node.floatIn(right), all = node.floatIn(lu), rows = node.in(pivots);
  std::tie(all, b) = withCommonBatch(node, all, b);
  SmallVector<int64_t> shape(all.shape().drop_back());
  rows = node.broadcastTo(rows, shape);
  node.set(pivots, rows.get());
  Stack factors(all), sides(b);
  factors.requireSquare();
  Tensor exchanges = pivotStack(node, pivots, factors);
  if (left)
    return sides.restore(prim::solveWithLu(factors.all, exchanges, sides.all, adjoint));
  return sides.restore(prim::transposed(
      prim::solveWithLu(factors.all, exchanges, prim::transposed(sides.all), !adjoint)));
}
Entities luSolve(Node &node) {
  return {solvedWithLu(node, "LU", "pivots", "B", node.boolean("left"), node.boolean("adjoint"))};
}
Entities oldLuSolve(Node &node) {
  return {solvedWithLu(node, "LU_data", "LU_pivots", "self", /*left=*/true, /*adjoint=*/false)};
}

// ---- orthogonal factors ----

Entities qrFactors(Node &node, StringRef name, bool complete, bool onlyR) {
  Stack a = stackOf(node, name);
  Operation *op = node.create<nn::QrOp>({a.all}, {node.flag("complete", complete)});
  Tensor q = a.restore(op->getResult(0));
  if (onlyR)
    q = node.full({0}, a.all.elementType(), 0);
  return {q, a.restore(op->getResult(1))};
}
Entities qr(Node &node) {
  std::string mode = node.string("mode");
  if (mode != "reduced" && mode != "complete" && mode != "r")
    fail("the mode '" + mode + "' is not 'reduced', 'complete' or 'r'");
  return qrFactors(node, "A", mode == "complete", mode == "r");
}
Entities oldQr(Node &node) {
  return qrFactors(node, "self", !node.boolean("some"), /*onlyR=*/false);
}

Tensor tausOf(Node &node, StringRef name, const Stack &a) {
  Tensor taus = node.floatIn(name);
  if (taus.rank() < 1 || taus.shape().drop_back() != ArrayRef<int64_t>(a.batch) ||
      taus.dim(-1) > std::min(a.rows(), a.columns()))
    fail("the factors of the reflections have the shape " + show(taus.shape()));
  return taus.reshape({a.all.dim(0), taus.dim(-1)});
}
Entities productOfReflections(Node &node, StringRef name, StringRef factors) {
  Stack a = stackOf(node, name);
  if (a.columns() > a.rows())
    fail("needs at least as many rows as columns, but the shape is " + show(a.all.shape()));
  return {a.restore(prim::householderProduct(a.all, tausOf(node, factors, a), a.columns()))};
}
Entities householderProduct(Node &node) { return productOfReflections(node, "input", "tau"); }
Entities oldHouseholderProduct(Node &node) { return productOfReflections(node, "self", "input2"); }

Entities timesReflections(Node &node) {
  Stack a = stackOf(node, "self"), c = stackOf(node, "input3");
  Tensor taus = tausOf(node, "input2", a);
  bool left = node.boolean("left"), transpose = node.boolean("transpose");
  Tensor x = left ? c.all : prim::transposed(c.all);
  Tensor y = prim::householderProductTimes(a.all, taus, x, transpose == left);
  return {c.restore(left ? y : prim::transposed(y))};
}

// ---- eigenvalues, singular values ----

Entities eigenOf(Node &node, StringRef name) {
  Stack a = stackOf(node, name);
  a.requireSquare();
  bool upper = StringRef(node.string("UPLO")).upper() == "U";
  Operation *op = node.create<nn::EighOp>({upper ? prim::transposed(a.all) : a.all});
  return {a.restore(op->getResult(0)), a.restore(op->getResult(1))};
}
template <bool isLinalg> Entities eigh(Node &node) {
  return eigenOf(node, isLinalg ? "self" : "A");
}
Entities eigvalsh(Node &node) { return {eigenOf(node, "self").front()}; }

Entities svdOf(Node &node, StringRef name, bool full) {
  Stack a = stackOf(node, name);
  Operation *op = node.create<nn::SvdOp>({a.all}, {node.flag("full", full)});
  return {a.restore(op->getResult(0)), a.restore(op->getResult(1)), a.restore(op->getResult(2))};
}
Entities svd(Node &node) { return svdOf(node, "A", node.boolean("full_matrices")); }
/// Of the old form V is asked for, not its transpose.
Entities oldSvd(Node &node) {
  Entities factors = svdOf(node, "self", !node.boolean("some"));
  Stack vh(node.wrap(factors[2].tensor));
  factors[2] = vh.restore(prim::transposed(vh.all));
  if (!node.boolean("compute_uv")) // tensors of zeros, as PyTorch gives
    for (size_t i : {0, 2}) {
      Tensor factor = node.wrap(factors[i].tensor);
      factors[i] = factor.full(0.0);
    }
  return factors;
}
/// How many singular values are greater than max(atol, rtol times the greatest).
Entities rankOf(Node &node, Stack a, StringRef absolute, StringRef relative) {
  if (a.all.size() == 0)
    return {node.full(a.batch, node.builder().getI64Type(), 0)};
  Tensor all = node.boolean("hermitian") ? symmetricOfLower(a.all) : a.all;
  Tensor s = detach(singularValues(node, all)); // [matrices, values]
  auto limit = [&](StringRef name) {
    return node.broadcastTo(asTensor(node, name, s.elementType()), a.batch)
        .reshape({s.dim(0)})
        .broadcast(s.shape(), {0});
  };
  Tensor least = absolute.empty() || !node.has(absolute) ? s.full(0.0) : limit(absolute);
  double epsilon = s.elementType().isF64() ? std::numeric_limits<double>::epsilon()
                                           : std::numeric_limits<float>::epsilon();
  Tensor share = s.full(epsilon * static_cast<double>(std::max(a.rows(), a.columns())));
  if (!relative.empty() && node.has(relative))
    share = limit(relative);
  else if (!absolute.empty() && node.has(absolute))
    share = relative.empty() ? s.full(0.0) : prim::select(least > 0.0, s.full(0.0), share);
  Tensor greatest = prim::reduce(prim::ReduceKind::max, s, {1}).broadcast(s.shape(), {0});
  Tensor counts = (s > prim::max(least, share * greatest)).convert(node.builder().getI64Type());
  return {prim::sum(counts, {1}).reshape(a.batch)};
}
/// PyTorch calls the matrices so where limits are tensors.
template <bool areTensors> Stack ranked(Node &node) {
  return stackOf(node, areTensors ? "input" : "self");
}
template <bool areTensors> Entities matrixRank(Node &node) {
  return rankOf(node, ranked<areTensors>(node), "atol", "rtol");
}
template <bool areTensors> Entities matrixRankAbove(Node &node) {
  return rankOf(node, ranked<areTensors>(node), "tol", "");
}

Entities svdvals(Node &node) { return {svdOf(node, "A", /*full=*/false)[1]}; }

} // namespace

ArrayRef<OpRow> accc::aten::factorizationOps() {
  static const OpRow rows[] = {
      {"cholesky(self, upper=False)", cholesky},
      {"linalg_cholesky(self, *, upper=False)", cholesky},
      {"linalg_cholesky_ex(self, *, upper=False, check_errors=False)", choleskyWithInfo},
      {"_linalg_check_errors(info, api_name, *, is_matrix)", checkErrors},
      {"linalg_lu_factor(A, *, pivot=True)", luFactor},
      {"linalg_lu_factor_ex(A, *, pivot=True, check_errors=False)", luWithInfo},
      {"_lu_with_info(self, pivot=True, check_errors=True)", oldLuWithInfo},
      {"linalg_lu(A, *, pivot=True)", lu},
      {"lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True)", unpackLu},
      {"linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False)", luSolve},
      {"lu_solve(self, LU_data, LU_pivots)", oldLuSolve},
      {"linalg_qr(A, mode='reduced')", qr},
      {"qr(self, some=True)", oldQr},
      {"linalg_householder_product(input, tau)", householderProduct},
      {"orgqr(self, input2)", oldHouseholderProduct},
      {"ormqr(self, input2, input3, left=True, transpose=False)", timesReflections},
      {"linalg_eigh(self, UPLO='L')", eigh<true>},
      {"_linalg_eigh(A, UPLO='L', compute_v=True)", eigh<false>},
      {"linalg_eigvalsh(self, UPLO='L')", eigvalsh},
      {"linalg_svd(A, full_matrices=True, *, driver=None)", svd},
      {"_linalg_svd(A, full_matrices=False, compute_uv=True, *, driver=None)", svd},
      {"svd(self, some=True, compute_uv=True)", oldSvd},
      {"linalg_svdvals(A, *, driver=None)", svdvals},
      {"linalg_matrix_rank(self, tol, hermitian=False)", matrixRankAbove<false>},
      {"linalg_matrix_rank.tol_tensor(input, tol, hermitian=False)", matrixRankAbove<true>},
      {"linalg_matrix_rank.atol_rtol_tensor(input, *, atol=None, rtol=None, hermitian=False)",
       matrixRank<true>},
      {"linalg_matrix_rank.atol_rtol_float(self, *, atol=None, rtol=None, hermitian=False)",
       matrixRank<false>},
  };
  return rows;
}
