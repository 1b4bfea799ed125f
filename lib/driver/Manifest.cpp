// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Manifest.h"

#include "driver/Driver.h"
#include "target/TargetChoice.h"
#include "training/loss/Loss.h"
#include "training/optimizer/Optimizer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace accc;

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
  if (!notes.damage.empty() && !options.loss.empty())
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
  if (options.memoryBudget != 0)
    manifest["memory_budget"] = options.memoryBudget;
  llvm::json::Object hashes;
  for (const auto &[name, hash] : files)
    hashes[name] = hash;
  manifest["model_xxh128"] = std::move(hashes);
  if (!options.loss.empty()) {
    manifest["loss"] = options.loss;
    if (auto choice = parseLoss(options.loss))
      manifest["loss_options"] = describeSettings(choice->settings);
    else
      llvm::consumeError(choice.takeError());
  }
  if (!options.optimizer.empty()) {
    manifest["optimizer"] = options.optimizer;
    if (auto optimizer = parseOptimizer(options.optimizer)) {
      manifest["learning_rate"] = (*optimizer)->learningRate;
      manifest["optimizer_options"] = describeSettings((*optimizer)->settings);
    } else
      llvm::consumeError(optimizer.takeError());
  }
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
  add("--loss", options.loss);
  add("--optimizer", options.optimizer);
  auto [targets, archs] = describeTargets(options);
  add("--target", targets);
  add("--arch", archs);
  add("--precision", options.precision);
  for (const std::string &expression : options.freeze)
    add("--freeze", expression);
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
  if (options.memoryBudget != 0)
    add("--memory-budget", std::to_string(options.memoryBudget));
  add("--weights", options.weights);
  return text;
}
