// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dead code elimination within a block.
#ifndef ACCC_SUPPORT_DEADCODE_H
#define ACCC_SUPPORT_DEADCODE_H

#include "mlir/IR/Block.h"

namespace accc {

/// Erases every op of the block whose results nobody uses, and then what only such ops used.
void eraseDeadCode(mlir::Block &block);

} // namespace accc

#endif
