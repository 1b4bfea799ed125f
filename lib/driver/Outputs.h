// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation leaves behind: the library, and on request the files beside it.
#ifndef ACCC_DRIVER_OUTPUTS_H
#define ACCC_DRIVER_OUTPUTS_H

#include "driver/Pipeline.h"

namespace accc {

/// Generates the library from the scheduled program, and the weights beside it. Sets machineFault
/// where a file cannot be written.
mlir::LogicalResult writeLibrary(Compilation &compilation);

/// Writes the report where the options ask for one: the last file, as it tells how long the others
/// took. Sets machineFault where it cannot be written.
mlir::LogicalResult writeReport(Compilation &compilation);

} // namespace accc

#endif
