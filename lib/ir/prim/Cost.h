// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op costs.
#ifndef ACCC_IR_PRIM_COST_H
#define ACCC_IR_PRIM_COST_H

#include "mlir/IR/Operation.h"

namespace accc {

/// Floating-point operations of a primitive: two for each multiply-add of a contraction, one for
/// each element of everything else that computes; views, gathers and constants are free. A fusion,
/// and any other op with a body, costs the sum of its body.
double flopsOf(mlir::Operation *op);

/// Bytes of a tensor; 0 for other types.
double bytesOf(mlir::Type type);

} // namespace accc

#endif
