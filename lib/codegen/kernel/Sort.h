// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_KERNEL_SORT_H
#define ACCC_CODEGEN_KERNEL_SORT_H

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

namespace accc::codegen {

/// Sorts the row of the operand in which `row` lies (its index along the sorted dimension does not
/// count) into the outputs, which are `results` of the op.
void emitHeapSort(BodyEmitter &emitter, prim::SortOp op, mlir::ValueRange results,
                  llvm::ArrayRef<mlir::AffineExpr> row);

} // namespace accc::codegen

#endif
