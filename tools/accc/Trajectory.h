// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a library computes from some weights and data, and how two such runs are compared.
#ifndef ACCC_TOOLS_ACCC_TRAJECTORY_H
#define ACCC_TOOLS_ACCC_TRAJECTORY_H

#include "Comparison.h"

#include "accc/accc.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace accc::tool {

/// The names of a model's training steps: "d" where there is train_step.d, and an empty one where
/// there is train_step.
std::vector<std::string> stepNamesOf(const Model &model);
/// "train_step" of "train_step.d".
std::string_view kindOf(std::string_view entry);
/// Whether an entry point updates by gradients that are there, and takes no data: apply_step,
/// update_step.
bool updatesAlone(std::string_view entry);
/// Whether an entry point is one of evaluation: eval_step, average_eval_step.
bool evaluates(std::string_view entry);
/// "train_step.d"; "train_step" of a step without a name.
std::string entryNameOf(std::string_view kind, const std::string &step);

/// By the order in which errors spread. What a step with a name gives is named by its entry point:
/// "grad_step.d grad.w", "losses.d".
struct Trajectory {
  TensorMap outputs;            ///< of eval_step, as "eval_step y"
  TensorMap gradients;          ///< all that grad_step gives: `grad.<parameter>`, outputs, loss
  TensorMap applied;            ///< variables after an apply_step with gradients of a grad_step,
                                ///< and after an update_step behind some accumulate_steps
  TensorMap losses;             ///< `losses` of all train_steps
  TensorMap variables;          ///< parameters, buffers, optimizer state after the last
  TensorMap averaged;           ///< outputs of average_eval_step after the last train_step, as
                                ///< "average_eval_step y"
  std::set<std::string> states; ///< which variables are optimizer state
  TensorMap initial;            ///< all variables before
};

struct TrajectoryOptions {
  std::set<std::string> entries; ///< which entry points to run
  int64_t steps = 3;             ///< of training: each runs all training steps, one after the other
  /// For apply_step; null: those of the grad_step.
  const TensorMap *gradients = nullptr;
};

/// Runs each entry point in `session` from the variables that it has now, which it leaves changed.
Trajectory record(Session &session, const TensorMap &inputs, const TrajectoryOptions &options);

/// All variables of a session.
TensorMap variablesOf(Session &session);
/// Gives a session the values of the variables of these names, types and shapes.
void setVariables(Session &session, const TensorMap &values);

/// Data for all entry points at some sizes that take any, as randomInputs() makes it.
TensorMap randomInputsAt(const Model &model, std::string_view sizes);

/// Whether a name of a trajectory is that of a gradient, of losses of a step, or of an output of
/// average_eval_step.
bool isGradientName(const std::string &name);
bool isLossesName(const std::string &name);
bool isAveragedName(const std::string &name);

/// By the name of a variable, how far training moved it: the RMSE to what it was before.
using Updates = std::map<std::string, double>;
/// Those of `variables` of a trajectory, under their names with a prefix.
Updates updatesOf(const Trajectory &trajectory, const std::string &prefix);

/// The tensors of all parts, each by a name of its own.
TensorMap allOf(const Trajectory &trajectory);

/// Adds a verdict, whose name begins with `prefix`, for each tensor of `expected`. Where something
/// fails, `measure` gives the noise of the tensors by the names of allOf().
void compareTrajectories(const Trajectory &found, const Trajectory &expected,
                         const std::string &prefix, double tolerance,
                         const std::function<std::map<std::string, double>()> &measure,
                         std::vector<Verdict> &verdicts);

} // namespace accc::tool

#endif
