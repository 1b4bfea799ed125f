// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op makes of an operand that is off by a rounding error.
#ifndef ACCC_IR_PRIM_ROUNDINGERRORS_H
#define ACCC_IR_PRIM_ROUNDINGERRORS_H

#include "ir/prim/Prim.h"

namespace accc::prim {

/// Whether the result consists of the operand, in a view, a sum, a product or a quotient, of two
/// values or of many, or is a power of it.
bool passesOn(mlir::OpOperand &use);

/// Whether sums add the operand up with others, so that most of it may cancel.
bool mayCancel(mlir::OpOperand &use);

/// Whether the smallest error of the operand may make the result quite another one: a comparison
/// with another value, the next integer, an order of elements.
bool jumps(mlir::OpOperand &use);

/// Whether kernels that compute the op may add or multiply floats in different orders, and round
/// differently.
bool ordersTerms(mlir::Operation *op);

/// How large the error of an operand may be beside it.
struct RoundedOperand {
  bool inSum = false;      ///< it is a sum, of which most may have cancelled
  bool losesSmall = false; ///< small numbers may have become zero
};

/// Whether the op's result is much farther off than its operand: it jumps, or it is steep where the
/// operand is (the logarithm of 1 - p or of what is nearly one, an exponential, a quotient by what
/// may be zero).
bool magnifiesError(mlir::OpOperand &use, RoundedOperand operand);

} // namespace accc::prim

#endif
