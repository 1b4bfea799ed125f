// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TRAINING_CHECKNAMES_H
#define ACCC_TRAINING_CHECKNAMES_H

#include "training/StepFunction.h"

namespace accc {

/// Fails unless the names of the arguments are distinct, and those of the results (but for updates,
/// which are named by their variables). Callers tell values apart by their names, and making a
/// model trainable adds some: `learning_rate`, `optimizer.step`, `grad.<parameter>`. One error for
/// each name that the model uses, too.
mlir::LogicalResult checkNames(StepFunction step);

} // namespace accc

#endif
