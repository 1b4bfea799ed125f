// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model may not hold yet, though the import reads it and the ops define it.
#ifndef ACCC_DRIVER_SUPPORTED_H
#define ACCC_DRIVER_SUPPORTED_H

#include "driver/Pipeline.h"

namespace accc {

/// Fails, with a problem that names the first such value and counts the others, where the imported
/// model has an input, a variable or a result of an op in 16-bit floats: no rule says yet which
/// parts of a training step may be computed in them (mixed precision).
mlir::LogicalResult checkSupported(Compilation &compilation);

} // namespace accc

#endif
