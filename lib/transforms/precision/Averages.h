// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Averages by probabilities that were rounded.
#ifndef ACCC_TRANSFORMS_PRECISION_AVERAGES_H
#define ACCC_TRANSFORMS_PRECISION_AVERAGES_H

#include "mlir/IR/Value.h"

namespace accc::transforms {

/// Divides what is averaged by the probabilities of a softmax by their sum. `shown` is what the
/// readers of `probabilities` have in their place, rounded: they add up to one but for a rounding
/// error. The gradient of a softmax subtracts the average of what it is given from each of it;
/// where one probability is nearly one, little is left but what the sum lacks.
void divideAverages(mlir::Value probabilities, mlir::Value shown);

} // namespace accc::transforms

#endif
