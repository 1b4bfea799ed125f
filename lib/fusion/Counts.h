// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that count along dimensions.
#ifndef ACCC_FUSION_COUNTS_H
#define ACCC_FUSION_COUNTS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace accc {

/// steps, where element [i, j, ...] of a tensor of integers is known to be steps[0] * i +
/// steps[1] * j + ...; nothing where it is not.
std::optional<llvm::SmallVector<int64_t>> stepsOf(mlir::Value value);

} // namespace accc

#endif
