// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--data-parallel`: several processes train one model, each on rows of its own. What a step leaves
// in a variable is the same in all of them.
#ifndef ACCC_TRAINING_PARALLEL_DATAPARALLEL_H
#define ACCC_TRAINING_PARALLEL_DATAPARALLEL_H

#include "training/optimizer/ApplyOptimizer.h"

namespace accc {

/// The gradients that an optimizer is given become their means over the processes.
void averageGradients(StepFunction step, llvm::MutableArrayRef<TrainedParameter> trained);

/// So does the loss of a step that trains.
void averageLoss(StepFunction step);

/// Whether rows of a batch do not count by themselves in the model.
bool dependsOnBatch(StepFunction step);

/// Lets batch norms take their statistics over the rows of all processes.
void synchronizeBatches(StepFunction step);

/// What the model itself leaves in variables, such as running statistics, becomes what the first
/// process has of it.
void shareUpdates(StepFunction step);

/// Numbers the collectives of each entry point (kExchangeAttr): while these still stand as the
/// model has them, and gradients in the order of their parameters.
void numberExchanges(mlir::ModuleOp module);

} // namespace accc

#endif
