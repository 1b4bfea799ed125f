// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TargetDiff.h"

#include "Command.h"
#include "Noise.h"
#include "Trajectory.h"

#include <algorithm>

using namespace accc;
using namespace accc::tool;

/// Of a library's codes, the best first.
static std::vector<std::string> targetsOf(const Model &model) {
  std::vector<std::string> targets;
  const accc_model_description &description = model.description();
  for (int32_t i = 0; i < description.num_codes; ++i)
    if (std::find(targets.begin(), targets.end(), description.codes[i]->target) == targets.end())
      targets.emplace_back(description.codes[i]->target);
  return targets;
}

void accc::tool::diffTargets(const std::string &library, const RunSettings &settings,
                             DiffReport &report) {
  std::vector<std::string> targets = targetsOf(Model::describe(library));
  if (targets.size() < 2)
    throw Error(ErrorKind::usage, library + " was compiled for " + targets.front() +
                                      " alone: compile it with --target A,B to compare targets");
  Model reference = Model::load(library, targets.back());
  Session session(reference);
  fillWeights(session, settings.params);
  const TensorMap initial = variablesOf(session);
  TensorMap given;
  std::vector<std::string_view> allSizes = reference.sizes();
  if (!settings.inputs.empty()) {
    given = load_safetensors(settings.inputs);
    allSizes = {session.choose(reference.entries().front().name, given).sizes};
  }

  TrajectoryOptions run{.steps = settings.steps};
  for (const accc_entry &entry : reference.entries())
    run.entries.insert(entry.name);
  Section section{.name = "numbers"};
  for (std::string_view sizes : allSizes) {
    TensorMap inputs = settings.inputs.empty() ? randomInputsAt(reference, sizes) : given;
    auto recordOn = [&](const std::string &target, const TensorMap *gradients) {
      Session own(Model::load(library, target));
      setVariables(own, initial);
      TrajectoryOptions same = run;
      same.gradients = gradients;
      return record(own, inputs, same);
    };
    Trajectory expected = recordOn(targets.back(), nullptr);
    auto measure = [&] {
      Session own(reference);
      return measureNoise(own, initial, inputs, run, expected, allOf);
    };
    for (size_t i = 0; i + 1 < targets.size(); ++i) {
      section.notes.push_back(targets[i] + " against " + targets.back() +
                              (sizes.empty() ? "" : " at " + std::string(sizes)));
      std::string prefix = targets.size() > 2 ? targets[i] + " " : "";
      if (!sizes.empty())
        prefix += std::string(sizes) + " ";
      compareTrajectories(recordOn(targets[i], &expected.gradients), expected, prefix,
                          report.tolerance, measure, section.tensors);
    }
  }
  report.add(std::move(section));
}
