// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parameters a step trains.
#ifndef ACCC_TRAINING_TRAINEDPARAMETERS_H
#define ACCC_TRAINING_TRAINEDPARAMETERS_H

#include "training/StepFunction.h"
#include "training/TrainingOptions.h"

namespace accc {

/// Marks as frozen what `--freeze` finds, and, where there are `--train`, what none of these finds.
/// Fails with an error for each expression that does not parse and for each `--train` that finds no
/// parameter; warns of each `--freeze` that finds none. What a `--train` finds is a parameter,
/// whatever the file says of it.
mlir::LogicalResult chooseTrained(StepFunction forward, const TrainingOptions &options);

} // namespace accc

#endif
