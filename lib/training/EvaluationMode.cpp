// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/EvaluationMode.h"

#include "ir/interfaces/Interfaces.h"
#include "support/DeadCode.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;

void accc::useEvaluationMode(StepFunction step) {
  llvm::StringSet<> parameters;
  for (unsigned i : step.argumentsOf(Role::Parameter))
    parameters.insert(step.argumentName(i));
  for (unsigned i = step.numResults(); i-- > 0;)
    if (step.resultRole(i) == Role::Update &&
        !parameters.contains(resultText(step.get(), i, kUpdatesAttr)))
      step.eraseResult(i);
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
