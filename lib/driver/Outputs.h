// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation leaves behind: the library, and on request the files beside it.
#ifndef ACCC_DRIVER_OUTPUTS_H
#define ACCC_DRIVER_OUTPUTS_H

#include "driver/Pipeline.h"

namespace accc {

/// Generates the library from the scheduled program, the weights beside it (LIB.so.safetensors) and
/// the header, in compilation.outputs. A file that cannot be written is the machine's fault.
mlir::LogicalResult writeLibrary(Compilation &compilation);

/// Writes the report where the options ask for one: the last file, as it tells how long the others
/// took. A file that cannot be written is the machine's fault.
mlir::LogicalResult writeReport(Compilation &compilation);

/// Gives all files that were written their names. One that cannot have it is the machine's fault.
mlir::LogicalResult publishOutputs(Compilation &compilation);

/// What the files that a compilation writes would write over: `inputs`, or each other. A line each.
std::vector<std::string> findOverwritten(const CompileOptions &options,
                                         llvm::ArrayRef<std::string> inputs);

} // namespace accc

#endif
