// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/TrainingSteps.h"

#include "training/WeightAverage.h"
#include "training/loss/Loss.h"
#include "training/optimizer/Optimizer.h"

#include "llvm/ADT/StringExtras.h"

using namespace accc;
using llvm::StringRef;

std::vector<std::string> accc::knownLosses() { return lossNames(); }

std::vector<std::string> accc::knownOptimizers() { return optimizerNames(); }

namespace {
/// `text` of an option, as in [step=]text.
struct Named {
  StringRef step, text;
};
} // namespace

static bool isIdentifier(StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The name of a step stands before what `isSpec` knows, and is none of this itself.
static Named splitSpec(StringRef text, bool (*isSpec)(StringRef)) {
  auto [name, rest] = text.split('=');
  auto first = [](StringRef spec) {
    return spec.take_until([](char c) { return c == '=' || c == ','; });
  };
  bool isNamed = isIdentifier(name) && !isSpec(name) && isSpec(first(rest));
  return isNamed ? Named{name, rest} : Named{"", text};
}

static bool isLossSpec(StringRef name) { return isLoss(name) || name.starts_with("output:"); }

namespace {
class StepReader {
public:
  explicit StepReader(const CompileOptions &options) : options(options) {}

  llvm::Expected<std::vector<TrainingOptions>> read(const OtherNames &otherNames) {
    readLosses();
    for (TrainingOptions &step : steps) {
      step.freeze = options.freeze;
      step.groups = options.parameterGroups;
      step.otherNames = otherNames;
      step.lossOnly = options.lossOnly;
      step.accumulates = options.accumulateGradients;
      step.dataParallel = options.dataParallel;
      step.syncsBatchNorm = options.syncBatchNorm;
      step.isLossScaleImplied = options.lossScale.empty() && options.precision == "fp16";
      if (step.isLossScaleImplied)
        step.lossScale = "dynamic";
      else if (options.lossScale != "none")
        step.lossScale = options.lossScale;
    }
    readSpecs("--optimizer", options.optimizers, isOptimizer, &TrainingOptions::optimizer);
    readSpecs("--average-weights", options.averages, isWeightAverage, &TrainingOptions::average);
    readTrained();
    llvm::Error all = llvm::Error::success();
    for (const std::string &error : errors)
      all = llvm::joinErrors(std::move(all), llvm::createStringError(llvm::Twine(error)));
    if (all)
      return std::move(all);
    return std::move(steps);
  }

private:
  void readLosses() {
    for (StringRef text : options.losses) {
      auto [name, spec] = splitSpec(text, isLossSpec);
      if (!name.empty() && find(name))
        errors.push_back("--loss " + text.str() + ": the step '" + name.str() + "' has a loss");
      steps.emplace_back().name = name.str();
      steps.back().loss = spec.str();
    }
    if (steps.empty())
      steps.emplace_back();
    if (steps.size() > 1)
      for (const TrainingOptions &step : steps)
        if (step.name.empty())
          errors.push_back(
              "--loss " + step.loss +
              ": of several losses each needs a name for its step, as in --loss d=" + step.loss);
  }

  /// Those of an option of which a step has one, its own or the one for all.
  void readSpecs(const std::string &option, const std::vector<std::string> &texts,
                 bool (*isSpec)(StringRef), std::string TrainingOptions::*member) {
    std::string common;
    llvm::StringMap<std::string> named;
    for (StringRef text : texts) {
      auto [name, spec] = splitSpec(text, isSpec);
      std::string &known = name.empty() ? common : named[name];
      if (!known.empty())
        errors.push_back(option + " " + text.str() + ": there is " + option + " " +
                         (name.empty() ? "" : name.str() + "=") + known + ", too");
      else if (!name.empty() && !find(name))
        errors.push_back(option + " " + text.str() + ": there is no step '" + name.str() +
                         "', which needs a --loss " + name.str() + "=...");
      known = spec.str();
    }
    for (TrainingOptions &step : steps) {
      auto own = step.name.empty() ? named.end() : named.find(step.name);
      step.*member = own == named.end() ? common : own->second;
    }
  }

  void readTrained() {
    for (StringRef text : options.train) {
      auto [name, rest] = text.split('=');
      TrainingOptions *only = name.empty() ? nullptr : find(name);
      // An expression, too; but who means a step that is not there gets another one trained.
      if (!only && isIdentifier(name) && text.contains('='))
        errors.push_back("--train " + text.str() + ": there is no step '" + name.str() +
                         "', which needs a --loss " + name.str() +
                         "=...; for parameters with '=' in their names write " + name.str() +
                         "[=]" + rest.str());
      for (TrainingOptions &step : steps)
        if (!only || only == &step)
          step.train.push_back(only ? rest.str() : text.str());
    }
  }

  TrainingOptions *find(StringRef name) {
    for (TrainingOptions &step : steps)
      if (step.name == name)
        return &step;
    return nullptr;
  }

  const CompileOptions &options;
  std::vector<TrainingOptions> steps;
  std::vector<std::string> errors;
};
} // namespace

llvm::Expected<std::vector<TrainingOptions>> accc::readTrainingSteps(const CompileOptions &options,
                                                                     const OtherNames &otherNames) {
  return StepReader(options).read(otherNames);
}
