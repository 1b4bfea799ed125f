// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initial values that a model computes.
#ifndef ACCC_DRIVER_INITIALVALUES_H
#define ACCC_DRIVER_INITIALVALUES_H

#include "support/WeightTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace accc {

/// Runs the `@forward` of ImportResult::initialization by the reference interpreter, and puts what
/// it gives in place of the weights of these names. Random numbers are the same in every
/// compilation.
mlir::LogicalResult computeInitialValues(mlir::ModuleOp initialization, WeightTable &weights);

} // namespace accc

#endif
