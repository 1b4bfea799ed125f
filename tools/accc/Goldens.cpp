// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Goldens.h"

#include "Comparison.h"

#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

GoldenMeta accc::tool::readGoldenMeta(const std::string &path, const std::string &model) {
  fs::path folder = path;
  std::ifstream file(folder / "meta.json");
  auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::usage,
                (folder / "meta.json").string() + " is missing or no JSON object");
  GoldenMeta meta;
  try {
    meta.loss = json.value("loss", "");
    meta.optimizer = json.value("optimizer", "");
    meta.learningRate = json.value("lr", meta.learningRate);
    meta.steps = json.value("steps", meta.steps);
    meta.dropout = json.value("dropout", false);
    meta.lossMean = json.value("loss_mean", 0.0);
    meta.lossDeviation = json.value("loss_std", 0.0);
    const auto dimensions = json.value("dims", nlohmann::json::object());
    for (const auto &[name, size] : dimensions.items())
      meta.dimensions[name] = {size.get<int64_t>()};
    const auto files = json.value("files", nlohmann::json::array());
    for (const auto &entry : files) {
      const auto frozen = entry.value("freeze", nlohmann::json::array());
      if (entry.value("file", "") == fs::path(model).filename().string())
        for (const auto &name : frozen) {
          std::string exact = "^";
          for (char c : name.get<std::string>()) {
            if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_')
              exact += '\\';
            exact += c;
          }
          meta.freeze.push_back(exact + "$");
        }
    }
  } catch (const nlohmann::json::exception &error) {
    throw Error(ErrorKind::data, (folder / "meta.json").string() + ": " + error.what());
  }
  return meta;
}

static const Tensor *find(const TensorMap &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

/// The first step's outputs, loss and gradients, then losses and parameters of all steps.
static TensorMap runAsGoldens(const Model &model, const TensorMap &inputs, const GoldenMeta &meta) {
  SessionOptions settings;
  settings.learning_rate = static_cast<float>(meta.learningRate);
  TensorMap results;
  {
    Session session(model, settings);
    const char *entry = model.find_entry("grad_step") ? "grad_step" : "eval_step";
    for (const auto &[name, tensor] : session.run(entry, inputs).tensors())
      results.emplace(name, tensor.clone());
  }
  if (!model.find_entry("train_step"))
    return results;
  Session session(model, settings);
  std::vector<float> losses;
  for (int64_t step = 0; step < meta.steps; ++step)
    losses.push_back(session.run("train_step", inputs).loss());
  results.emplace("losses", Tensor::of<float>({meta.steps}, std::span<const float>(losses)));
  for (const accc_variable &variable : model.variables())
    if (variable.role != ACCC_OPTIMIZER_STATE)
      results.emplace(std::string("param.") + variable.tensor.name,
                      session.variable(variable.tensor.name).clone());
  return results;
}

/// Holds results against the goldens, without those that `leftOut` says were not asked for.
static int judgeGoldens(const std::string &subject, const GoldenOptions &options,
                        const GoldenMeta &meta, const TensorMap &results,
                        const std::function<bool(const std::string &)> &leftOut = {}) {
  fs::path folder = options.folder;
  std::vector<Verdict> verdicts;
  if (meta.dropout) {
    // No two implementations draw the same masks; the loss must lie where losses lie.
    Verdict verdict{.name = "loss", .shape = "f32[]"};
    const Tensor *found = find(results, "loss");
    if (!found)
      throw Error(ErrorKind::data, subject + " has no loss");
    double loss = found->item<float>();
    verdict.worst = std::abs(loss - meta.lossMean);
    verdict.relative = verdict.worst / std::abs(meta.lossMean);
    verdict.how = verdict.worst <= 6 * meta.lossDeviation ? "rmse" : "FAILED";
    verdicts.push_back(verdict);
  } else {
    TensorMap goldens = load_safetensors(folder / "golden.safetensors"), exact;
    if (fs::exists(folder / "golden64.safetensors"))
      exact = load_safetensors(folder / "golden64.safetensors");
    // Forward, backward, update: the first bad tensor is then the nearest to the cause.
    auto rank = [](const std::string &name) {
      return name.starts_with("param.") ? 3 : name == "losses" ? 2 : name.starts_with("grad.");
    };
    for (int group = 0; group < 4; ++group)
      for (const auto &[name, golden] : goldens)
        if (rank(name) == group && !(leftOut && leftOut(name)))
          verdicts.push_back(
              judge(name, find(results, name), golden, find(exact, name), options.tolerance));
  }
  return printVerdicts(verdicts, options.failedOnly) ? int(ErrorKind::data) : 0;
}

int accc::tool::diffGoldens(const std::string &library, const GoldenOptions &options) {
  GoldenMeta meta = readGoldenMeta(options.folder, library);
  TensorMap inputs = load_safetensors(fs::path(options.folder) / "inputs.safetensors");
  return judgeGoldens(library, options, meta, runAsGoldens(Model::load(library), inputs, meta));
}

int accc::tool::diffResults(const std::string &results, const std::string &params,
                            const GoldenOptions &options) {
  GoldenMeta meta = readGoldenMeta(options.folder, results);
  TensorMap found = load_safetensors(results);
  if (!params.empty())
    for (const auto &[name, tensor] : load_safetensors(params))
      found.emplace("param." + name, tensor);
  return judgeGoldens(results, options, meta, found, [&](const std::string &name) {
    return name == "losses" || (name.starts_with("param.") && params.empty());
  });
}
