// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry points of one training step.
#ifndef ACCC_TRAINING_ENTRYPOINTS_H
#define ACCC_TRAINING_ENTRYPOINTS_H

#include "training/StepFunction.h"
#include "training/TrainingOptions.h"
#include "training/WeightAverage.h"
#include "training/loss/Loss.h"
#include "training/optimizer/LossScale.h"
#include "training/optimizer/ParameterGroups.h"

#include <optional>

namespace accc {

/// TrainingOptions, read.
struct TrainingPlan {
  const TrainingOptions &options;
  /// None where the model holds its loss and gradients.
  std::optional<LossChoice> loss;
  std::optional<ParameterGroups> optimizer;
  std::optional<LossScale> lossScale;
  std::optional<WeightAverage> average;
};

/// The option that asks for the loss scale, as messages say it.
std::string askedLossScale(const TrainingOptions &options);

/// Whether the model itself computes its loss and the gradients of its parameters.
bool holdsGradients(StepFunction forward);

/// Adds to the module grad_step and eval_step of `forward`, which learns which parameters are
/// trained, and train_step and apply_step if the plan has an optimizer, accumulate_step and
/// update_step if it accumulates, and average_eval_step if it averages weights. Returns the names
/// of the trained parameters. Fails where the loss does not fit the model, an op on the way to it
/// has no derivative, or nothing is left to train.
mlir::FailureOr<std::vector<std::string>> buildEntryPoints(StepFunction forward,
                                                           const TrainingPlan &plan);

/// Takes the model's outputs off a step that trains, and what only they need. Fails on one that
/// gives no loss.
mlir::LogicalResult returnLossOnly(StepFunction step);

/// For a step whose loss cannot be built: reports the ops without derivative before the output
/// `name`, or else the first.
void checkDerivatives(StepFunction step, llvm::StringRef name);

/// Replaces the random key by [seed, step], inputs of the step; if nothing is random, by nothing.
void takeSeedAndStep(StepFunction step);

} // namespace accc

#endif
