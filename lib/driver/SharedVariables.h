// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model keeps between steps must not depend on the sizes that it is compiled for.
#ifndef ACCC_DRIVER_SHAREDVARIABLES_H
#define ACCC_DRIVER_SHAREDVARIABLES_H

#include "driver/Pipeline.h"

namespace accc {

/// Holds the parameters and buffers of the model just imported, and their initial values `weights`,
/// against those at the first sizes; keeps them if these are the first. A variable that is not the
/// same is an error that names it; nothing is kept twice.
mlir::LogicalResult shareVariables(Compilation &compilation, WeightTable weights);

} // namespace accc

#endif
