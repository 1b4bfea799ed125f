// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc diff A B: a library, a model or what `accc run` wrote against goldens, or two libraries.
// accc diff A --targets: the targets of one library. accc diff A --simulate-ranks N: processes with
// parts of a batch against one with the whole.
#include "Bisection.h"
#include "Command.h"
#include "JUnit.h"
#include "Json.h"
#include "LibraryDiff.h"
#include "RankDiff.h"
#include "ScratchFolder.h"
#include "TargetDiff.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

namespace {
struct DiffOptions {
  std::string a, b;
  RunSettings run;
  int ranks = 0; ///< to simulate; 0: none
  bool bisect = false, targets = false, hasSteps = false, hasTolerance = false;
  double tolerance = DiffReport().tolerance;
  std::vector<std::string> modelTargets, archs, customOps, only, failOn;
  std::string precision;
  std::optional<bool> libraryAttention;
  ReportOptions report;
  std::string junit; ///< a file to write
};
} // namespace

static int tell(const DiffOptions &options, const DiffReport &report) {
  checkSections(report);
  if (!options.junit.empty())
    writeJUnit(report, options.junit);
  return tell(report, options.report);
}

/// Runs what compiles in a child process, which a crash may end.
static int guarded(const CompileOptions &compile, bool json, const std::function<int()> &work) {
  return guardAgainstCrashes(work, [&](const Crash &crash) { reportCrash(compile, crash, json); });
}

/// Prints problems, with --json also as the result where there is no other.
static int giveUp(const Outcome &outcome, bool json) {
  printProblems(outcome);
  if (json && outcome.code != ExitCode::Done)
    std::cout << toText(toJson(outcome)) << "\n";
  return static_cast<int>(outcome.code);
}

/// Compiles the model as its goldens were made, and compares.
static int diffModel(const DiffOptions &options, DiffReport &report) {
  std::error_code missing;
  fs::path temporary = fs::temp_directory_path(missing);
  if (missing)
    throw Error(ErrorKind::machine,
                "there is no folder for temporary files (TMPDIR): " + missing.message());
  ScratchFolder folder(temporary / "accc-diff-");
  GoldenMeta meta = readGoldenMeta(options.b, options.a);
  if (options.bisect && meta.isHalf)
    throw Error(ErrorKind::usage,
                "--bisect holds a model to the interpreter, which rounds nothing: "
                "it does not go with a model in 16-bit floats");
  CompileOptions compile = meta.compile;
  compile.model = options.a;
  compile.output = folder.path() / "model.so";
  compile.customOps = options.customOps;
  // A bisection follows what every machine can run, unless it is asked for something else.
  if (options.bisect) {
    compile.targets = {"cpu"};
    compile.precision = CompileOptions().precision;
    compile.libraryAttention = false;
    // Kernels are held to an absolute tolerance, which gradients of the loss itself fit.
    if (compile.lossScale.starts_with("dynamic"))
      compile.lossScale = "dynamic,init_scale=1";
    else if (compile.lossScale.starts_with("fixed"))
      compile.lossScale = "fixed=1";
  } else {
    compile.dimensions = meta.dimensions;
  }
  if (!options.modelTargets.empty())
    compile.targets = options.modelTargets;
  if (!options.precision.empty())
    compile.precision = options.precision;
  if (options.libraryAttention)
    compile.libraryAttention = options.libraryAttention;
  if (options.bisect || !options.modelTargets.empty() || !options.archs.empty())
    compile.archs = options.archs;
  if (options.bisect)
    return guarded(compile, options.report.json, [&] {
      TensorMap inputs = load_safetensors(fs::path(options.b) / kInputsFile);
      if (fs::path initial = fs::path(options.b) / kInitialFile; fs::exists(initial))
        inputs.merge(load_safetensors(initial));
      Outcome outcome =
          bisect(compile, inputs, meta.learningRate, options.b, folder.path(), report);
      if (report.sections.back().changes.empty() && outcome.code != ExitCode::Done)
        return giveUp(outcome, options.report.json);
      printProblems(outcome);
      return tell(options, report);
    });
  if (int code = guarded(compile, options.report.json,
                         [&] { return giveUp(compileModel(compile), options.report.json); }))
    return code;
  diffDescription(compile.output, options.b, report);
  diffGoldens(compile.output, options.b, report);
  return tell(options, report);
}

// ---- What goes with what ----

namespace {
/// The kinds of things that are compared.
enum class Mode {
  Targets,
  Ranks,
  Libraries,
  LibraryAndGoldens,
  ModelAndGoldens,
  ResultsAndGoldens
};
} // namespace

static Mode modeOf(const DiffOptions &options) {
  if (options.targets) {
    if (!isLibrary(options.a))
      throw Error(ErrorKind::usage, options.a + " is no library: --targets compares those of one");
    return Mode::Targets;
  }
  if (options.ranks) {
    if (!isLibrary(options.a))
      throw Error(ErrorKind::usage, options.a + " is no library, which --simulate-ranks runs");
    return Mode::Ranks;
  }
  if (options.b.empty())
    throw Error(ErrorKind::usage, "B is missing: goldens or a library to compare " + options.a +
                                      " with, --targets or --simulate-ranks");
  if (fs::is_directory(options.b))
    return fs::path(options.a).extension() == ".safetensors" ? Mode::ResultsAndGoldens
           : isLibrary(options.a)                            ? Mode::LibraryAndGoldens
                                                             : Mode::ModelAndGoldens;
  for (const std::string &path : {options.a, options.b})
    if (!isLibrary(path))
      throw Error(ErrorKind::usage, path + " is no library: compare LIB GOLDENS, MODEL GOLDENS, "
                                           "OUT.safetensors GOLDENS or LIB LIB");
  return Mode::Libraries;
}

static void checkOptions(const DiffOptions &options, Mode mode) {
  bool runs = mode == Mode::Targets || mode == Mode::Ranks || mode == Mode::Libraries;
  auto need = [](bool holds, const char *message) {
    if (!holds)
      throw Error(ErrorKind::usage, message);
  };
  need(options.run.params.empty() || runs || mode == Mode::ResultsAndGoldens,
       "--params goes with the outputs of a run, two libraries, --targets or --simulate-ranks");
  need(options.run.inputs.empty() || runs,
       "--inputs goes with two libraries, --targets or --simulate-ranks: goldens have their own");
  need(!options.hasSteps || runs,
       "--steps goes with two libraries, --targets or --simulate-ranks: goldens say theirs");
  need(!options.bisect || mode == Mode::ModelAndGoldens, "--bisect needs a model and its goldens");
  need(!options.bisect || (options.only.empty() && options.failOn.empty()),
       "--bisect compares no sections: --only and --fail-on do not go with it");
  need(!options.bisect || !options.report.failedOnly,
       "--bisect lists no tensors: --failed does not go with it");
  need((options.modelTargets.empty() && options.archs.empty() && options.precision.empty() &&
        !options.libraryAttention) ||
           mode == Mode::ModelAndGoldens,
       "--target, --arch, --precision and --library-attention go with a model: a library is "
       "compiled");
  need(!options.bisect || options.precision.empty() || options.precision == "fp32",
       "--bisect holds kernels to what they give in fp32: --precision does not go with it");
  auto isNamed = [](const std::vector<std::string> &list, const std::string &name) {
    return std::ranges::find(list, name) != list.end();
  };
  need(options.failOn.size() < 2 || !isNamed(options.failOn, "none"),
       "--fail-on none leaves no room for other sections");
  for (const std::string &section : options.failOn)
    if (section != "none" && !options.only.empty() &&
        !isNamed(options.only, section == kTraining ? "manifest" : section))
      throw Error(ErrorKind::usage, "--fail-on " + section + ": --only leaves that section out");
  need(options.only.empty() || isNamed(options.only, "numbers") ||
           (options.run.params.empty() && options.run.inputs.empty() && !options.hasSteps &&
            !options.hasTolerance),
       "--params, --inputs, --steps and --tolerance are about numbers, which --only leaves out");
  checkWritable({options.junit});
  if (options.junit.empty())
    return;
  std::vector<std::string> read = {options.run.params, options.run.inputs};
  for (const std::string &side : {options.a, options.b})
    if (fs::is_directory(side))
      for (const char *file : {kMetaFile, kInputsFile, kInitialFile, kGoldenFile, kGolden64File})
        read.push_back(fs::path(side) / file);
    else
      for (const std::string &file : filesOf(side))
        read.push_back(file);
  keepApart({options.junit}, read);
}

static int diff(const DiffOptions &options) {
  Mode mode = modeOf(options);
  checkOptions(options, mode);
  offerCustomOps(options.customOps);
  DiffReport report{.a = options.a, .b = options.b, .tolerance = options.tolerance};
  report.choice.only = options.only;
  if (!options.failOn.empty())
    report.choice.failOn = options.failOn;
  // What is expected is a; goldens are, wherever they stand.
  if (mode != Mode::Libraries && mode != Mode::Targets && mode != Mode::Ranks) {
    std::swap(report.a, report.b);
    if (!options.hasTolerance)
      report.tolerance = readGoldenMeta(options.b, options.a).tolerance();
  }
  switch (mode) {
  case Mode::Targets:
    diffTargets(options.a, options.run, report);
    break;
  case Mode::Ranks:
    diffRanks(options.a, options.ranks, options.run, report);
    break;
  case Mode::Libraries:
    diffLibraries(options.run, report);
    break;
  case Mode::LibraryAndGoldens:
    diffDescription(options.a, options.b, report);
    diffGoldens(options.a, options.b, report);
    break;
  case Mode::ModelAndGoldens:
    return diffModel(options, report);
  case Mode::ResultsAndGoldens:
    diffResults(options.a, options.run.params, options.b, report);
    break;
  }
  return tell(options, report);
}

// ---- The command line ----

static void addSectionOptions(CLI::App &command, DiffOptions &options) {
  std::vector<std::string> sections(std::begin(kSections), std::end(kSections)), failing = sections;
  failing.insert(failing.end(), {kTraining, "none"});
  addList(command, "--only", options.only,
          "Compare only these sections, and fail if one of them differs", sections)
      ->type_name("SECTION[,...]");
  addList(command, "--fail-on", options.failOn,
          "Sections whose differences make the command fail, or `none`; `training` is the "
          "part of the manifest about loss, optimizer and training (default: "
          "training,interface,numbers, or those of --only)",
          failing)
      ->type_name("SECTION[,...]");
  command
      .add_option_function<double>(
          "--tolerance",
          [&options](double tolerance) {
            options.tolerance = tolerance;
            options.hasTolerance = true;
          },
          "Absolute and relative tolerance of numbers; 0: bitwise equal (default: 0.0001, with "
          "goldens in bf16 0.001, in f64 1e-10)")
      ->check(finiteNumber(0));
  command.add_flag("--failed", options.report.failedOnly, "List only tensors that failed");
  command.add_flag("--json", options.report.json,
                   "Print {a, b, verdict, failed, tolerance, sections: [{name, verdict, notes, "
                   "changes, tensors}]}");
  command
      .add_option("--junit", options.junit,
                  "Write a JUnit test case for each section and each failed tensor")
      ->type_name("FILE.xml");
}

static void addRunOptions(CLI::App &command, DiffOptions &options) {
  command
      .add_option("--params", options.run.params,
                  "With two libraries, --targets or --simulate-ranks: initial parameters and "
                  "buffers; with the "
                  "outputs of a first grad_step: the parameters after all train_steps")
      ->type_name("P.safetensors")
      ->check(CLI::ExistingFile);
  command
      .add_option("--inputs", options.run.inputs,
                  "Likewise: the batch; default: random floats, integers 0 or 1")
      ->type_name("IN.safetensors")
      ->check(CLI::ExistingFile);
  command
      .add_option_function<int64_t>(
          "--steps",
          [&options](int64_t steps) {
            options.run.steps = steps;
            options.hasSteps = true;
          },
          "Likewise: number of training steps (default: 3)")
      ->check(wholeNumber(1));
}

void accc::tool::addDiff(CLI::App &app, Action &action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App *command = app.add_subcommand(
      "diff",
      "Compare two libraries, a library or model with goldens, or the targets of one library");
  command->footer(
      "Sections:\n"
      "  manifest   options, loss, optimizer and their hyperparameters, target, compiler, hash of "
      "the model\n"
      "  interface  entry points, inputs, outputs, parameters, what is frozen\n"
      "  kernels    kernels and library calls that appeared, vanished, run another number of times "
      "or have\n"
      "             other code\n"
      "  memory     bytes of the state and of what a step works with\n"
      "  numbers    outputs, losses, every gradient, and every parameter, buffer and piece of "
      "optimizer\n"
      "             state after --steps of training, from the same weights and data\n"
      "Each has a verdict: same, different (which does not fail), pass or fail. A difference of "
      "the training\n"
      "options, the interface or the numbers fails, one of kernels, memory or the rest of the "
      "manifest is shown.\n"
      "Exit codes: 0 no section failed, 1 one did (the last line says which), 2 wrong usage, 3 "
      "this machine\n"
      "cannot run a library, 4 a bug in accc.");
  command
      ->add_option("A", options->a, "A library; with goldens also a model, or the outputs of a run")
      ->required()
      ->check(CLI::ExistingFile);
  CLI::Option *b =
      command
          ->add_option(
              "B", options->b,
              "A library, or a folder of goldens written by accc golden or accc_export.golden")
          ->check(CLI::ExistingPath);
  command
      ->add_flag("--targets", options->targets,
                 "Compare the numbers of each target of a library with those of its last one (cpu)")
      ->excludes(b);
  command
      ->add_option("--simulate-ranks", options->ranks,
                   "Train a library compiled with --data-parallel as so many processes with a part "
                   "of the rows each, and compare with one that has all rows; for two sizes of the "
                   "library")
      ->type_name("N")
      ->check(wholeNumber(2))
      ->excludes(b)
      ->excludes("--targets");
  addSectionOptions(*command, *options);
  addRunOptions(*command, *options);
  command->add_flag(
      "--bisect", options->bisect,
      "Find the phase, op or kernel of a model that is wrong, with the reference interpreter");
  addList(*command, "--target", options->modelTargets,
          "Targets to compile a model for (default: those of the goldens; with --bisect cpu)")
      ->type_name("A[,B]");
  command->add_option("--precision", options->precision,
                      "Precision to compile a model with (default: that of the goldens; with "
                      "--bisect fp32)");
  addLibraryAttention(*command, options->libraryAttention);
  addList(*command, "--arch", options->archs, "Architectures to compile a model for")
      ->type_name("A[,B]");
  addCustomOps(*command, options->customOps);
  command->callback([options, &action] { action = [options] { return diff(*options); }; });
}
