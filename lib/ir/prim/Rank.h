// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of elements as an order of numbers.
#ifndef ACCC_IR_PRIM_RANK_H
#define ACCC_IR_PRIM_RANK_H

#include "ir/prim/Prim.h"

namespace accc::prim {

/// A number (i64) in [0, 2^32) for the element `x`, of at most 32 bits, of the sort's operand: that
/// of `a` is less than that of `b` where `a` precedes `b`, and the same where neither precedes the
/// other.
mlir::Value emitRank(mlir::OpBuilder &builder, SortOp sort, mlir::Value x);

} // namespace accc::prim

#endif
