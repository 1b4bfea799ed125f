// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determinants of small matrices.
#ifndef ACCC_FRONTEND_COMMON_DETERMINANT_H
#define ACCC_FRONTEND_COMMON_DETERMINANT_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// The determinants of x [batch..., n, n]: [batch...]. By its formula up to three rows, else by
/// elimination with partial pivoting, a row at a time in the graph. Throws ImportError for what is
/// not square or has more than 64 rows.
prim::Tensor determinant(NodeBuilder &node, prim::Tensor x);

/// The sign of the determinants and the logarithm of their absolute values, which does not
/// overflow.
std::pair<prim::Tensor, prim::Tensor> logDeterminant(NodeBuilder &node, prim::Tensor x);

} // namespace accc::frontend

#endif
