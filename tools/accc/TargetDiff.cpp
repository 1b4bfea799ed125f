// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TargetDiff.h"

#include "Command.h"
#include "Comparison.h"

#include <algorithm>
#include <cmath>

using namespace accc;
using namespace accc::tool;

namespace {

/// Of a library's codes, the best first.
std::vector<std::string> targetsOf(const Model &model) {
  std::vector<std::string> targets;
  const accc_model_description &description = model.description();
  for (int32_t i = 0; i < description.num_codes; ++i)
    if (std::find(targets.begin(), targets.end(), description.codes[i]->target) == targets.end())
      targets.emplace_back(description.codes[i]->target);
  return targets;
}

/// What one target computes at one choice of sizes, by the order in which errors spread.
struct Trace {
  TensorMap outputs, gradients, losses, variables;
};

Trace run(Session &session, std::string_view sizes, const TensorMap &inputs, int64_t steps) {
  Trace trace;
  const Model &model = session.model();
  if (model.find_entry("eval_step", sizes))
    for (const auto &[name, tensor] : session.run("eval_step", inputs).tensors())
      trace.outputs.emplace("eval_step " + name, tensor.clone());
  if (model.find_entry("grad_step", sizes))
    for (const auto &[name, tensor] : session.run("grad_step", inputs).tensors())
      trace.gradients.emplace(name, tensor.clone());
  if (!model.find_entry("train_step", sizes))
    return trace;
  std::vector<float> losses;
  for (int64_t step = 0; step < steps; ++step)
    losses.push_back(session.run("train_step", inputs).loss());
  trace.losses.emplace("losses", Tensor::of<float>({steps}, std::span<const float>(losses)));
  for (const accc_variable &variable : model.variables())
    trace.variables.emplace(variable.tensor.name, session.variable(variable.tensor.name).clone());
  return trace;
}

/// Where an element's gradient is only rounding (not well above what the targets differ by in this
/// gradient), an optimizer that divides by its size moves the parameter either way: such an element
/// is taken as it is in `expected`. The attention's key bias, whose gradient is 0, is such a
/// tensor.
Tensor withoutNoise(const Tensor &parameter, const Tensor &expected, const Tensor &gradient,
                    const Tensor &expectedGradient) {
  constexpr float wellAbove = 100;
  Tensor result = parameter.clone();
  if (parameter.dtype() != DType::f32 || gradient.dtype() != DType::f32)
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

class Comparer {
public:
  Comparer(const std::string &prefix, const TargetDiffOptions &options,
           std::vector<Verdict> &verdicts)
      : prefix(prefix), options(options), verdicts(verdicts) {}

  void compare(const Trace &trace, const Trace &expected) {
    compare(trace.outputs, expected.outputs);
    compare(trace.gradients, expected.gradients);
    compare(trace.losses, expected.losses);
    for (const auto &[name, variable] : expected.variables) {
      const Tensor &found = trace.variables.at(name);
      std::string gradient = "grad." + name;
      if (auto other = expected.gradients.find(gradient); other != expected.gradients.end())
        judge(name, withoutNoise(found, variable, trace.gradients.at(gradient), other->second),
              variable);
      else
        judge(name, found, variable);
    }
  }

private:
  void compare(const TensorMap &found, const TensorMap &expected) {
    for (const auto &[name, tensor] : expected)
      judge(name, found.at(name), tensor);
  }
  void judge(const std::string &name, const Tensor &found, const Tensor &expected) {
    verdicts.push_back(
        accc::tool::judge(prefix + name, &found, expected, nullptr, options.tolerance));
  }

  std::string prefix;
  const TargetDiffOptions &options;
  std::vector<Verdict> &verdicts;
};

/// Data for all entry points at some sizes.
TensorMap inputsAt(const Model &model, std::string_view sizes) {
  TensorMap inputs;
  for (const accc_entry &entry : model.entries())
    if ((entry.sizes == sizes || !*entry.sizes) && entry.name != std::string_view("apply_step"))
      inputs.merge(randomInputs(entry, 42));
  return inputs;
}

/// Weights and optimizer state as `from` has them.
void copyState(Session &from, Session &to) {
  for (const accc_variable &variable : from.model().variables())
    to.set_variable(variable.tensor.name, from.variable(variable.tensor.name));
}

} // namespace

int accc::tool::diffTargets(const TargetDiffOptions &options) {
  std::vector<std::string> targets = targetsOf(Model::describe(options.library));
  if (targets.size() < 2)
    throw Error(ErrorKind::usage, options.library + " was compiled for " + targets.front() +
                                      " alone: compile it with --target A,B to compare targets");
  Model reference = Model::load(options.library, targets.back());
  SessionOptions settings;
  settings.learning_rate = manifestLearningRate(reference);
  Session initial(reference, settings);
  fillWeights(initial, options.params);
  TensorMap given;
  if (!options.inputs.empty())
    given = load_safetensors(options.inputs);
  std::vector<std::string_view> allSizes = reference.sizes();
  if (!options.inputs.empty())
    allSizes = {initial.choose(reference.entries().front().name, given).sizes};

  std::vector<Verdict> verdicts;
  for (std::string_view sizes : allSizes) {
    TensorMap inputs = options.inputs.empty() ? inputsAt(reference, sizes) : given;
    auto traceOf = [&](const std::string &target) {
      Session session(Model::load(options.library, target), settings);
      copyState(initial, session);
      return run(session, sizes, inputs, options.steps);
    };
    Trace expected = traceOf(targets.back());
    for (size_t i = 0; i + 1 < targets.size(); ++i) {
      std::printf("%s against %s%s%s\n", targets[i].c_str(), targets.back().c_str(),
                  sizes.empty() ? "" : " at ", std::string(sizes).c_str());
      std::string prefix = targets.size() > 2 ? targets[i] + " " : "";
      if (!sizes.empty())
        prefix += std::string(sizes) + " ";
      Comparer(prefix, options, verdicts).compare(traceOf(targets[i]), expected);
    }
  }
  return printVerdicts(verdicts, options.failedOnly) ? static_cast<int>(ErrorKind::data) : 0;
}
