// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From fused functions to a program of launches and library calls over planned buffers.
#ifndef ACCC_SCHEDULE_SCHEDULE_H
#define ACCC_SCHEDULE_SCHEDULE_H

#include "ir/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"

namespace accc {

/// Turns every function of `module` (docs/function-contract.md) into an `exec.entry` of a new
/// module. The functions hold prim.fusion, prim.fusion_each, contractions, reshapes and constants
/// only.
///
/// Variables get offsets in the state block; every other value gets a place in the entry's arena,
/// an output buffer of the caller, or the place of the variable that it updates. Launches that
/// update variables stand last, behind an `exec.check`, so that a data error leaves the state as it
/// was.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> schedule(mlir::ModuleOp module);

/// Proves a scheduled program: follows which value every byte of memory holds, step by step. Every
/// read finds the value that it names, whole: none that was not written, that another has
/// overwritten, or that a variable held before or after. Outputs and variables hold what they
/// should at the end. A step overwrites what it reads itself only where its kernel reads an element
/// before it writes it. No variable changes before the data has been checked, and no step that may
/// fail stands behind that. A violation is a bug in accc, reported as an error.
mlir::LogicalResult verifySchedule(mlir::ModuleOp program);

} // namespace accc

#endif
