// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that hold a whole training step, optimizer included.
#ifndef ACCC_TRAINING_OWNTRAINING_H
#define ACCC_TRAINING_OWNTRAINING_H

#include "training/StepFunction.h"

namespace accc {

/// Whether results of `forward` belong to a training step of the model's own.
bool holdsTraining(StepFunction forward);

/// Makes `train_step` of it as it stands, and `eval_step` of the rest. Frozen parameters keep their
/// values. `forward` stays, and both still have the random key.
struct OwnSteps {
  StepFunction train, eval;
};
OwnSteps splitTraining(StepFunction forward);

} // namespace accc

#endif
