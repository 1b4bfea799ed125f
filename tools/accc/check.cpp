// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc check MODEL: every problem at once, without compiling.
#include "Command.h"
#include "Json.h"

#include <iostream>
#include <memory>

using namespace accc;
using namespace accc::tool;

static int check(const CompileOptions &options, bool json) {
  auto work = [&] {
    Outcome outcome;
    {
      ProgressLine line;
      outcome = checkModel(options, std::ref(line));
    }
    printProblems(outcome);
    if (json)
      std::cout << toText(toJson(outcome)) << "\n";
    else if (outcome.code == ExitCode::Done)
      std::cout << options.model << ": no problems found\n";
    return static_cast<int>(outcome.code);
  };
  return guardAgainstCrashes(work, [&](const Crash &crash) { reportCrash(options, crash, json); });
}

void accc::tool::addCheck(CLI::App &app, Action &action) {
  auto options = std::make_shared<CompileOptions>();
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "check", "Check a model with these options and report every problem, without compiling");
  addCompileOptions(*command, *options);
  addOutputOptions(*command, *options);
  command->get_option("--output")->description("Accepted as for compile; nothing is written");
  command->add_flag("--json", *json,
                    "Print {ok, problems: [{severity, fault, node, op, message}]}");
  command->callback(
      [options, json, &action] { action = [options, json] { return check(*options, *json); }; });
}
