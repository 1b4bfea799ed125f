// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Manifest.h"

#include "driver/Driver.h"
#include "driver/TrainingSteps.h"
#include "target/TargetChoice.h"
#include "training/loss/Loss.h"
#include "training/optimizer/ParameterGroups.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace accc;
using llvm::StringRef;

/// The targets and all their archs, the best target first, as --target and --arch take them.
static std::pair<std::string, std::string> describeTargets(const CompileOptions &options) {
  std::vector<std::string> targets, archs;
  for (const TargetChoice &choice : llvm::cantFail(chooseTargets(options.targets, options.archs))) {
    targets.push_back(choice.target);
    llvm::append_range(archs, choice.archs);
  }
  return {llvm::join(targets, ","), llvm::join(archs, ",")};
}

static llvm::json::Object
describeSettings(llvm::ArrayRef<std::pair<std::string, std::string>> settings) {
  llvm::json::Object object;
  for (const auto &[option, value] : settings)
    object[option] = value;
  return object;
}

/// As --input takes it.
static std::string describeInput(const std::pair<const std::string, InputOption> &input) {
  const auto &[name, type] = input;
  return name + "=" + type.elementType + "[" + llvm::join(type.dimensions, ",") + "]";
}

/// One text as such, several as a list.
static void addTexts(llvm::json::Object &manifest, StringRef key,
                     const std::vector<std::string> &texts) {
  if (texts.size() == 1)
    manifest[key] = texts.front();
  else if (!texts.empty())
    manifest[key] = llvm::json::Array(texts);
}

/// Adds the losses and optimizers, and what is said of parameters.
static void addTraining(llvm::json::Object &manifest, const CompileOptions &options) {
  addTexts(manifest, "loss", options.losses);
  addTexts(manifest, "optimizer", options.optimizers);
  addTexts(manifest, "average_weights", options.averages);
  if (!options.train.empty())
    manifest["train"] = llvm::json::Array(options.train);
  llvm::json::Object losses, optimizers, groups;
  for (const TrainingOptions &step : llvm::cantFail(readTrainingSteps(options))) {
    if (!step.loss.empty())
      losses[step.name] = describeSettings(llvm::cantFail(parseLoss(step.loss)).settings);
    if (step.optimizer.empty())
      continue;
    auto optimizer = llvm::cantFail(ParameterGroups::parse(step.optimizer, step.groups));
    if (!manifest.get("learning_rate"))
      manifest["learning_rate"] = optimizer.getCommon().learningRate;
    optimizers[step.name] = describeSettings(optimizer.getCommon().settings);
    llvm::json::Array described;
    for (const ParameterGroups::Group &group : optimizer.getGroups())
      described.push_back(describeSettings(group.optimizer->settings));
    groups[step.name] = std::move(described);
  }
  auto addOptions = [&](StringRef key, llvm::json::Object &&byStep) {
    if (llvm::json::Value *only = byStep.get(""))
      manifest[key] = std::move(*only);
    else if (!byStep.empty())
      manifest[key] = std::move(byStep);
  };
  addOptions("loss_options", std::move(losses));
  addOptions("optimizer_options", std::move(optimizers));
  if (options.parameterGroups.empty())
    return;
  llvm::json::Array pairs;
  for (const auto &[names, text] : options.parameterGroups)
    pairs.push_back(llvm::json::Array{names, text});
  manifest["param_groups"] = std::move(pairs);
  addOptions("group_options", std::move(groups));
}

/// Adds what the importer says of the export.
static void addNotes(llvm::json::Object &manifest, const CompileOptions &options,
                     const ExportNotes &notes) {
  if (!notes.recovered.empty())
    manifest["recovered"] = llvm::json::Array(notes.recovered);
  llvm::json::Object aliases;
  for (const auto &[name, others] : notes.aliases)
    aliases[name] = llvm::json::Array(others);
  if (!aliases.empty())
    manifest["aliases"] = std::move(aliases);
  if (!notes.damage.empty() && !options.losses.empty())
    manifest["accepted_damage"] = notes.damage;
}

std::string accc::makeManifest(const CompileOptions &options, const InputHashes &files,
                               const ExportNotes &notes) {
  auto [targets, archs] = describeTargets(options);
  llvm::json::Object manifest{
      {"compiler", kCompilerVersion},
      {"model", llvm::sys::path::filename(options.model)},
      {"target", targets},
      {"arch", archs},
      {"precision", options.precision},
  };
  if (options.libraryAttention)
    manifest["library_attention"] = *options.libraryAttention;
  if (!options.lossScale.empty())
    manifest["loss_scale"] = options.lossScale;
  if (options.lossOnly)
    manifest["loss_only"] = true;
  if (options.accumulateGradients)
    manifest["accumulate_gradients"] = true;
  if (options.dataParallel)
    manifest["data_parallel"] = true;
  if (options.syncBatchNorm)
    manifest["sync_batch_norm"] = true;
  if (options.memoryBudget != 0)
    manifest["memory_budget"] = options.memoryBudget;
  llvm::json::Object hashes;
  for (const auto &[name, hash] : files)
    hashes[name] = hash;
  manifest["model_xxh128"] = std::move(hashes);
  addTraining(manifest, options);
  if (!options.inputs.empty()) {
    llvm::json::Array inputs;
    for (const auto &input : options.inputs)
      inputs.push_back(describeInput(input));
    manifest["inputs"] = std::move(inputs);
  }
  llvm::json::Object dimensions;
  for (const auto &[name, sizes] : options.dimensions)
    dimensions[name] = llvm::json::Array(sizes);
  manifest["dimensions"] = std::move(dimensions);
  manifest["freeze"] = llvm::json::Array(options.freeze);
  if (!options.customOps.empty()) {
    llvm::json::Array libraries;
    for (const std::string &library : options.customOps)
      libraries.push_back(llvm::sys::path::filename(library));
    manifest["custom_ops"] = std::move(libraries);
  }
  if (options.assumeDropoutTraining)
    manifest["assume_dropout_training"] = true;
  if (options.assumeBatchNormTraining)
    manifest["assume_batchnorm_training"] = true;
  if (!options.runningVariance.empty())
    manifest["running_variance"] = options.runningVariance;
  addNotes(manifest, options, notes);
  return llvm::formatv("{0}", llvm::json::Value(std::move(manifest)));
}

std::string accc::describeOptions(const CompileOptions &options) {
  std::string text = "accc compile " + llvm::sys::path::filename(options.model).str();
  auto add = [&](const char *name, const std::string &value) {
    if (!value.empty())
      text += std::string(" ") + name + " '" + value + "'";
  };
  auto addAll = [&](const char *name, const std::vector<std::string> &values) {
    for (const std::string &value : values)
      add(name, value);
  };
  addAll("--loss", options.losses);
  addAll("--optimizer", options.optimizers);
  addAll("--average-weights", options.averages);
  addAll("--train", options.train);
  for (const auto &[names, changes] : options.parameterGroups)
    text += " --param-group '" + names + "' '" + changes + "'";
  auto [targets, archs] = describeTargets(options);
  add("--target", targets);
  add("--arch", archs);
  add("--precision", options.precision);
  add("--loss-scale", options.lossScale);
  addAll("--freeze", options.freeze);
  for (const auto &input : options.inputs)
    add("--input", describeInput(input));
  for (const auto &[name, sizes] : options.dimensions) {
    std::string list;
    for (int64_t size : sizes)
      list += (list.empty() ? "" : ",") + std::to_string(size);
    add("-D", name + "=" + list);
  }
  for (const std::string &library : options.customOps)
    add("--custom-ops", llvm::sys::path::filename(library).str());
  if (options.assumeDropoutTraining)
    text += " --assume-dropout-training";
  if (options.assumeBatchNormTraining)
    text += " --assume-batchnorm-training";
  if (options.acceptDamagedExport)
    text += " --accept-damaged-export";
  add("--running-variance", options.runningVariance);
  if (options.libraryAttention)
    text += *options.libraryAttention ? " --library-attention" : " --no-library-attention";
  if (options.lossOnly)
    text += " --loss-only";
  if (options.accumulateGradients)
    text += " --accumulate-gradients";
  if (options.dataParallel)
    text += " --data-parallel";
  if (options.syncBatchNorm)
    text += " --sync-batch-norm";
  if (options.memoryBudget != 0)
    add("--memory-budget", std::to_string(options.memoryBudget));
  add("--weights", options.weights);
  return text;
}
