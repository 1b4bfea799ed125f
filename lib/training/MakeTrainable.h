// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a forward function to a training step.
#ifndef ACCC_TRAINING_MAKETRAINABLE_H
#define ACCC_TRAINING_MAKETRAINABLE_H

#include "support/Problem.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace accc {

struct TrainingOptions {
  /// As `--loss` and `--optimizer` of the command line; empty: none. An optimizer needs a loss,
  /// which a model that holds its gradients has itself.
  std::string loss, optimizer;
  /// Regular expressions: parameters in whose name one of them is found are not trained.
  std::vector<std::string> freeze;
  /// Other names of parameters, by which `freeze` knows them too.
  std::map<std::string, std::vector<std::string>> aliases = {};
};

/// Replaces `@forward` by the entry points of docs/function-contract.md:
///
///   loss and optimizer  train_step, grad_step, apply_step, eval_step
///   loss alone          grad_step, eval_step
///   neither             eval_step, which is the forward function as it stands
///
/// A model that holds its loss and the gradients of its parameters has them as they are; to it, no
/// loss can be added.
///
/// Fails with one error for everything found: specs that do not parse, a loss that does not fit its
/// output, ops without derivative, nothing to train. Warns of parameters that do not reach the
/// loss.
mlir::LogicalResult makeTrainable(mlir::ModuleOp module, const TrainingOptions &options);

/// What keeps makeTrainable from succeeding: errors and warnings. The module stays as it is.
std::vector<Problem> checkTrainable(mlir::ModuleOp module, const TrainingOptions &options);

} // namespace accc

#endif
