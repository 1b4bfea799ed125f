// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Trajectory.h"

#include "Command.h"

#include <algorithm>
#include <iterator>
#include <optional>

using namespace accc;
using namespace accc::tool;

static const Tensor *find(const TensorMap &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

// ---- Names ----

std::string_view accc::tool::kindOf(std::string_view entry) {
  return entry.substr(0, entry.find('.'));
}

bool accc::tool::updatesAlone(std::string_view entry) {
  const std::string_view kind = kindOf(entry);
  return kind.starts_with("apply_step") || kind.starts_with("update_step");
}

bool accc::tool::evaluates(std::string_view entry) {
  const std::string_view kind = kindOf(entry);
  return kind == "eval_step" || kind == "average_eval_step";
}

std::vector<std::string> accc::tool::stepNamesOf(const Model &model) {
  std::vector<std::string> names;
  for (const accc_entry &entry : model.entries()) {
    std::string_view name = entry.name, kind = kindOf(name);
    std::string step(name.substr(std::min(kind.size() + 1, name.size())));
    if (std::find(names.begin(), names.end(), step) == names.end())
      names.push_back(step);
  }
  return names;
}

std::string accc::tool::entryNameOf(std::string_view kind, const std::string &step) {
  return std::string(kind) + (step.empty() ? "" : ".") + step;
}

bool accc::tool::isGradientName(const std::string &name) {
  return name.starts_with("grad.") ||
         (name.starts_with("grad_step.") && name.find(" grad.") != std::string::npos);
}

bool accc::tool::isLossesName(const std::string &name) {
  return name == "losses" || name.starts_with("losses.");
}

bool accc::tool::isAveragedName(const std::string &name) {
  return name.starts_with("average_eval_step");
}

// ---- Running ----

TensorMap accc::tool::variablesOf(Session &session) {
  TensorMap values;
  for (const accc_variable &variable : session.model().variables())
    values.emplace(variable.tensor.name, session.variable(variable.tensor.name).clone());
  return values;
}

void accc::tool::setVariables(Session &session, const TensorMap &values) {
  for (const accc_variable &variable : session.model().variables()) {
    const Tensor *value = find(values, variable.tensor.name);
    if (value && to_string(value->dtype(), value->shape()) == to_string(variable.tensor))
      session.set_variable(variable.tensor.name, *value);
  }
}

TensorMap accc::tool::randomInputsAt(const Model &model, std::string_view sizes) {
  TensorMap inputs;
  for (const accc_entry &entry : model.entries())
    if ((entry.sizes == sizes || !*entry.sizes) && !updatesAlone(entry.name))
      inputs.merge(randomInputs(entry, 42));
  return inputs;
}

static TensorMap outputsOf(const Result &result, const std::string &prefix) {
  TensorMap outputs;
  for (const auto &[name, tensor] : result.tensors())
    outputs.emplace(prefix + name, tensor.clone());
  return outputs;
}

static std::string prefixOf(const std::string &entry, const std::string &step) {
  return step.empty() ? "" : entry + " ";
}

namespace {
/// Runs entry points, each kind from the variables that were there at first.
class Recorder {
public:
  Recorder(Session &session, const TensorMap &inputs, const TrajectoryOptions &options)
      : session(session), inputs(inputs), options(options), steps(stepNamesOf(session.model())),
        initial(variablesOf(session)), count(session.step()) {}

  Trajectory record() {
    trajectory.initial = initial;
    for (const accc_variable &variable : session.model().variables())
      if (variable.role == ACCC_OPTIMIZER_STATE)
        trajectory.states.insert(variable.tensor.name);
    for (const std::string &step : steps)
      if (begins("eval_step", step))
        add(trajectory.outputs, session.run(entry, inputs), entry + " ");
    for (const std::string &step : steps)
      if (begins("grad_step", step))
        add(trajectory.gradients, session.run(entry, inputs), prefixOf(entry, step));
    for (const std::string &step : steps)
      apply(step);
    for (const std::string &step : steps)
      accumulate(step);
    train();
    return std::move(trajectory);
  }

private:
  bool has(const char *kind, const std::string &step) {
    entry = entryNameOf(kind, step);
    return options.entries.contains(entry);
  }

  bool begins(const char *kind, const std::string &step) {
    if (!has(kind, step))
      return false;
    if (!untouched) {
      setVariables(session, initial);
      session.set_step(count);
    }
    untouched = false;
    return true;
  }

  static void add(TensorMap &tensors, const Result &result, const std::string &prefix) {
    for (auto &[name, tensor] : outputsOf(result, prefix))
      tensors.insert_or_assign(name, tensor);
  }

  void apply(const std::string &step) {
    const TensorMap &all = options.gradients ? *options.gradients : trajectory.gradients;
    const std::string prefix = prefixOf(entryNameOf("grad_step", step), step);
    TensorMap given;
    for (const auto &[name, tensor] : all)
      if (name.starts_with(prefix + "grad."))
        given.emplace(name.substr(prefix.size()), tensor);
    if (given.empty() || !begins("apply_step", step))
      return;
    session.run(entry, given).wait();
    keepApplied();
  }

  void accumulate(const std::string &step) {
    if (!has("update_step", step) || !begins("accumulate_step", step))
      return;
    for (int batch = 0; batch < 2; ++batch)
      session.run(entry, inputs).wait();
    entry = entryNameOf("update_step", step);
    session.run(entry, {}).wait();
    keepApplied();
  }

  void keepApplied() {
    for (auto &[name, tensor] : variablesOf(session))
      trajectory.applied.emplace(entry + " " + name, std::move(tensor));
  }

  void train() {
    std::map<std::string, std::pair<DType, std::vector<double>>> losses;
    bool began = false;
    for (int64_t i = 0; i < options.steps; ++i)
      for (const std::string &step : steps) {
        if (began ? !has("train_step", step) : !begins("train_step", step))
          continue;
        began = true;
        Result result = session.run(entry, inputs);
        result.wait();
        if (!result.has_loss()) // a training step of the model's own may have none
          continue;
        auto &[type, values] = losses[entryNameOf("losses", step)];
        type = result["loss"].dtype();
        values.push_back(result.loss());
      }
    if (!began)
      return;
    for (const auto &[name, losses] : losses) {
      const auto &[type, values] = losses;
      trajectory.losses.emplace(
          name, Tensor::of<double>({options.steps}, std::span<const double>(values)).to(type));
    }
    trajectory.variables = variablesOf(session);
    for (const std::string &step : steps)
      if (has("average_eval_step", step))
        add(trajectory.averaged, session.run(entry, inputs), entry + " ");
  }

  Session &session;
  const TensorMap &inputs;
  const TrajectoryOptions &options;
  const std::vector<std::string> steps;
  const TensorMap initial;
  const int64_t count;
  bool untouched = true;
  std::string entry;
  Trajectory trajectory;
};
} // namespace

Trajectory accc::tool::record(Session &session, const TensorMap &inputs,
                              const TrajectoryOptions &options) {
  return Recorder(session, inputs, options).record();
}

// ---- Comparing ----

/// In the order of Trajectory.
static constexpr TensorMap Trajectory::*kParts[] = {&Trajectory::outputs,   &Trajectory::gradients,
                                                    &Trajectory::applied,   &Trajectory::losses,
                                                    &Trajectory::variables, &Trajectory::averaged};

/// How far a variable is from what it was before training.
static std::optional<double> updateOf(const Trajectory &trajectory, const std::string &name,
                                      const Tensor &value) {
  const Tensor *before = find(trajectory.initial, name);
  if (!before)
    return std::nullopt;
  return distance(*before, value);
}

Updates accc::tool::updatesOf(const Trajectory &trajectory, const std::string &prefix) {
  Updates updates;
  for (const auto &[name, value] : trajectory.variables)
    if (auto update = updateOf(trajectory, name, value);
        update && !trajectory.states.contains(name))
      updates.emplace(prefix + name, *update);
  return updates;
}

static std::string nameIn(size_t part, const std::string &name) {
  return std::to_string(part) + " " + name;
}

TensorMap accc::tool::allOf(const Trajectory &trajectory) {
  TensorMap all;
  for (size_t part = 0; part < std::size(kParts); ++part)
    for (const auto &[name, tensor] : trajectory.*kParts[part])
      all.emplace(nameIn(part, name), tensor);
  return all;
}

/// The variable's name of "apply_step <variable>".
static std::string withoutEntry(const std::string &name) {
  return updatesAlone(name) ? name.substr(name.find(' ') + 1) : name;
}

/// The rule for a tensor of a part.
static auto ruleFor(const TensorMap Trajectory::*part, const std::string &name,
                    const Trajectory &expected) {
  bool isVariable = part == &Trajectory::variables || part == &Trajectory::applied;
  return isVariable && expected.states.contains(withoutEntry(name)) ? judgeState
         : isVariable                                               ? judgeUpdate
         : part == &Trajectory::gradients && isGradientName(name)   ? judgeGradient
                                                                    : judge;
}

void accc::tool::compareTrajectories(const Trajectory &found, const Trajectory &expected,
                                     const std::string &prefix, double tolerance,
                                     const std::function<std::map<std::string, double>()> &measure,
                                     std::vector<Verdict> &verdicts) {
  std::optional<std::map<std::string, double>> noise;
  for (size_t part = 0; part < std::size(kParts); ++part)
    for (const auto &[name, tensor] : expected.*kParts[part]) {
      const Tensor *result = find(found.*kParts[part], name);
      auto rule = ruleFor(kParts[part], name, expected);
      Measured measured{.noise = 0};
      if (rule == judgeUpdate)
        measured.update = updateOf(expected, withoutEntry(name), tensor);
      Verdict verdict = rule(prefix + name, result, tensor, measured, tolerance);
      if (verdict.how == "FAILED" && tolerance > 0) {
        if (!noise)
          noise = measure();
        measured.noise = (*noise)[nameIn(part, name)];
        verdict = rule(prefix + name, result, tensor, measured, tolerance);
      }
      verdicts.push_back(std::move(verdict));
    }
}
