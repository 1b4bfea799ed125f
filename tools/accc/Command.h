// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the subcommands share. Results go to standard output, diagnostics to standard error.
#ifndef ACCC_TOOLS_ACCC_COMMAND_H
#define ACCC_TOOLS_ACCC_COMMAND_H

#include "accc/accc.h"
#include "driver/Driver.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace accc::tool {

/// Set by the subcommand that was chosen; gives the exit code. May throw accc::Error.
using Action = std::function<int()>;

// One file each. They add the subcommand to `app`, and set `action` when it is chosen.
void addCompile(CLI::App &app, Action &action);
void addCheck(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addDiff(CLI::App &app, Action &action);
void addBench(CLI::App &app, Action &action);
void addGolden(CLI::App &app, Action &action);

/// Adds NAME=TYPE[SIZE,...] of --input. Throws CLI::ValidationError.
void addInput(CompileOptions &options, const std::string &text);

/// Adds --library-attention and its opposite.
void addLibraryAttention(CLI::App &command, std::optional<bool> &which);
/// Adds --custom-ops.
void addCustomOps(CLI::App &command, std::vector<std::string> &libraries);
/// Lets sessions of this process find these libraries, before others of the same file names.
void offerCustomOps(const std::vector<std::string> &libraries);

/// Adds MODEL and the options that say what is compiled and how. `options` must live as long as the
/// app.
void addCompileOptions(CLI::App &command, CompileOptions &options);

/// Adds those that say what is written, which `compile` and `check` take.
void addOutputOptions(CLI::App &command, CompileOptions &options);

/// Adds -v, -q and --log-level.
void addMessageOptions(CLI::App &command);

/// Takes these names only, and suggests one of them for another.
CLI::Validator oneOf(std::vector<std::string> names);

/// What is wrong with the command line, and what was perhaps meant.
std::string describeUsage(const CLI::App &app, const CLI::ParseError &error);

/// Says which option of the command is given an empty value, which means nothing; or nothing.
std::string describeEmpty(const CLI::App &app);

/// Adds an option that takes a list, A[,B...], and may be repeated. Of `names` only, where there
/// are any.
CLI::Option *addList(CLI::App &command, const std::string &option, std::vector<std::string> &list,
                     const std::string &description, std::vector<std::string> names = {});

/// Splits at each comma. Throws CLI::ValidationError where a part is empty.
std::vector<std::string> splitList(const std::string &option, const std::string &text);

/// Prints problems to standard error, and a last line that counts the errors where there are
/// several. What is the same at several nodes is said once, with their count, unless notes are
/// printed too.
void printProblems(const Outcome &outcome);

/// Shows phases on one line of standard error if that is a terminal; otherwise nothing.
class ProgressLine {
public:
  ProgressLine();
  ~ProgressLine();
  void operator()(const std::string &what, int number, int count);

private:
  bool terminal;
  bool shown = false;
};

/// True if the file is a compiled model (an ELF shared library) rather than a model file.
bool isLibrary(const std::string &path);

/// Says that the compiler crashed, with `json` as the result too, and writes how to reproduce it.
/// `options` are those it ran with.
void reportCrash(const CompileOptions &options, const Crash &crash, bool json);

/// How the steps of a library are run.
struct StepOptions {
  int64_t steps = 1;
  std::optional<int64_t> seed;        ///< none: 0
  std::optional<double> learningRate; ///< none: the optimizer's own

  SessionOptions settings() const {
    return {.learning_rate = learningRate, .seed = seed.value_or(0)};
  }
};

/// Adds --steps, --seed and --lr. `options`, which has the defaults, must live as long as the app.
void addStepOptions(CLI::App &command, StepOptions &options);

/// Throws Error (usage) where a learning rate or a seed is given and none of these entry points
/// takes one.
void checkStepOptions(std::span<const accc_entry> entries, const StepOptions &options);

/// Throws Error (usage) that lists the library's entry points unless `name` is one.
void checkEntry(const Model &model, const std::string &name);

/// Throws Error (usage) where a file that the command writes is one that it reads. Empty names are
/// none.
void keepApart(const std::vector<std::string> &written, const std::vector<std::string> &read);

/// What a session of the library reads: it, and its initial values where they lie beside it.
std::vector<std::string> filesOf(const std::string &library);

/// Throws Error where a file that the command will write cannot be: it is a folder or a device, or
/// its folder is not there or may not be written. Empty names are none.
void checkWritable(const std::vector<std::string> &written);

/// The most threads that a command takes: more are a mistake.
inline constexpr int kMostThreads = 4096;

/// Takes finite numbers from `least` to `most` only.
CLI::Validator finiteNumber(double least = std::numeric_limits<double>::lowest(),
                            double most = std::numeric_limits<double>::max());

/// The whole number that a text is, unless it is something else or does not fit.
std::optional<int64_t> toWholeNumber(const std::string &text);

/// Takes whole numbers from `least` to `most`.
CLI::Validator wholeNumber(int64_t least = std::numeric_limits<int64_t>::min(),
                           int64_t most = std::numeric_limits<int64_t>::max());

/// Inputs for an entry point that are valid for any model: floats are random, integers 0 or 1.
TensorMap randomInputs(const accc_entry &entry, uint64_t seed);

/// Loads the weights of the file `params`, which must be the model's. Without a file, those that do
/// not come with the library get some value: matrices small random ones, everything else (scales,
/// variances, shifts) ones.
void fillWeights(Session &session, const std::string &params);

/// Of the sizes that a library holds the first that has all of `wanted` ("seq=64"). Throws Error
/// (usage) that lists them.
std::string_view chooseSizes(const Model &model, const std::vector<std::string> &wanted);

/// The CPU that code is for, without its features.
std::string archName(const std::string &arch);

} // namespace accc::tool

#endif
