// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc diff A B: a library, a model or what `accc run` wrote against goldens, or two libraries.
#include "Bisection.h"
#include "Command.h"
#include "Comparison.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

namespace {
struct DiffOptions {
  std::string a, b, params;
  double tolerance = 1e-4;
  bool failedOnly = false, bisect = false;
  CompileOptions compile;
};

/// What a golden directory says of the run (meta.json of examples/export).
struct Meta {
  std::string loss, optimizer;
  double learningRate = 1e-3;
  int64_t steps = 10;
  std::map<std::string, std::vector<int64_t>> dimensions;
  std::vector<std::string> freeze;
  bool dropout = false;
  double lossMean = 0, lossDeviation = 0;
};

/// A folder that goes away with its owner.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "accc-diff-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw Error(ErrorKind::machine, "cannot make a temporary folder " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};
} // namespace

static Meta readMeta(const fs::path &folder, const std::string &model) {
  std::ifstream file(folder / "meta.json");
  auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::usage,
                (folder / "meta.json").string() + " is missing or no JSON object");
  Meta meta;
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
static TensorMap runAsGoldens(const Model &model, const TensorMap &inputs, const Meta &meta) {
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
static int judgeGoldens(const DiffOptions &options, const Meta &meta, const TensorMap &results,
                        const std::function<bool(const std::string &)> &leftOut = {}) {
  fs::path folder = options.b;
  std::vector<Verdict> verdicts;
  if (meta.dropout) {
    // No two implementations draw the same masks; the loss must lie where losses lie.
    Verdict verdict{.name = "loss", .shape = "f32[]"};
    const Tensor *found = find(results, "loss");
    if (!found)
      throw Error(ErrorKind::data, options.a + " has no loss");
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
  return printVerdicts(verdicts, options.failedOnly) ? static_cast<int>(ExitCode::Data) : 0;
}

static int diffGoldens(const DiffOptions &options, const std::string &library) {
  Meta meta = readMeta(options.b, options.a);
  TensorMap inputs = load_safetensors(fs::path(options.b) / "inputs.safetensors");
  return judgeGoldens(options, meta, runAsGoldens(Model::load(library), inputs, meta));
}

/// What `accc run` wrote: outputs, loss and gradients of the first step, and with --params the
/// variables after the last.
static int diffResults(const DiffOptions &options) {
  Meta meta = readMeta(options.b, options.a);
  TensorMap results = load_safetensors(options.a);
  if (!options.params.empty())
    for (const auto &[name, tensor] : load_safetensors(options.params))
      results.emplace("param." + name, tensor);
  return judgeGoldens(options, meta, results, [&](const std::string &name) {
    return name == "losses" || (name.starts_with("param.") && options.params.empty());
  });
}

/// Compiles the model as its goldens were made, and compares.
static int diffModel(const DiffOptions &options) {
  TemporaryFolder folder;
  Meta meta = readMeta(options.b, options.a);
  CompileOptions compile = options.compile;
  compile.model = options.a;
  compile.output = folder.path / "model.so";
  compile.loss = meta.loss;
  compile.optimizer = meta.optimizer;
  compile.dimensions = meta.dimensions;
  compile.freeze = meta.freeze;
  if (options.bisect) {
    TensorMap inputs = load_safetensors(fs::path(options.b) / "inputs.safetensors");
    auto work = [&] {
      return bisectAndPrint(compile, inputs, meta.learningRate, options.b, folder.path);
    };
    return guardAgainstCrashes(work,
                               [&](const std::string &signal) { reportCrash(compile, signal); });
  }
  auto work = [&] {
    Outcome outcome = compileModel(compile);
    printProblems(outcome);
    return static_cast<int>(outcome.code);
  };
  int code =
      guardAgainstCrashes(work, [&](const std::string &signal) { reportCrash(compile, signal); });
  return code ? code : diffGoldens(options, compile.output);
}

static std::string fullName(const accc_entry &entry) {
  return std::string(entry.name) + (*entry.sizes ? " " : "") + entry.sizes;
}

/// The entry of another library that takes the same; where neither has several of the name, the one
/// of the name.
static const accc_entry *findTwin(const accc_entry &entry, const Model &other) {
  auto sameValue = [](const accc_value &x, const accc_value &y) {
    return std::string_view(x.tensor.name) == y.tensor.name &&
           to_string(x.tensor) == to_string(y.tensor);
  };
  for (const accc_entry &twin : other.entries())
    if (std::string_view(twin.name) == entry.name &&
        std::equal(entry.inputs, entry.inputs + entry.num_inputs, twin.inputs,
                   twin.inputs + twin.num_inputs, sameValue))
      return &twin;
  const accc_entry *named = other.find_entry(entry.name);
  return named && !*named->sizes && !*entry.sizes ? named : nullptr;
}

/// A step's label without the number that tells kernels of one name apart, "add.2 -> 4x3".
static std::string withoutNumber(const std::string &label) {
  size_t end = label.find(' '), dot = label.rfind('.', end);
  if (end == std::string::npos || dot == std::string::npos ||
      !std::all_of(label.begin() + static_cast<long>(dot) + 1,
                   label.begin() + static_cast<long>(end),
                   [](unsigned char c) { return std::isdigit(c); }))
    return label;
  return label.substr(0, dot) + label.substr(end);
}

/// Prints the kernels and library calls of which two entries do not run the same number, each with
/// what it gives; returns how many these are.
static int compareKernels(const std::string &name, const accc_entry &a, const accc_entry &b) {
  std::map<std::string, std::pair<int, int>> counts;
  auto count = [&](const accc_entry &entry, int std::pair<int, int>::*which) {
    for (int i = 0; i < entry.num_steps; ++i)
      if (entry.steps[i].kind != ACCC_STEP_CHECK)
        ++(counts[withoutNumber(entry.steps[i].label)].*which);
  };
  count(a, &std::pair<int, int>::first);
  count(b, &std::pair<int, int>::second);
  int differences = 0;
  for (const auto &[label, both] : counts)
    if (both.first != both.second) {
      std::cout << "* " << name << " " << label << ": " << both.first << " -> " << both.second
                << "\n";
      ++differences;
    }
  return differences;
}

/// Sizes, kernels and numbers of two libraries.
static int diffLibraries(const DiffOptions &options) {
  Model a = Model::load(options.a), b = Model::load(options.b);
  int differences = 0;
  auto compare = [&](const std::string &what, auto x, auto y) {
    std::cout << (x == y ? "  " : "* ") << what << ": " << x;
    if (!(x == y)) {
      std::cout << " -> " << y;
      ++differences;
    }
    std::cout << "\n";
  };
  compare("state bytes", a.description().state_size, b.description().state_size);
  std::vector<Verdict> verdicts;
  for (const accc_entry &entry : a.entries()) {
    const accc_entry *other = findTwin(entry, b);
    std::string name = fullName(entry);
    if (!other) {
      std::cout << "* " << name << " is missing in " << options.b << "\n";
      ++differences;
      continue;
    }
    differences += compareKernels(name, entry, *other);
    compare(name + " launches", entry.num_launches, other->num_launches);
    compare(name + " library calls", entry.num_library_calls, other->num_library_calls);
    compare(name + " arena bytes", entry.arena_size, other->arena_size);
    TensorMap inputs = randomInputs(entry, 42);
    Session first(a), second(b);
    TensorMap x = first.run(entry.name, inputs).tensors(),
              y = second.run(entry.name, inputs).tensors();
    for (const auto &[tensorName, tensor] : x)
      verdicts.push_back(
          judge(name + " " + tensorName, find(y, tensorName), tensor, nullptr, options.tolerance));
  }
  for (const accc_entry &entry : b.entries())
    if (!findTwin(entry, a)) {
      std::cout << "* " << fullName(entry) << " is missing in " << options.a << "\n";
      ++differences;
    }
  differences += printVerdicts(verdicts, options.failedOnly);
  return differences ? static_cast<int>(ExitCode::Data) : 0;
}

static int diff(const DiffOptions &options) {
  bool results = fs::path(options.a).extension() == ".safetensors";
  if (!options.params.empty() && !results)
    throw Error(ErrorKind::usage, "--params goes with the outputs of a run");
  if (options.bisect && (results || isLibrary(options.a) || !fs::is_directory(options.b)))
    throw Error(ErrorKind::usage, "--bisect needs a model and its goldens");
  if (fs::is_directory(options.b) && results)
    return diffResults(options);
  if (fs::is_directory(options.b))
    return isLibrary(options.a) ? diffGoldens(options, options.a) : diffModel(options);
  for (const std::string &path : {options.a, options.b})
    if (!isLibrary(path))
      throw Error(ErrorKind::usage, path + " is no library: compare LIB GOLDENS, MODEL GOLDENS, "
                                           "OUT.safetensors GOLDENS or LIB LIB");
  return diffLibraries(options);
}

void accc::tool::addDiff(CLI::App &app, Action &action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App *command = app.add_subcommand(
      "diff",
      "compares a library or model with its goldens, or two libraries: numbers, kernels, memory");
  command
      ->add_option("A", options->a, "a library; with goldens also a model, or the outputs of a run")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("B", options->b, "a folder of goldens as examples/export writes, or a library")
      ->required()
      ->check(CLI::ExistingPath);
  command->add_option("--tolerance", options->tolerance, "absolute and relative")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--params", options->params,
                   "with the outputs of a first grad_step: the parameters after all train_steps")
      ->type_name("P2.safetensors")
      ->check(CLI::ExistingFile);
  command->add_flag("--failed", options->failedOnly, "lists only what failed");
  command->add_flag("--bisect", options->bisect,
                    "for a model: finds the phase, op or kernel that is wrong, with the reference "
                    "interpreter");
  command->add_option("--arch", options->compile.archs, "for a model: what to compile for")
      ->type_name("A[,B]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->callback([options, &action] { action = [options] { return diff(*options); }; });
}
