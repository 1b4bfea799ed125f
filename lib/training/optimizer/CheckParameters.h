// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether optimizers can update the parameters that they are given.
#ifndef ACCC_TRAINING_OPTIMIZER_CHECKPARAMETERS_H
#define ACCC_TRAINING_OPTIMIZER_CHECKPARAMETERS_H

#include "training/StepFunction.h"
#include "training/optimizer/ParameterGroups.h"

namespace accc {

/// Fails with an error for each optimizer that cannot update some of the parameters that the step
/// trains. `common` is the text of --optimizer.
mlir::LogicalResult checkParameters(StepFunction step, const ParameterGroups &groups,
                                    llvm::StringRef common, const OtherNames &otherNames);

} // namespace accc

#endif
