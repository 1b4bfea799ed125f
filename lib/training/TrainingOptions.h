// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a training step is to do.
#ifndef ACCC_TRAINING_TRAININGOPTIONS_H
#define ACCC_TRAINING_TRAININGOPTIONS_H

#include "support/NamePattern.h"

#include <string>
#include <utility>
#include <vector>

namespace accc {

struct TrainingOptions {
  /// As `--loss` and `--optimizer` of the command line; empty: none. An optimizer needs a loss,
  /// which a model that holds its gradients has itself.
  std::string loss, optimizer;
  /// Regular expressions: parameters in whose name one of them is found are not trained.
  std::vector<std::string> freeze;
  /// Other names of parameters, by which all regular expressions know them too.
  OtherNames otherNames = {};
  /// Regular expressions: where there are some, only parameters in whose name one of them is found
  /// are trained.
  std::vector<std::string> train = {};
  /// As `--param-group`: a regular expression, and the options or the optimizer of what it finds.
  std::vector<std::pair<std::string, std::string>> groups = {};
  /// As `--loss-scale`, but for `none`; empty: none. With `isLossScaleImplied` --precision asks for
  /// it.
  std::string lossScale = {};
  bool isLossScaleImplied = false;
  /// The steps that train return the loss and no outputs of the model.
  bool lossOnly = false;
  /// As `--average-weights`; empty: none.
  std::string average = {};
  /// As `--accumulate-gradients`.
  bool accumulates = false;
  /// As `--data-parallel`.
  bool dataParallel = false;
  /// As `--sync-batch-norm`.
  bool syncsBatchNorm = false;
  /// Of several steps, what tells their entry points apart: `train_step.d`. Empty for the only one.
  std::string name = {};
};

} // namespace accc

#endif
