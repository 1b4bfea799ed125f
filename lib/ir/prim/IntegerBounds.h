// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between which numbers the elements of a tensor of integers lie.
#ifndef ACCC_IR_PRIM_INTEGERBOUNDS_H
#define ACCC_IR_PRIM_INTEGERBOUNDS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace accc::prim {

/// Both included.
struct IntegerBounds {
  int64_t low, high;
};

/// What all elements of `value` lie between, whatever the inputs are: it follows from the ops that
/// compute them. Nothing where these say nothing, and for tensors of floats or without elements.
std::optional<IntegerBounds> boundsOf(mlir::Value value);

} // namespace accc::prim

#endif
