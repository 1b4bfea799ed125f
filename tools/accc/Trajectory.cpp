// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Trajectory.h"

#include "Command.h"

#include <algorithm>
#include <cmath>

using namespace accc;
using namespace accc::tool;

static const Tensor *find(const TensorMap &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
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
    if ((entry.sizes == sizes || !*entry.sizes) && entry.name != std::string_view("apply_step"))
      inputs.merge(randomInputs(entry, 42));
  return inputs;
}

static TensorMap outputsOf(const Result &result, const std::string &prefix) {
  TensorMap outputs;
  for (const auto &[name, tensor] : result.tensors())
    outputs.emplace(prefix + name, tensor.clone());
  return outputs;
}

Trajectory accc::tool::record(Session &session, const TensorMap &inputs,
                              const TrajectoryOptions &options) {
  Trajectory trajectory;
  for (const accc_variable &variable : session.model().variables())
    if (variable.role == ACCC_OPTIMIZER_STATE)
      trajectory.states.insert(variable.tensor.name);
  const TensorMap initial = variablesOf(session);
  const int64_t step = session.step();
  bool untouched = true;
  auto begins = [&](const char *entry) {
    if (!options.entries.contains(entry))
      return false;
    if (!untouched) {
      setVariables(session, initial);
      session.set_step(step);
    }
    untouched = false;
    return true;
  };
  if (begins("eval_step"))
    trajectory.outputs = outputsOf(session.run("eval_step", inputs), "eval_step ");
  if (begins("grad_step"))
    trajectory.gradients = outputsOf(session.run("grad_step", inputs), "");
  const TensorMap &gradients = options.gradients ? *options.gradients : trajectory.gradients;
  if (!gradients.empty() && begins("apply_step")) {
    TensorMap given;
    for (const auto &[name, tensor] : gradients)
      if (name.starts_with("grad."))
        given.emplace(name, tensor);
    session.run("apply_step", given).wait();
    for (auto &[name, tensor] : variablesOf(session))
      trajectory.applied.emplace("apply_step " + name, std::move(tensor));
  }
  if (begins("train_step")) {
    std::vector<float> losses;
    for (int64_t i = 0; i < options.steps; ++i) {
      Result result = session.run("train_step", inputs);
      result.wait();
      if (result.has_loss()) // a training step of the model's own may have none
        losses.push_back(result.loss());
    }
    if (!losses.empty())
      trajectory.losses.emplace("losses",
                                Tensor::of<float>({options.steps}, std::span<const float>(losses)));
    trajectory.variables = variablesOf(session);
  }
  return trajectory;
}

// ---- Comparing ----

Tensor accc::tool::withoutNoise(const Tensor &parameter, const Tensor &expected,
                                const Tensor &gradient, const Tensor &expectedGradient) {
  constexpr float wellAbove = 100;
  Tensor result = parameter.clone();
  for (const Tensor *tensor : {&parameter, &gradient, &expectedGradient})
    if (tensor->dtype() != DType::f32 || tensor->shape() != expected.shape())
      return result;
  auto values = result.data<float>();
  auto found = gradient.data<float>(), right = expectedGradient.data<float>();
  float noise = 0;
  for (size_t i = 0; i < values.size(); ++i)
    noise = std::max(noise, std::abs(found[i] - right[i]));
  for (size_t i = 0; i < values.size(); ++i)
    if (std::abs(right[i]) < wellAbove * noise)
      values[i] = expected.data<float>()[i];
  return result;
}

/// The variable's name of "apply_step <variable>".
static std::string withoutEntry(std::string name) {
  constexpr std::string_view prefix = "apply_step ";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

void accc::tool::compareTrajectories(const Trajectory &found, const Trajectory &expected,
                                     const std::string &prefix, double tolerance,
                                     std::vector<Verdict> &verdicts) {
  for (auto part : {&Trajectory::outputs, &Trajectory::gradients, &Trajectory::applied,
                    &Trajectory::losses, &Trajectory::variables})
    for (const auto &[name, tensor] : expected.*part) {
      const Tensor *result = find(found.*part, name);
      Tensor quiet;
      if (part == &Trajectory::variables && result) {
        const Tensor *gradient = find(found.gradients, "grad." + name);
        const Tensor *expectedGradient = find(expected.gradients, "grad." + name);
        if (gradient && expectedGradient) {
          quiet = withoutNoise(*result, tensor, *gradient, *expectedGradient);
          result = &quiet;
        }
      }
      bool isVariable = part == &Trajectory::variables || part == &Trajectory::applied;
      bool isState = isVariable && expected.states.contains(withoutEntry(name));
      auto rule = isState ? judgeState : judge;
      verdicts.push_back(rule(prefix + name, result, tensor, nullptr, tolerance));
    }
}
