// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of an index expression when the extents of its variables are.
#ifndef ACCC_IR_PRIM_INDEXRANGES_H
#define ACCC_IR_PRIM_INDEXRANGES_H

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace accc::prim {

/// Dimension i of an expression lies in [0, dims[i]), symbol i in [0, symbols[i]).
struct IndexExtents {
  llvm::ArrayRef<int64_t> dims, symbols;
};

/// The least and greatest value that the expression can take, if known.
std::optional<std::pair<int64_t, int64_t>> indexRange(mlir::AffineExpr expression,
                                                      const IndexExtents &extents);

/// The factor of dimension `dim` in the expression, a sum; nothing if it stands inside a division.
std::optional<int64_t> coefficientOf(mlir::AffineExpr expression, unsigned dim);

/// True if every value of the expression is known to be a multiple of n. MLIR's
/// AffineExpr::isMultipleOf takes (2 * d0) floordiv 6 for even: it reads a quotient like a sum.
bool isMultipleOf(mlir::AffineExpr expression, int64_t n);

/// Removes the floordiv and mod that the extents make superfluous:
/// (a * n + r) floordiv n = a and (a * n + r) mod n = r wherever 0 <= r < n.
mlir::AffineExpr simplifyIndex(mlir::AffineExpr expression, const IndexExtents &extents);

} // namespace accc::prim

#endif
