// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determinants of matrices.
#ifndef ACCC_FRONTEND_COMMON_DETERMINANT_H
#define ACCC_FRONTEND_COMMON_DETERMINANT_H

#include "frontend/common/LinearAlgebra.h"

namespace accc::frontend {

/// The determinants of x [batch..., n, n]: [batch...], and the factors of the transposes of x,
/// which PyTorch's backward pass reads where the elements of x lie row by row.
struct Determinants {
  prim::Tensor value, lu, pivots;
};

/// By its formula up to three rows; up to 64 by elimination with partial pivoting, a row at a time
/// in the graph; else by prim.lu. Throws ImportError for what is not square.
Determinants determinant(NodeBuilder &node, prim::Tensor x);

/// The sign of the determinants and the logarithm of their absolute values, which does not
/// overflow; and the factors.
struct LogDeterminants {
  prim::Tensor sign, logarithm, lu, pivots;
};
LogDeterminants logDeterminant(NodeBuilder &node, prim::Tensor x);

} // namespace accc::frontend

#endif
