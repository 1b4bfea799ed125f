// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From fused functions to a program of launches and library calls over planned buffers.
#ifndef ACCC_SCHEDULE_SCHEDULE_H
#define ACCC_SCHEDULE_SCHEDULE_H

#include "ir/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"

namespace accc {

/// Turns every function of `module` (docs/function-contract.md) into an `exec.entry` of a new
/// module. The functions hold prim.fusion, contractions, reshapes and constants only.
///
/// Variables get offsets in the state block; every other value gets a place in the entry's arena,
/// an output buffer of the caller, or the place of the variable that it updates. Launches that
/// update variables stand last, behind an `exec.check`, so that a data error leaves the state as it
/// was.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> schedule(mlir::ModuleOp module);

/// Checks a scheduled program: no two buffers that are live at the same time overlap in the arena,
/// every buffer is written before it is read, no variable is read after the launch that updates it,
/// and no variable changes before the check. A violation is a bug in accc, reported as an error.
mlir::LogicalResult verifySchedule(mlir::ModuleOp program);

} // namespace accc

#endif
