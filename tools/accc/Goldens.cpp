// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Goldens.h"

#include "Command.h"
#include "Json.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

using namespace accc;
using namespace accc::tool;
using nlohmann::json;
namespace fs = std::filesystem;

// ---- meta.json ----

/// With the parts that compareSnapshots() goes into.
static const json &checkedSnapshot(const json &snapshot) {
  for (const char *part :
       {"/manifest", "/interface/entry", "/interface/variable", "/kernels", "/memory/arena bytes"})
    (void)snapshot.at(json::json_pointer(part)).get_ref<const json::object_t &>();
  return snapshot;
}

/// A regular expression for a name.
static std::string exactly(const std::string &name) {
  std::string text = "^";
  for (unsigned char c : name)
    text += std::ispunct(c) ? std::string("\\") + char(c) : std::string(1, char(c));
  return text + "$";
}

/// A text or a list of texts; an empty text is none.
static std::vector<std::string> textsAt(const json &json, const char *name) {
  if (!json.contains(name))
    return {};
  if (json[name].is_array())
    return json[name].get<std::vector<std::string>>();
  auto text = json[name].get<std::string>();
  return text.empty() ? std::vector<std::string>() : std::vector<std::string>{text};
}

/// The whole number of this name, or `otherwise` where there is none. Throws Error (data) where it
/// is something else or less than `least`: a conversion would make another number of it.
static int64_t wholeNumberAt(const json &json, const char *name, int64_t otherwise,
                             int64_t least = std::numeric_limits<int64_t>::min()) {
  auto found = json.find(name);
  if (found == json.end())
    return otherwise;
  const bool fits = found->is_number_unsigned()
                        ? found->get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max())
                        : found->is_number_integer();
  if (!fits || found->get<int64_t>() < least)
    throw Error(ErrorKind::data, std::string(name) + " is " + found->dump() +
                                     (fits ? ": less than " + std::to_string(least)
                                           : ": no whole number of 64 bits"));
  return found->get<int64_t>();
}

static GoldenMeta parseMeta(const json &json, const std::string &model) {
  GoldenMeta meta;
  CompileOptions &compile = meta.compile;
  compile.losses = textsAt(json, "loss");
  compile.optimizers = textsAt(json, "optimizer");
  compile.averages = textsAt(json, "average_weights");
  compile.train = json.value("train", compile.train);
  compile.parameterGroups = json.value("param_groups", compile.parameterGroups);
  compile.precision = json.value("precision", compile.precision);
  compile.assumeDropoutTraining = json.value("assume_dropout_training", false);
  compile.assumeBatchNormTraining = json.value("assume_batchnorm_training", false);
  compile.acceptDamagedExport = json.value("accept_damaged_export", false);
  compile.lossScale = json.value("loss_scale", "");
  compile.lossOnly = json.value("loss_only", false);
  compile.accumulateGradients = json.value("accumulate_gradients", false);
  compile.dataParallel = json.value("data_parallel", false);
  compile.syncBatchNorm = json.value("sync_batch_norm", false);
  compile.memoryBudget = wholeNumberAt(json, "memory_budget", compile.memoryBudget, 0);
  if (json.contains("library_attention"))
    compile.libraryAttention = json["library_attention"].get<bool>();
  compile.runningVariance = json.value("running_variance", "");
  compile.freeze = json.value("freeze", compile.freeze);
  compile.targets = json.value("targets", compile.targets);
  compile.archs = json.value("archs", compile.archs);
  meta.learningRate = json.value("lr", meta.learningRate);
  meta.steps = wholeNumberAt(json, "steps", meta.steps, 0);
  meta.seed = wholeNumberAt(json, "seed", meta.seed);
  meta.dropout = json.value("dropout", false);
  meta.lossMean = json.value("loss_mean", 0.0);
  meta.lossDeviation = json.value("loss_std", 0.0);
  meta.isHalf = json.value("half", false);
  meta.isDouble = json.value("double", false);
  meta.isOwn = json.contains("accc");
  if (json.contains("noise"))
    meta.noise = json["noise"].get<Noise>();
  if (json.contains("updates"))
    meta.updates = json["updates"].get<Updates>();
  if (json.contains("library"))
    meta.snapshot = checkedSnapshot(json["library"]).dump();
  for (const std::string &input : json.value("inputs", std::vector<std::string>()))
    addInput(compile, input);
  const auto dimensions = json.value("dims", json::object());
  for (const auto &[name, size] : dimensions.items())
    compile.dimensions[name] = {wholeNumberAt(dimensions, name.c_str(), 0, 1)};
  meta.dimensions = compile.dimensions;
  if (json.contains("library"))
    meta.dimensions = json["library"]["manifest"].value("dimensions", meta.dimensions);
  const auto files = json.value("files", json::array());
  for (const auto &entry : files) {
    if (entry.value("file", "") != fs::path(model).filename().string())
      continue;
    if (entry.contains("loss"))
      compile.losses = textsAt(entry, "loss");
    const auto frozen = entry.value("freeze", json::array());
    for (const auto &name : frozen)
      compile.freeze.push_back(exactly(name.get<std::string>()));
  }
  return meta;
}

GoldenMeta accc::tool::readGoldenMeta(const std::string &folder, const std::string &model) {
  fs::path path = fs::path(folder) / kMetaFile;
  errno = 0;
  std::ifstream file(path);
  if (!file)
    throw Error(errno == ENOENT ? ErrorKind::usage : ErrorKind::machine,
                "cannot read " + path.string() + ": " + std::strerror(errno));
  auto json = json::parse(file, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::usage, path.string() + " is no JSON object");
  try {
    return parseMeta(json, model);
  } catch (const json::exception &error) {
    throw Error(ErrorKind::data, path.string() + ": " + describe(error));
  } catch (const CLI::Error &error) { // a text as of --input
    throw Error(ErrorKind::data, path.string() + ": " + error.what());
  } catch (const Error &error) {
    throw Error(error.kind(), path.string() + ": " + error.what());
  }
}

// ---- Running ----

/// Forward, backward, update, average: the first bad tensor is then the nearest to the cause.
static int rankOf(const std::string &name) {
  return isAveragedName(name)         ? 5
         : name.starts_with("state.") ? 4
         : name.starts_with("param.") ? 3
         : isLossesName(name)         ? 2
                                      : isGradientName(name);
}

/// Throws Error (usage) where an output of the model has a name that goldens give to something
/// else, which would take its place.
static void requireOwnNames(const Model &model) {
  for (const accc_entry &entry : model.entries())
    for (const accc_value &output :
         std::span(entry.outputs, static_cast<size_t>(entry.num_outputs)))
      if (std::string name = output.tensor.name; output.usage == ACCC_DATA && rankOf(name) != 0)
        throw Error(ErrorKind::usage, "the model's output '" + name +
                                          "' has a name that goldens give to something else: "
                                          "rename it in the model");
}

TensorMap accc::tool::toGoldens(const Model &model, const Trajectory &trajectory) {
  requireOwnNames(model);
  TensorMap results = trajectory.gradients;
  constexpr std::string_view prefix = "eval_step ";
  for (const auto &[name, tensor] : trajectory.outputs) {
    results.emplace(name, tensor);
    if (trajectory.gradients.empty() && name.starts_with(prefix))
      results.emplace(name.substr(prefix.size()), tensor);
  }
  results.insert(trajectory.losses.begin(), trajectory.losses.end());
  results.insert(trajectory.averaged.begin(), trajectory.averaged.end());
  for (const auto &[name, tensor] : trajectory.variables) {
    bool isState = model.find_variable(name)->role == ACCC_OPTIMIZER_STATE;
    results.emplace((isState ? "state." : "param.") + name, tensor);
  }
  return results;
}

/// Adds tied parameters by their other names: exporters keep one of them, goldens perhaps another.
static void addAliases(const Model &model, TensorMap &results) {
  json manifest = json::parse(model.description().manifest, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("aliases"))
    return;
  for (const auto &[name, others] : manifest["aliases"].items())
    for (const json &alias : others)
      for (const std::string prefix : {"grad.", "param."})
        if (auto found = results.find(prefix + name); found != results.end() && alias.is_string())
          results.emplace(prefix + alias.get<std::string>(), found->second);
}

/// Throws Error (data) where the goldens were recorded in another number of steps than meta.json
/// says: what differs after them would say nothing, and of many there is no end.
static void checkSteps(const fs::path &folder, const GoldenMeta &meta) {
  const fs::path path = folder / kGoldenFile;
  if (!fs::exists(path))
    return;
  const SafetensorsReader goldens(path);
  for (const SafetensorsEntry &entry : goldens.entries())
    if (isLossesName(entry.name) && entry.shape != Shape{meta.steps})
      throw Error(ErrorKind::data, (folder / kMetaFile).string() + ": steps is " +
                                       std::to_string(meta.steps) + ", and " + path.string() +
                                       " holds " + entry.name + " " +
                                       to_string(entry.dtype, entry.shape));
}

static TensorMap runAsGoldens(const Model &model, const fs::path &folder, const GoldenMeta &meta) {
  SessionOptions settings;
  settings.learning_rate = meta.learningRate;
  settings.seed = meta.seed;
  Session session(model, settings);
  if (fs::path initial = folder / kInitialFile; fs::exists(initial))
    session.load(initial, {.allow_missing = true, .allow_extra = true});
  TensorMap inputs = load_safetensors(folder / kInputsFile);
  TrajectoryOptions options{.steps = meta.steps};
  bool hasGradients = model.find_entry(entryNameOf("grad_step", stepNamesOf(model).front()));
  for (const accc_entry &entry : model.entries()) {
    std::string_view kind = kindOf(entry.name);
    if (kind == "eval_step" ? meta.isOwn || !hasGradients : !updatesAlone(entry.name))
      options.entries.insert(entry.name);
  }
  TensorMap results = toGoldens(model, record(session, inputs, options));
  addAliases(model, results);
  return results;
}

// ---- Judging ----

static const Tensor *find(const TensorMap &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

/// No two implementations draw the same masks; the loss must lie where losses lie, which is one
/// place if it does not hang on what is drawn.
static Verdict judgeDropout(const std::string &subject, const GoldenMeta &meta, double tolerance,
                            const TensorMap &results) {
  Verdict verdict{.name = "loss", .shape = "f32[]"};
  const Tensor *found = find(results, "loss");
  if (!found)
    throw Error(ErrorKind::data, subject + " has no loss");
  double loss = found->to(DType::f64).item<double>();
  verdict.worst = std::abs(loss - meta.lossMean);
  verdict.relative = verdict.worst / std::abs(meta.lossMean);
  double distance = 6 * meta.lossDeviation + tolerance * (1 + std::abs(meta.lossMean));
  verdict.how = verdict.worst <= distance ? "rmse" : "FAILED";
  return verdict;
}

static Measured measuredOf(const std::string &name, const TensorMap &exact,
                           const GoldenMeta &meta) {
  Measured measured{.golden64 = find(exact, name)};
  if (meta.noise) {
    auto noise = meta.noise->find(name);
    measured.noise = noise == meta.noise->end() ? 0 : noise->second;
  }
  if (meta.updates)
    if (auto update = meta.updates->find(name); update != meta.updates->end())
      measured.update = update->second;
  return measured;
}

/// What these goldens cannot tell, as whoever wrote them did not record it; empty: nothing.
static std::string uncheckedBy(const GoldenMeta &meta) {
  if (meta.noise && meta.updates)
    return "";
  std::string what = meta.noise ? "updates are" : "gradients and updates below the tolerance are";
  return what + " not held to their own size: the goldens are of an older version, or were "
                "recorded without noise";
}

static Verdict judgeGolden(const std::string &name, const Tensor *result, const Tensor &golden,
                           const Measured &measured, double tolerance) {
  auto rule = name.starts_with("state.")   ? judgeState
              : name.starts_with("param.") ? judgeUpdate
              : isGradientName(name)       ? judgeGradient
                                           : judge;
  return rule(name, result, golden, measured, tolerance);
}

/// Holds results against the goldens, without those that `leftOut` says were not asked for.
static Section judgeGoldens(const std::string &subject, const fs::path &folder,
                            const GoldenMeta &meta, double tolerance, const TensorMap &results,
                            const std::function<bool(const std::string &)> &leftOut = {}) {
  Section section{.name = "numbers"};
  if (meta.dropout) {
    section.tensors.push_back(judgeDropout(subject, meta, tolerance, results));
    return section;
  }
  if (std::string unchecked = uncheckedBy(meta); !unchecked.empty())
    section.notes.push_back(unchecked);
  TensorMap goldens = load_safetensors(folder / kGoldenFile), exact;
  if (fs::exists(folder / kGolden64File))
    exact = load_safetensors(folder / kGolden64File);
  for (int rank = 0; rank <= 5; ++rank)
    for (const auto &[name, golden] : goldens) {
      if (rankOf(name) != rank || (leftOut && leftOut(name)))
        continue;
      section.tensors.push_back(
          judgeGolden(name, find(results, name), golden, measuredOf(name, exact, meta), tolerance));
    }
  if (section.tensors.empty()) // anything would agree with it
    throw Error(ErrorKind::data, (folder / kGoldenFile).string() + " holds nothing to compare");
  return section;
}

static std::string listOf(const std::vector<std::string> &texts) {
  std::string list;
  for (const std::string &text : texts)
    list += (list.empty() ? "" : " ") + text;
  return list.empty() ? "none" : list;
}

/// Says which options of the training are others than those of the goldens, which may be why
/// something fails.
static void noteOtherTraining(const std::string &library, const Model &model,
                              const GoldenMeta &meta, Section &section) {
  const json manifest = json::parse(model.description().manifest, nullptr, false);
  if (!manifest.is_object())
    return;
  auto note = [&](const std::string &option, const std::vector<std::string> &own,
                  const std::vector<std::string> &golden) {
    if (own != golden)
      section.notes.push_back(option + " is " + listOf(golden) + " in the goldens and " +
                              listOf(own) + " in " + library);
  };
  note("--loss", textsAt(manifest, "loss"), meta.compile.losses);
  note("--optimizer", textsAt(manifest, "optimizer"), meta.compile.optimizers);
  note("--average-weights", textsAt(manifest, "average_weights"), meta.compile.averages);
  note("--precision", textsAt(manifest, "precision"), {meta.compile.precision});
}

void accc::tool::diffGoldens(const std::string &library, const std::string &folder,
                             DiffReport &report) {
  GoldenMeta meta = readGoldenMeta(folder, library);
  report.addNumbers([&] {
    if (!meta.dropout)
      checkSteps(folder, meta);
    const Model model = Model::load(library);
    Section section =
        judgeGoldens(library, folder, meta, report.tolerance, runAsGoldens(model, folder, meta));
    // A golden of a library says so in the manifest's section.
    if (!meta.isOwn && std::ranges::any_of(section.tensors, [](const Verdict &verdict) {
          return !verdict.passed();
        }))
      noteOtherTraining(library, model, meta, section);
    return section;
  });
}

void accc::tool::diffResults(const std::string &results, const std::string &params,
                             const std::string &folder, DiffReport &report) {
  GoldenMeta meta = readGoldenMeta(folder, results);
  TensorMap found = load_safetensors(results);
  if (!params.empty())
    for (const auto &[name, tensor] : load_safetensors(params))
      found.emplace("param." + name, tensor);
  report.add(
      judgeGoldens(results, folder, meta, report.tolerance, found, [&](const std::string &name) {
        return isLossesName(name) || name.starts_with("state.") || name.starts_with("eval_step") ||
               isAveragedName(name) || (name.starts_with("param.") && params.empty());
      }));
}
