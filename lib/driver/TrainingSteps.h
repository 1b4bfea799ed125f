// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The training steps that the command line asks for.
#ifndef ACCC_DRIVER_TRAININGSTEPS_H
#define ACCC_DRIVER_TRAININGSTEPS_H

#include "driver/Options.h"
#include "training/TrainingOptions.h"

#include "llvm/Support/Error.h"

namespace accc {

/// The losses and optimizers there are, as --loss and --optimizer name them.
std::vector<std::string> knownLosses();
std::vector<std::string> knownOptimizers();

/// One for each `--loss`; where there is none, one without a loss. Several have names, which
/// `--loss`, `--optimizer` and `--train` begin with: `d=output:d_loss`. What stands there without a
/// name belongs to every step. The errors, a list of them, are about names; specs are not read.
llvm::Expected<std::vector<TrainingOptions>> readTrainingSteps(const CompileOptions &options,
                                                               const OtherNames &otherNames = {});

} // namespace accc

#endif
