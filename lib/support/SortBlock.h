// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order in which the ops of a block can run.
#ifndef ACCC_SUPPORT_SORTBLOCK_H
#define ACCC_SUPPORT_SORTBLOCK_H

#include "mlir/IR/Block.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace accc {

/// Orders the ops of a block topologically; among those that are ready, the one of the least rank.
/// The first of each of `pairs` comes before the second.
void sortBlock(mlir::Block &block, const llvm::DenseMap<mlir::Operation *, int64_t> &rank,
               llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> pairs = {});

} // namespace accc

#endif
