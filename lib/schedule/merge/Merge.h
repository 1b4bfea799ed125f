// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One program for several sizes of a model.
#ifndef ACCC_SCHEDULE_MERGE_MERGE_H
#define ACCC_SCHEDULE_MERGE_MERGE_H

#include "ir/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace accc {

/// A scheduled program and the sizes that it is for: "batch=32,seq=64".
struct SizedProgram {
  std::string sizes;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

/// Puts the programs that one model gave for several sizes into one, in which they share the
/// variables, and equal kernels and constants are there once. Every entry is there for each of the
/// sizes, but for `apply_step`: what an optimizer does depends on the variables alone.
///
/// Fails with an error that says what the user can do where a variable is not the same at all
/// sizes, or where no input tells two of them apart.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
mergePrograms(llvm::ArrayRef<SizedProgram> programs);

} // namespace accc

#endif
