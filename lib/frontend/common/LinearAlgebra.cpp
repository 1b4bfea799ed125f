// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/LinearAlgebra.h"

#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using namespace accc::prim;

static int64_t count(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

Stack::Stack(Tensor x) : all(x) {
  if (x.rank() < 2)
    fail("needs a matrix or a batch of matrices, but the shape is " + show(x.shape()));
  if (!x.elementType().isF32() && !x.elementType().isF64())
    fail("needs matrices of float32 or float64");
  batch.assign(x.shape().drop_back(2).begin(), x.shape().drop_back(2).end());
  all = x.reshape({count(batch), x.dim(-2), x.dim(-1)});
}

Tensor Stack::restore(Tensor x) const {
  SmallVector<int64_t> shape(batch);
  llvm::append_range(shape, x.shape().drop_front());
  return x.reshape(shape);
}

void Stack::requireSquare() const {
  if (rows() != columns())
    fail("needs square matrices, but these have " + Twine(rows()) + " rows and " +
         Twine(columns()) + " columns");
}

std::pair<Tensor, Tensor> frontend::withCommonBatch(const NodeBuilder &node, Tensor a, Tensor b) {
  if (a.rank() < 2 || b.rank() < 2)
    fail("needs matrices or batches of matrices, but the shapes are " + show(a.shape()) + " and " +
         show(b.shape()));
  SmallVector<int64_t> batch = broadcastShape(a.shape().drop_back(2), b.shape().drop_back(2));
  auto repeated = [&](Tensor x) {
    SmallVector<int64_t> shape(batch);
    shape.append({x.dim(-2), x.dim(-1)});
    return node.broadcastTo(x, shape);
  };
  return {repeated(a), repeated(b)};
}

LuOp frontend::luOf(const NodeBuilder &node, Tensor stack, bool check) {
  return cast<LuOp>(node.create<LuOp>({stack}, {node.flag("check_errors", check)}));
}

// Taylor's polynomial of degree 16 of a 2^-s, whose norm is at most 3/4, squared s times; in powers
// of the fourth (Paterson and Stockmeyer, "On the number of nonscalar multiplications necessary to
// evaluate polynomials", 1973).
Tensor frontend::matrixExponential(Tensor a) {
  constexpr double kLeast = 0.75;
  constexpr int64_t kMostSquarings = 14;
  constexpr int64_t kParts = 4;
  Tensor norm = reduce(ReduceKind::max, sum(abs(a), {1}), {1});
  auto perElement = [&](Tensor perMatrix) { return perMatrix.broadcast(a.shape(), {0}); };
  SmallVector<Tensor> isSquared;
  double limit = kLeast;
  for (int64_t i = 0; i < kMostSquarings; ++i, limit *= 2)
    isSquared.push_back(norm > limit);
  Tensor factor = norm.full(1.0);
  for (Tensor each : isSquared)
    factor = factor * select(each, 0.5, norm.full(1.0));
  Tensor x = a * perElement(factor);

  SmallVector<Tensor> powers = {identityMatrices(a, a.dim(0), a.dim(1)), x};
  while (static_cast<int64_t>(powers.size()) <= kParts)
    powers.push_back(matrixProduct(powers.back(), x));
  SmallVector<double> coefficients = {1};
  for (int64_t i = 1; i <= kParts * kParts; ++i)
    coefficients.push_back(coefficients.back() / static_cast<double>(i));
  Tensor y = powers.back() * coefficients.back();
  for (int64_t part = kParts - 1; part >= 0; --part) {
    for (int64_t i = 0; i < kParts; ++i)
      y = y + powers[i] * coefficients[part * kParts + i];
    if (part > 0)
      y = matrixProduct(powers.back(), y);
  }
  for (Tensor each : isSquared)
    y = select(perElement(each), matrixProduct(y, y), y);
  Tensor isHuge = perElement(norm > limit);
  return select(isHuge, y.full(std::numeric_limits<double>::quiet_NaN()), y);
}

// Differentiated as Golub and Pereyra have it ("The differentiation of pseudo-inverses", 1973),
// which singular values that are equal do not matter to: of
//   p - p d p + p p^T d^T (1 - a p) + (1 - p a) d^T p^T p,  d = a - a',
// where only d, whose value is 0, carries a gradient.
Tensor frontend::pseudoInverse(const NodeBuilder &node, Tensor a, Tensor absolute,
                               Tensor relative) {
  Tensor still = detach(a);
  Operation *svd = node.create<nn::SvdOp>({still}, {node.flag("full", false)});
  Tensor u = a.wrap(svd->getResult(0)), s = a.wrap(svd->getResult(1)),
         vh = a.wrap(svd->getResult(2));
  Tensor greatest = s.sliceDim(1, 0, 1).reshape({s.dim(0)});
  Tensor limit = max(absolute, relative * greatest).broadcast(s.shape(), {0});
  Tensor isKept = s > limit;
  Tensor factors = select(isKept, 1.0 / select(isKept, s, 1.0), 0.0);
  Tensor p = matrixProduct(
      transposed(vh) * factors.broadcast({s.dim(0), a.dim(2), s.dim(1)}, {0, 2}), transposed(u));
  p = detach(p);
  Tensor d = a - still, dt = transposed(d), pt = transposed(p);
  Tensor outsideRows = identityMatrices(a, a.dim(0), a.dim(1)) - matrixProduct(still, p);
  Tensor outsideColumns = identityMatrices(a, a.dim(0), a.dim(2)) - matrixProduct(p, still);
  return p - matrixProduct(matrixProduct(p, d), p) +
         matrixProduct(matrixProduct(matrixProduct(p, pt), dt), outsideRows) +
         matrixProduct(outsideColumns, matrixProduct(dt, matrixProduct(pt, p)));
}

Tensor frontend::singularValues(const NodeBuilder &node, Tensor a) {
  return a.wrap(node.create<nn::SvdOp>({a}, {node.flag("full", false)})->getResult(1));
}

Tensor accc::frontend::symmetricOfLower(Tensor a) {
  return prim::lowerTriangle(a) + prim::transposed(prim::lowerTriangle(a, -1));
}
