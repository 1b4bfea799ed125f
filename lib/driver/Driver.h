// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's API for its tool: whole compilations and their results. Free of LLVM.
#ifndef ACCC_DRIVER_DRIVER_H
#define ACCC_DRIVER_DRIVER_H

#include "driver/Options.h"
#include "support/Problem.h"

#include <functional>
#include <string>
#include <vector>

namespace accc {

/// Exit codes of the command line.
enum class ExitCode {
  Done = 0,
  Data = 1,    // the model or the data is at fault
  Usage = 2,   // wrong usage
  Machine = 3, // no space, missing library, no device
  Bug = 4      // a bug in accc
};

constexpr ExitCode exitCodeFor(Fault fault) {
  return static_cast<ExitCode>(static_cast<int>(fault) + 1);
}

struct Outcome {
  ExitCode code = ExitCode::Done;
  /// Errors and warnings, in the order they were found.
  std::vector<Problem> problems = {};
  /// What belongs on standard output.
  std::string text = {};
  /// Where a bug showed: a file that reproduces it.
  std::string reproducer = {};
};

/// Told the phase that begins, and its number of how many.
using Progress = std::function<void(const std::string &phase, int number, int count)>;

inline constexpr const char kCompilerVersion[] = "accc 0.1.0";

/// Compiles a model to a library, or to the IR after options.stopAfter. Files appear whole or not
/// at all. On a failure in which accc is at fault, the IR before the failing phase is kept in a
/// reproducer file beside the output.
Outcome compileModel(const CompileOptions &options, const Progress &progress = {});

/// Finds every problem in compiling a model with these options, without generating code. Writes no
/// file: those that the options name are only looked at. Goes on past wrong options as long as
/// there is a model to look at.
Outcome checkModel(const CompileOptions &options, const Progress &progress = {});

/// What a model file holds, as JSON: inputs, outputs, parameters, ops, FLOPs and bytes of a forward
/// run; of several sizes an array of that.
Outcome inspectModel(const CompileOptions &options);

/// The names of the phases, in order.
std::vector<std::string> phaseNames();

/// What a compiler was at that crashed; empty where that is not known.
struct Crash {
  std::string signal, phase, entry, node, op;
};

/// As an error that accc is at fault for.
Problem toProblem(const Crash &crash);

/// Runs `work` in a child process, so that no crash of the compiler is one of the tool. Returns the
/// child's exit code; if a signal ended it, calls `crashed` and returns 4.
int guardAgainstCrashes(const std::function<int()> &work,
                        const std::function<void(const Crash &)> &crashed);

} // namespace accc

#endif
