// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts of which only a part is read.
#ifndef ACCC_IR_PRIM_NARROWSORT_H
#define ACCC_IR_PRIM_NARROWSORT_H

#include "ir/prim/Prim.h"

#include "mlir/IR/PatternMatch.h"

namespace accc::prim {

/// Where only slices of the sort's results are used: replaces it by one that gives the range which
/// these lie in, and them by slices of that. A success if that is less than what the sort gave.
mlir::LogicalResult narrowSort(SortOp sort, mlir::RewriterBase &rewriter);

} // namespace accc::prim

#endif
