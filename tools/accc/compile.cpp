// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc compile MODEL -o LIB.so
#include "Command.h"
#include "Json.h"

#include <iostream>
#include <memory>

using namespace accc;
using namespace accc::tool;

static int compile(const CompileOptions &options, bool json) {
  auto work = [&] {
    Outcome outcome;
    {
      ProgressLine line;
      outcome = compileModel(options, std::ref(line));
    }
    printProblems(outcome);
    if (json) {
      nlohmann::ordered_json result = toJson(outcome);
      if (!outcome.text.empty())
        result["ir"] = outcome.text;
      std::cout << toText(result) << "\n";
      return static_cast<int>(outcome.code);
    }
    std::cout << outcome.text;
    return static_cast<int>(outcome.code);
  };
  return guardAgainstCrashes(work, [&](const Crash &crash) { reportCrash(options, crash, json); });
}

void accc::tool::addCompile(CLI::App &app, Action &action) {
  auto options = std::make_shared<CompileOptions>();
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("compile", "Compile a model into a library");
  addCompileOptions(*command, *options);
  addOutputOptions(*command, *options);
  command->add_flag(
      "--json", *json,
      "Print {ok, problems: [{severity, fault, node, op, message}]}, and with --stop-after the IR");
  command->callback(
      [options, json, &action] { action = [options, json] { return compile(*options, *json); }; });
}
