// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/EvaluationMode.h"

#include "ir/nn/Nn.h"
#include "support/DeadCode.h"

using namespace mlir;
using namespace accc;

void accc::useEvaluationMode(StepFunction step) {
  step.eraseResultsOf(role::kUpdate);
  for (Operation &op : llvm::make_early_inc_range(step.body())) {
    if (auto norm = dyn_cast<nn::BatchNormTrainingOp>(op)) {
      OpBuilder builder(norm);
      norm.getY().replaceAllUsesWith(builder.create<nn::BatchNormInferenceOp>(
          norm.getLoc(), norm.getX(), norm.getScale(), norm.getBias(), norm.getRunningMean(),
          norm.getRunningVar(), norm.getEpsilonAttr()));
      norm.getNewMean().replaceAllUsesWith(norm.getRunningMean());
      norm.getNewVar().replaceAllUsesWith(norm.getRunningVar());
    } else if (auto dropout = dyn_cast<nn::DropoutOp>(op)) {
      dropout.getResult().replaceAllUsesWith(dropout.getX());
    }
  }
  eraseDeadCode(step.body());
}
