// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc diff A B: a library, a model or what `accc run` wrote against goldens, or two libraries.
// accc diff A --targets: the targets of one library.
#include "Bisection.h"
#include "Command.h"
#include "Comparison.h"
#include "Goldens.h"
#include "TargetDiff.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <unistd.h>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

namespace {
struct DiffOptions {
  std::string a, b, params, inputs;
  int64_t steps = 3;
  double tolerance = 1e-4;
  bool failedOnly = false, bisect = false, targets = false;
  CompileOptions compile;

  operator GoldenOptions() const { return {b, tolerance, failedOnly}; }
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

static const Tensor *find(const TensorMap &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

/// Compiles the model as its goldens were made, and compares.
static int diffModel(const DiffOptions &options) {
  TemporaryFolder folder;
  GoldenMeta meta = readGoldenMeta(options.b, options.a);
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
  return code ? code : diffGoldens(compile.output, options);
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
  if (options.targets) {
    if (!isLibrary(options.a))
      throw Error(ErrorKind::usage, options.a + " is no library: --targets compares those of one");
    return diffTargets({options.a, options.params, options.inputs, options.steps, options.tolerance,
                        options.failedOnly});
  }
  if (options.b.empty())
    throw Error(ErrorKind::usage, "B is missing: goldens or a library to compare " + options.a +
                                      " with, or --targets");
  bool results = fs::path(options.a).extension() == ".safetensors";
  if (!options.params.empty() && !results)
    throw Error(ErrorKind::usage, "--params goes with the outputs of a run");
  if (options.bisect && (results || isLibrary(options.a) || !fs::is_directory(options.b)))
    throw Error(ErrorKind::usage, "--bisect needs a model and its goldens");
  if (fs::is_directory(options.b) && results)
    return diffResults(options.a, options.params, options);
  if (fs::is_directory(options.b))
    return isLibrary(options.a) ? diffGoldens(options.a, options) : diffModel(options);
  for (const std::string &path : {options.a, options.b})
    if (!isLibrary(path))
      throw Error(ErrorKind::usage, path + " is no library: compare LIB GOLDENS, MODEL GOLDENS, "
                                           "OUT.safetensors GOLDENS or LIB LIB");
  return diffLibraries(options);
}

void accc::tool::addDiff(CLI::App &app, Action &action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App *command = app.add_subcommand("diff", "compares a library or model with its goldens, "
                                                 "two libraries (numbers, kernels, memory), or the "
                                                 "targets of one library");
  command
      ->add_option("A", options->a, "a library; with goldens also a model, or the outputs of a run")
      ->required()
      ->check(CLI::ExistingFile);
  CLI::Option *b = command
                       ->add_option("B", options->b,
                                    "a folder of goldens as examples/export writes, or a library")
                       ->check(CLI::ExistingPath);
  command->add_option("--tolerance", options->tolerance, "absolute and relative")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--params", options->params,
          "with the outputs of a first grad_step: the parameters after all train_steps; with "
          "--targets: those to start from")
      ->type_name("P.safetensors")
      ->check(CLI::ExistingFile);
  command->add_flag("--failed", options->failedOnly, "lists only what failed");
  CLI::Option *targets = command->add_flag("--targets", options->targets,
                                           "for a library compiled for several targets: outputs, "
                                           "loss, gradients and the parameters after "
                                           "some steps of each target against those of the last "
                                           "one (cpu), from the same weights and data");
  targets->excludes(b);
  command
      ->add_option("--inputs", options->inputs,
                   "with --targets; by default floats are random, integers 0 or 1")
      ->type_name("IN.safetensors")
      ->check(CLI::ExistingFile)
      ->needs(targets);
  command->add_option("--steps", options->steps, "with --targets: of training")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->needs(targets);
  command->add_flag("--bisect", options->bisect,
                    "for a model: finds the phase, op or kernel that is wrong, with the reference "
                    "interpreter");
  command->add_option("--arch", options->compile.archs, "for a model: what to compile for")
      ->type_name("A[,B]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->callback([options, &action] { action = [options] { return diff(*options); }; });
}
