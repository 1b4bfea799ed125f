// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/OwnTraining.h"

#include "support/DeadCode.h"
#include "training/EvaluationMode.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;

static bool isTraining(StepFunction step, unsigned result) {
  return bool(step.get().getResultAttr(result, kTrainingAttr));
}

bool accc::holdsTraining(StepFunction forward) {
  return llvm::any_of(llvm::seq(forward.numResults()),
                      [&](unsigned i) { return isTraining(forward, i); });
}

/// Leaves out the updates of parameters that are not trained.
static void keepFrozen(StepFunction step) {
  llvm::StringSet<> frozen;
  for (unsigned i : step.argumentsOf(Role::Parameter))
    if (step.isFrozen(i))
      frozen.insert(step.argumentName(i));
  for (unsigned i = step.numResults(); i-- > 0;)
    if (step.resultRole(i) == Role::Update &&
        frozen.contains(resultText(step.get(), i, kUpdatesAttr)))
      step.eraseResult(i);
}

OwnSteps accc::splitTraining(StepFunction forward) {
  OwnSteps steps = {StepFunction::copy(forward.get(), "train_step"),
                    StepFunction::copy(forward.get(), "eval_step")};
  keepFrozen(steps.train);
  for (unsigned i = 0; i < steps.train.numResults(); ++i)
    steps.train.get().removeResultAttr(i,
                                       StringAttr::get(forward.get().getContext(), kTrainingAttr));
  auto isBarrier = [](Operation *op) { return isa<prim::OptimizationBarrierOp>(op); };
  eraseDeadCode(steps.train.body(), isBarrier);

  for (unsigned i = steps.eval.numResults(); i-- > 0;)
    if (isTraining(steps.eval, i))
      steps.eval.eraseResult(i);
  useEvaluationMode(steps.eval);
  eraseDeadCode(steps.eval.body(), isBarrier);
  // What only the optimizer reads: its state, and inputs such as the learning rate.
  for (unsigned i = steps.eval.get().getNumArguments(); i-- > 0;)
    if (steps.eval.get().getArgument(i).use_empty() && !forward.get().getArgument(i).use_empty())
      steps.eval.eraseArgument(i);
  return steps;
}
