// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model does when it is not being trained.
#ifndef ACCC_TRAINING_EVALUATIONMODE_H
#define ACCC_TRAINING_EVALUATIONMODE_H

#include "training/StepFunction.h"

namespace accc {

/// Turns a forward function into its evaluation: batch norm uses its running statistics, dropout
/// does nothing, and no variable gets a new value (results of role `update` disappear).
void useEvaluationMode(StepFunction step);

} // namespace accc

#endif
