// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/EvaluationMode.h"

#include "ir/interfaces/Interfaces.h"
#include "support/DeadCode.h"

using namespace mlir;
using namespace accc;

void accc::useEvaluationMode(StepFunction step) {
  step.eraseResultsOf(Role::Update);
  for (Operation &op : llvm::make_early_inc_range(step.body())) {
    auto mode = dyn_cast<ModeDependent>(op);
    if (!mode)
      continue;
    OpBuilder builder(mode);
    SmallVector<Value> values;
    mode.getEvaluationValues(builder, values);
    op.replaceAllUsesWith(values);
  }
  eraseDeadCode(step.body());
}
