// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Driver.h"

#include "driver/CustomOps.h"
#include "driver/Files.h"
#include "driver/Outputs.h"
#include "driver/Pipeline.h"
#include "driver/Sizes.h"
#include "driver/TrainingSteps.h"
#include "support/Suggest.h"
#include "training/WeightAverage.h"
#include "training/loss/Loss.h"
#include "training/optimizer/LossScale.h"
#include "training/optimizer/ParameterGroups.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace accc;

/// Reads all that is said about training; `need` takes the errors.
static void checkTraining(const CompileOptions &options,
                          llvm::function_ref<void(llvm::Error)> need) {
  auto steps = readTrainingSteps(options);
  if (!steps)
    return need(steps.takeError());
  for (const TrainingOptions &step : *steps) {
    if (!step.loss.empty())
      need(parseLoss(step.loss).takeError());
    if (!step.optimizer.empty())
      need(ParameterGroups::parse(step.optimizer, step.groups).takeError());
    if (!step.average.empty())
      need(parseWeightAverage(step.average).takeError());
    if (!step.lossScale.empty() && &step == &steps->front()) // that of all
      need(parseLossScale(step.lossScale).takeError());
    for (const std::string &text : step.train)
      need(NamePattern::parse("--train", text).takeError());
  }
  if (!options.parameterGroups.empty() && options.optimizers.empty())
    need(
        llvm::createStringError(std::errc::invalid_argument,
                                "--param-group needs an --optimizer, whose parameters it divides"));
  for (const std::string &text : options.freeze)
    need(NamePattern::parse("--freeze", text).takeError());
}

/// The files that the options name to be read.
static std::vector<std::string> filesOf(const CompileOptions &options) {
  std::vector<std::string> files = {options.model};
  llvm::append_range(files, options.customOps);
  if (auto steps = readTrainingSteps(options)) {
    for (const TrainingOptions &step : *steps)
      if (auto loss = parseLoss(step.loss))
        llvm::append_range(files, loss->files);
      else
        llvm::consumeError(loss.takeError()); // checkTraining() tells of it
  } else {
    llvm::consumeError(steps.takeError());
  }
  return files;
}

std::vector<Problem> accc::checkOptions(const CompileOptions &options) {
  std::vector<Problem> problems;
  auto add = [&](const std::string &message) {
    problems.push_back({.message = message, .fault = Fault::Usage});
  };
  auto need = [&](llvm::Error error) {
    llvm::handleAllErrors(std::move(error),
                          [&](const llvm::ErrorInfoBase &each) { add(each.message()); });
  };
  checkTraining(options, need);
  for (const auto &[name, sizes] : options.dimensions)
    for (int64_t size : sizes)
      if (llvm::count(sizes, size) > 1) {
        add("-D " + name + " names " + std::to_string(size) + " twice");
        break;
      }
  if (countSizes(options) > kMaxSizes)
    add("-D: each size of a dimension with each of the others makes more than the " +
        std::to_string(kMaxSizes) + " that one library can hold; compile several");
  auto needOneOf = [&](const char *option, const std::string &name,
                       const std::vector<std::string> &names) {
    if (!llvm::is_contained(names, name))
      add(std::string(option) + " " + name + ": there are " + llvm::join(names, ", ") +
          didYouMean(name, names));
  };
  needOneOf("--precision", options.precision, {"fp32", "tf32", "bf16", "fp16"});
  llvm::Expected<std::vector<TargetChoice>> choices = chooseTargets(options.targets, options.archs);
  bool hasTf32 = false, hasAttention = false, created = static_cast<bool>(choices);
  for (const TargetChoice &choice : choices ? *choices : std::vector<TargetChoice>()) {
    llvm::Expected<std::unique_ptr<Target>> target = createTarget(choice.target, choice.archs);
    hasTf32 |= target && (*target)->hasTf32();
    hasAttention |= target && (*target)->hasAttention();
    created &= static_cast<bool>(target);
    need(target.takeError());
  }
  need(choices.takeError());
  if (created && options.precision == "tf32" && !hasTf32)
    add("--precision tf32: --target " + llvm::join(options.targets, ",") +
        " has no TF32 arithmetic; use fp32, or --target cuda");
  if (created && options.libraryAttention.value_or(false) && !hasAttention)
    add("--library-attention: --target " + llvm::join(options.targets, ",") +
        " has no library that runs attention whole; use --target cuda");
  need(loadCustomOperators(options.customOps).takeError());
  if (!options.weights.empty())
    needOneOf("--weights", options.weights, {"embed", "beside", "none"});
  if (!options.runningVariance.empty())
    needOneOf("--running-variance", options.runningVariance, {"biased", "unbiased"});
  if (!options.stopAfter.empty())
    needOneOf("--stop-after", options.stopAfter, phaseNames());
  if (options.output.empty() && (options.stopAfter.empty() || options.stopAfter == "generate"))
    add("-o LIB.so is missing");
  llvm::sys::fs::file_status status;
  std::error_code error = llvm::sys::fs::status(options.model, status);
  if (error == std::errc::no_such_file_or_directory)
    add(options.model + ": there is no such file");
  else if (error)
    problems.push_back(
        {.message = options.model + ": " + error.message(), .fault = Fault::Machine});
  else if (!llvm::sys::fs::is_regular_file(options.model))
    add(options.model + ": is a folder, a device or a pipe; a model is read from a regular file");
  for (const std::string &problem : findOverwritten(options, filesOf(options)))
    add(problem);
  return problems;
}

/// Of wrong options, or of a machine that does not let the model be read.
static ExitCode codeOf(const std::vector<Problem> &problems) {
  ExitCode code = ExitCode::Usage;
  for (const Problem &problem : problems)
    code = std::max(code, exitCodeFor(problem.fault));
  return code;
}

static Outcome finish(Compilation &c, ExitCode code) {
  Outcome outcome;
  outcome.code = code;
  outcome.problems = c.problems.take();
  outcome.reproducer = c.reproducer;
  return outcome;
}

/// What comes with a library cannot be asked for without one.
static void checkStopped(const CompileOptions &options, std::vector<Problem> &problems) {
  if (options.stopAfter.empty() || options.stopAfter == "generate")
    return;
  for (auto [option, value] :
       {std::pair("--header", &options.header), std::pair("--report", &options.report),
        std::pair("--weights", &options.weights)})
    if (!value->empty())
      problems.push_back({.message = std::string(option) + " " + *value +
                                     ": it comes with the library, and --stop-after " +
                                     options.stopAfter + " makes none",
                          .fault = Fault::Usage});
}

Outcome accc::compileModel(const CompileOptions &options, const Progress &progress) {
  std::vector<Problem> problems = checkOptions(options);
  checkStopped(options, problems);
  if (!problems.empty())
    return {.code = codeOf(problems), .problems = std::move(problems)};

  MLIRContext context;
  registerDialects(context);
  Compilation compilation(context, options);
  ExitCode code = runPipeline(compilation, options.stopAfter, progress);
  bool stopped = !options.stopAfter.empty() && options.stopAfter != "generate";
  if (code == ExitCode::Done && !stopped &&
      (failed(writeReport(compilation)) || failed(publishOutputs(compilation))))
    code = ExitCode::Machine;
  Outcome outcome = finish(compilation, code);
  if (code == ExitCode::Done && stopped) {
    outcome.text = printModel(compilation);
    if (!options.output.empty()) {
      if (llvm::Error error = writeTextAtomically(options.output, outcome.text)) {
        outcome.problems.push_back(
            {.message = llvm::toString(std::move(error)), .fault = Fault::Machine});
        outcome.code = ExitCode::Machine;
      }
      outcome.text.clear();
    }
  }
  return outcome;
}

/// Whether a model can be looked at in spite of what is wrong with the options.
static bool canBeChecked(const CompileOptions &options) {
  llvm::Expected<std::vector<TargetChoice>> choices = chooseTargets(options.targets, options.archs);
  bool good = static_cast<bool>(choices);
  for (const TargetChoice &choice : good ? *choices : std::vector<TargetChoice>()) {
    llvm::Expected<std::unique_ptr<Target>> target = createTarget(choice.target, choice.archs);
    good &= static_cast<bool>(target);
    llvm::consumeError(target.takeError());
  }
  llvm::consumeError(choices.takeError());
  llvm::Expected<prim::CustomOperators> customOperators = loadCustomOperators(options.customOps);
  good &= static_cast<bool>(customOperators);
  llvm::consumeError(customOperators.takeError());
  auto steps = readTrainingSteps(options);
  good &= static_cast<bool>(steps);
  llvm::consumeError(steps.takeError());
  return good && countSizes(options) <= kMaxSizes && llvm::sys::fs::is_regular_file(options.model);
}

/// "batch=32 seq=32"
static std::string atSize(const std::vector<std::string> &dimensions, int64_t size) {
  std::string text;
  for (const std::string &name : dimensions)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(size);
  return text;
}

/// Of a model that was not imported because its options give some open dimensions no size, or
/// dimensions that it does not have: what is wrong with it at the right sizes. Those that are not
/// known are tried: what is wrong at each of two sizes, in the same words, does not depend on them.
static void checkAtOtherSizes(const CompileOptions &options, Compilation &c) {
  constexpr int64_t kTrialSizes[] = {32, 48};
  const std::vector<std::string> &missing = c.wrongSizes.missing;
  std::vector<Problem> common;
  bool isImported = true;
  for (int64_t size : kTrialSizes) {
    CompileOptions sized = options;
    for (const std::string &name : c.wrongSizes.unknown)
      sized.dimensions.erase(name);
    for (const std::string &name : missing)
      sized.dimensions[name] = {size};
    MLIRContext context;
    registerDialects(context);
    Compilation trial(context, sized);
    runPipeline(trial, "trainable", {});
    isImported &= trial.module || !trial.models.empty();
    std::vector<Problem> found = trial.problems.take();
    if (size == kTrialSizes[0])
      common = std::move(found);
    else
      std::erase_if(common, [&](const Problem &p) { return !llvm::is_contained(found, p); });
    if (missing.empty())
      break; // nothing is tried
  }
  for (Problem &problem : common)
    c.problems.add(std::move(problem));
  if (missing.empty())
    return;
  std::string give;
  for (const std::string &name : missing)
    give += " -D " + name + "=N";
  c.problems.add(
      {.message = "what depends on the sizes of open dimensions was not checked: give" + give +
                  " (other problems were looked for with " + atSize(missing, kTrialSizes[0]) +
                  " and with " + atSize(missing, kTrialSizes[1]) +
                  (isImported ? ")"
                              : "; with these the model cannot be imported, so that loss and "
                                "derivatives were not checked)"),
       .severity = Problem::Severity::Warning});
}

Outcome accc::checkModel(const CompileOptions &options, const Progress &progress) {
  constexpr const char *kLastPhase = "merge";
  CompileOptions checked = options;
  if (checked.output.empty() && checked.stopAfter.empty())
    checked.stopAfter = kLastPhase;
  std::vector<Problem> problems = checkOptions(checked);
  if (!problems.empty() && !canBeChecked(checked))
    return {.code = codeOf(problems), .problems = std::move(problems)};

  for (std::string *file : {&checked.output, &checked.header, &checked.report, &checked.dumpDir})
    file->clear();
  MLIRContext context;
  registerDialects(context);
  Compilation compilation(context, checked);
  for (Problem &problem : problems)
    compilation.problems.add(problem);
  ExitCode code = runPipeline(compilation, kLastPhase, progress);
  if (!compilation.wrongSizes.missing.empty() || !compilation.wrongSizes.unknown.empty())
    checkAtOtherSizes(checked, compilation);
  return finish(compilation, problems.empty() ? code : std::max(code, codeOf(problems)));
}
