// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which dimensions of a reshape's operand became which of its result.
#ifndef ACCC_IR_PRIM_DIMENSIONGROUPS_H
#define ACCC_IR_PRIM_DIMENSIONGROUPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

namespace accc::prim {

/// Dimensions of two shapes that hold the same elements.
struct DimensionGroup {
  llvm::SmallVector<int64_t> from, to;
};

/// The dimensions of two shapes of equally many elements (at least one), in the smallest groups of
/// equal products.
llvm::SmallVector<DimensionGroup> matchGroups(llvm::ArrayRef<int64_t> from,
                                              llvm::ArrayRef<int64_t> to);

} // namespace accc::prim

#endif
