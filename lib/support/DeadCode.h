// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dead code elimination within a block.
#ifndef ACCC_SUPPORT_DEADCODE_H
#define ACCC_SUPPORT_DEADCODE_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace accc {

/// Erases every op of the block whose results nobody uses, and then what only such ops used. Ops
/// with effects stay, but for those of which `isPure` says that they have none. `erasing`, if any,
/// is told of each before it goes.
void eraseDeadCode(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> isPure = nullptr,
                   llvm::function_ref<void(mlir::Operation *)> erasing = nullptr);

} // namespace accc

#endif
