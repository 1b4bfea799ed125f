// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phase `fuse`.
#ifndef ACCC_DRIVER_FUSEMODEL_H
#define ACCC_DRIVER_FUSEMODEL_H

#include "mlir/Support/LogicalResult.h"

namespace accc {

struct Compilation;

/// Makes kernels and library calls of the compilation's module, for its target and within its
/// budget of memory.
mlir::LogicalResult fuseModel(Compilation &compilation);

} // namespace accc

#endif
