// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The optimizer's part of a step function.
#ifndef ACCC_TRAINING_OPTIMIZER_APPLYOPTIMIZER_H
#define ACCC_TRAINING_OPTIMIZER_APPLYOPTIMIZER_H

#include "training/StepFunction.h"
#include "training/optimizer/ParameterGroups.h"

namespace accc {

struct TrainedParameter {
  std::string name;
  mlir::Value value;
  mlir::Value gradient; // behind a barrier
};

/// Appends to the function: the arguments `learning_rate` and the optimizer's state
/// (`optimizer.<slot>.<parameter>`, `optimizer.step` if one of the groups counts, and what an
/// optimizer keeps for all its parameters: `optimizer.<slot>`, or `optimizer.group<N>.<slot>` of
/// the N-th --param-group), and an `update` of every parameter and state. The state of a step with
/// a name is its own: `optimizer.<name>.<slot>.<parameter>`.
void applyOptimizer(StepFunction step, const ParameterGroups &groups, llvm::StringRef name,
                    const OtherNames &otherNames, llvm::ArrayRef<TrainedParameter> parameters);

} // namespace accc

#endif
