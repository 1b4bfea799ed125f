// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of elements as an order of numbers.
#ifndef ACCC_IR_PRIM_RANK_H
#define ACCC_IR_PRIM_RANK_H

#include "ir/prim/Prim.h"

namespace accc::prim {

/// The bits of such a number for elements of this type, without a sign: 32, or 64.
unsigned rankBits(mlir::Type element);

/// A number (i64, without a sign) of so many bits for the element `x` of the sort's operand: that
/// of `a` is less than that of `b` where `a` precedes `b`, and the same where neither precedes the
/// other.
mlir::Value emitRank(mlir::OpBuilder &builder, SortOp sort, mlir::Value x);

} // namespace accc::prim

#endif
