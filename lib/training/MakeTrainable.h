// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a forward function to a training step.
#ifndef ACCC_TRAINING_MAKETRAINABLE_H
#define ACCC_TRAINING_MAKETRAINABLE_H

#include "support/Problem.h"
#include "training/TrainingOptions.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace accc {

/// Replaces `@forward` by the entry points of docs/function-contract.md:
///
///   loss and optimizer  train_step, grad_step, apply_step, eval_step; accumulate_step and
///                       update_step where gradients accumulate; average_eval_step where weights
///                       are averaged
///   loss alone          grad_step, eval_step
///   neither             eval_step, which is the forward function as it stands
///
/// For several steps, each with its loss, its optimizer and its parameters, each has these, named
/// `train_step.<name>`; in place of the losses of the other steps, a step returns its own.
///
/// A model that holds its loss and the gradients of its parameters has them as they are; to it, no
/// loss can be added.
///
/// Fails with one error for everything found: specs that do not parse, a loss that does not fit its
/// output, ops without derivative, nothing to train. Warns of parameters that do not reach the
/// loss.
mlir::LogicalResult makeTrainable(mlir::ModuleOp module, llvm::ArrayRef<TrainingOptions> steps);

/// What keeps makeTrainable from succeeding: errors and warnings. The module stays as it is.
std::vector<Problem> checkTrainable(mlir::ModuleOp module, llvm::ArrayRef<TrainingOptions> steps);

} // namespace accc

#endif
