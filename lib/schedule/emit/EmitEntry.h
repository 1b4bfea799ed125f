// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From ordered steps and their places to an exec.entry.
#ifndef ACCC_SCHEDULE_EMIT_EMITENTRY_H
#define ACCC_SCHEDULE_EMIT_EMITENTRY_H

#include "schedule/emit/Kernels.h"
#include "schedule/memory/Placement.h"

namespace accc {

/// Writes what `order` and `placement` say at the end of the program, in that order. Every buffer
/// names the value that it holds, by its number in `function`, for verifySchedule.
void emitEntry(mlir::func::FuncOp function, const Order &order, const Placement &placement,
               KernelTable &kernels, mlir::ModuleOp program);

} // namespace accc

#endif
