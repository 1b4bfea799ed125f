// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches of matrices [batch..., m, n], and what is solved with them.
#ifndef ACCC_FRONTEND_COMMON_LINEARALGEBRA_H
#define ACCC_FRONTEND_COMMON_LINEARALGEBRA_H

#include "frontend/common/NodeBuilder.h"
#include "ir/prim/MatrixRules.h"

namespace accc::frontend {

/// A batch as the one stack [matrices, m, n] that the ops of Matrices.td take, and back.
struct Stack {
  prim::Tensor all;
  llvm::SmallVector<int64_t> batch;

  /// Throws ImportError for what is no batch of matrices of float32 or float64.
  explicit Stack(prim::Tensor x);

  /// Something for each matrix of the stack, [matrices, ...], as [batch..., ...].
  prim::Tensor restore(prim::Tensor x) const;
  prim::Tensor restore(mlir::Value x) const { return restore(all.wrap(x)); }
  int64_t rows() const { return all.dim(1); }
  int64_t columns() const { return all.dim(2); }
  /// Throws ImportError where the matrices are not square.
  void requireSquare() const;
};

/// The batches repeated to their common shape.
std::pair<prim::Tensor, prim::Tensor> withCommonBatch(const NodeBuilder &node, prim::Tensor a,
                                                      prim::Tensor b);

/// With `check` a singular matrix is a data error at run time.
prim::LuOp luOf(const NodeBuilder &node, prim::Tensor stack, bool check);

/// e^a of a stack by scaling and squaring; NaN for matrices whose greatest sum of a column's
/// magnitudes is 10^4 or more.
prim::Tensor matrixExponential(prim::Tensor a);

/// The Moore-Penrose inverse of a stack, in which singular values up to `absolute` or `relative`
/// times the greatest count as 0: the greater of both limits.
prim::Tensor pseudoInverse(const NodeBuilder &node, prim::Tensor a, prim::Tensor absolute,
                           prim::Tensor relative);

/// The singular values [matrices, min(m, n)] of a stack, descending.
prim::Tensor singularValues(const NodeBuilder &node, prim::Tensor a);

/// The symmetric matrices whose lower triangles those of a stack have.
prim::Tensor symmetricOfLower(prim::Tensor a);

} // namespace accc::frontend

#endif
