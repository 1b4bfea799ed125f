// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a compilation's problems and of its progress.
#include "Command.h"
#include "Json.h"
#include "support/Log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace accc;
using namespace accc::tool;
using nlohmann::ordered_json;

static LogLevel levelOf(Problem::Severity severity) {
  switch (severity) {
  case Problem::Severity::Note:
    return LogLevel::Note;
  case Problem::Severity::Warning:
    return LogLevel::Warning;
  case Problem::Severity::Error:
    break;
  }
  return LogLevel::Error;
}

static std::string countOf(size_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// True where only the node differs.
static bool isRepeated(const Problem &a, Problem b) {
  b.node = a.node;
  return !a.node.empty() && a == b && a.sizes == b.sizes;
}

void accc::tool::printProblems(const Outcome &outcome) {
  size_t errors = 0, warnings = 0;
  std::vector<std::pair<Problem, size_t>> groups; // and how many more there are
  for (const Problem &problem : outcome.problems) {
    errors += problem.severity == Problem::Severity::Error;
    warnings += problem.severity == Problem::Severity::Warning;
    auto known = std::ranges::find_if(
        groups, [&](const auto &group) { return isRepeated(group.first, problem); });
    if (known != groups.end() && !isLogged(LogLevel::Note))
      ++known->second;
    else
      groups.emplace_back(problem, 0);
  }
  for (const auto &[problem, more] : groups)
    log(levelOf(problem.severity),
        describe(problem) + (more ? " (and at " + countOf(more, "other node") + ")" : ""));
  if (errors > 1)
    log(LogLevel::Error, countOf(errors, "error") + ", " + countOf(warnings, "warning"));
  if (!outcome.reproducer.empty())
    log(LogLevel::Error, outcome.reproducer + " reproduces this; please send it with a bug report");
}

static ordered_json problemJson(const Problem &problem) {
  return {{"severity", nameOf(problem.severity)},
          {"fault", nameOf(problem.fault)},
          {"node", problem.node},
          {"op", problem.op},
          {"message", problem.message}};
}

ordered_json accc::tool::toJson(const Outcome &outcome) {
  ordered_json problems = ordered_json::array();
  for (const Problem &problem : outcome.problems)
    problems.push_back(problemJson(problem));
  return {{"ok", outcome.code == ExitCode::Done}, {"problems", problems}};
}

ordered_json accc::tool::toJson(ErrorKind kind, const std::string &message) {
  static_assert(exitCodeFor(Fault::Data) == static_cast<ExitCode>(ErrorKind::data) &&
                exitCodeFor(Fault::Bug) == static_cast<ExitCode>(ErrorKind::bug));
  auto fault = static_cast<Fault>(static_cast<int>(kind) - static_cast<int>(ErrorKind::data));
  return {{"ok", false},
          {"problems", ordered_json::array({problemJson({.message = message, .fault = fault})})}};
}

// It would get between the messages of what is done.
ProgressLine::ProgressLine()
    : terminal(isatty(STDERR_FILENO) && !isLogged(LogLevel::Debug) && isLogged(LogLevel::Warning)) {
}

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

/// A folder with the IR before the crash; empty where there is none.
static std::string reproduce(const CompileOptions &options) {
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
                      [](const Crash &) {});
  std::error_code ignored;
  std::ofstream(again.dumpDir + "/model.txt") << fs::absolute(options.model).string() << "\n";
  return fs::exists(again.dumpDir, ignored) ? again.dumpDir : "";
}

void accc::tool::reportCrash(const CompileOptions &options, const Crash &crash, bool json) {
  Problem problem = toProblem(crash);
  log(LogLevel::Error, describe(problem));
  std::string folder = reproduce(options);
  if (!folder.empty())
    log(LogLevel::Error, folder + " holds the IR before the crash; please send it, or the model, "
                                  "with a bug report");
  if (!json)
    return;
  ordered_json entry = problemJson(problem);
  entry["phase"] = crash.phase;
  entry["entry"] = crash.entry;
  std::cout << toText({{"ok", false}, {"problems", {entry}}, {"reproducer", folder}}) << "\n";
}
