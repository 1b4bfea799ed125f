// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order the dimensions of a tensor lie in memory.
#ifndef ACCC_LAYOUT_DIMENSIONORDER_H
#define ACCC_LAYOUT_DIMENSIONORDER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace accc::layout {

/// The dimensions of a tensor from the outermost in memory to the innermost: the tensor that lies
/// there is the transpose by this permutation.
using DimensionOrder = llvm::SmallVector<int64_t>;

/// 0, 1, 2, ...: the tensor as it is.
DimensionOrder ownOrder(size_t rank);

/// Dimension 1 innermost, the others as they are.
DimensionOrder channelsLast(size_t rank);

/// One entry for each dimension, in the order of memory.
llvm::SmallVector<int64_t> inOrder(llvm::ArrayRef<int64_t> entries, llvm::ArrayRef<int64_t> order);

/// The order without the dimensions of extent 1, which lie anywhere: tensors of this shape whose
/// orders are equal but for those are the same memory.
llvm::SmallVector<int64_t> withoutUnits(llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<int64_t> order);

/// Where in memory's order a dimension is.
int64_t placeOf(int64_t dimension, llvm::ArrayRef<int64_t> order);

/// True if a tensor of this shape lies the same in both: the orders differ in extents of 1 only.
bool sameMemory(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a,
                llvm::ArrayRef<int64_t> b);

/// The same elements seen as a tensor of shape `from`, when those of shape `to` lie in `order`;
/// nothing if no order of whole dimensions says it.
std::optional<DimensionOrder> throughReshape(llvm::ArrayRef<int64_t> from,
                                             llvm::ArrayRef<int64_t> to,
                                             llvm::ArrayRef<int64_t> order);

} // namespace accc::layout

#endif
