// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a compilation's problems and of its progress.
#include "Command.h"
#include "Json.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace accc;
using namespace accc::tool;
using nlohmann::ordered_json;

void accc::tool::printProblems(const Outcome &outcome) {
  size_t errors = 0, warnings = 0;
  for (const Problem &problem : outcome.problems) {
    bool isError = problem.severity == Problem::Severity::Error;
    ++(isError ? errors : warnings);
    std::cerr << "accc: " << (isError ? "error: " : "warning: ") << describe(problem) << "\n";
  }
  if (errors > 1)
    std::cerr << "accc: " << errors << " errors, " << warnings << " warnings\n";
  if (outcome.code == ExitCode::Bug)
    std::cerr << "accc: this is a bug in accc"
              << (outcome.reproducer.empty() ? "" : "; " + outcome.reproducer + " reproduces it")
              << "\n";
}

ordered_json accc::tool::toJson(const Outcome &outcome) {
  ordered_json problems = ordered_json::array();
  for (const Problem &problem : outcome.problems)
    problems.push_back(
        {{"severity", problem.severity == Problem::Severity::Error ? "error" : "warning"},
         {"fault", nameOf(problem.fault)},
         {"node", problem.node},
         {"op", problem.op},
         {"message", problem.message}});
  return {{"ok", outcome.code == ExitCode::Done}, {"problems", problems}};
}

ProgressLine::ProgressLine() : terminal(isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown)
    std::fputs("\r\033[K", stderr);
}

void ProgressLine::operator()(const std::string &what, int number, int count) {
  if (!terminal)
    return;
  std::fprintf(stderr, "\r\033[K[%d/%d] %s", number, count, what.c_str());
  shown = true;
}

void accc::tool::reportCrash(const CompileOptions &options, const std::string &signal) {
  std::cerr << "accc: error: the compiler crashed (" << signal << "): this is a bug in accc\n";
  // The compiler is deterministic: run again with dumps, the last of which was given to the phase
  // that crashed.
  namespace fs = std::filesystem;
  std::string stem =
      options.output.empty() ? fs::path(options.model).stem().string() : options.output;
  CompileOptions again = options;
  again.dumpDir = stem + ".reproducer";
  if (again.output.empty())
    again.stopAfter = "schedule";
  guardAgainstCrashes([&] { return static_cast<int>(compileModel(again).code); },
                      [](const std::string &) {});
  std::error_code ignored;
  std::ofstream(again.dumpDir + "/model.txt") << fs::absolute(options.model).string() << "\n";
  if (fs::exists(again.dumpDir, ignored))
    std::cerr
        << "accc: " << again.dumpDir
        << " holds the IR before the crash; please send it, or the model, with a bug report\n";
}
