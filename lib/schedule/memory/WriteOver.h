// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which results are written over what their step reads.
#ifndef ACCC_SCHEDULE_MEMORY_WRITEOVER_H
#define ACCC_SCHEDULE_MEMORY_WRITEOVER_H

#include "schedule/order/Order.h"

namespace accc {

/// Whether the step that computes `result` may write it over `old`: no later step reads that, and
/// it itself only where it writes.
bool mayWriteOver(mlir::Value result, mlir::Value old, const Order &order);

/// What each result is written over, by result: a value of as many bytes that nobody reads behind
/// its step. Both lie in scratch memory: `isScratch` says which results of steps do. Not for
/// updates, whose results lie in variables.
llvm::DenseMap<mlir::Value, mlir::Value>
findWrittenOver(const Order &order, llvm::function_ref<bool(mlir::Value)> isScratch);

} // namespace accc

#endif
