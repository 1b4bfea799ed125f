// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loss of a step.
#ifndef ACCC_TRAINING_STEPLOSS_H
#define ACCC_TRAINING_STEPLOSS_H

#include "training/StepFunction.h"
#include "training/loss/Loss.h"

namespace accc {

/// The result of role loss; null where there is none.
mlir::Value findLoss(StepFunction step);

/// Appends the result `loss`, and the input `target` where the loss compares with one. Fails where
/// the model has no such output, or the loss does not fit it.
mlir::LogicalResult addLoss(StepFunction step, const LossChoice &choice);

/// Says of the inputs that hold indices what these may be, for the messages of a run.
void describeIndices(StepFunction step);

} // namespace accc

#endif
