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
    if (json) {
      nlohmann::ordered_json result = toJson(outcome);
      if (!outcome.text.empty())
        result["ir"] = outcome.text;
      std::cout << toText(result) << "\n";
      return static_cast<int>(outcome.code);
    }
    std::cout << outcome.text;
    printProblems(outcome);
    return static_cast<int>(outcome.code);
  };
  return guardAgainstCrashes(work,
                             [&](const std::string &signal) { reportCrash(options, signal); });
}

void accc::tool::addCompile(CLI::App &app, Action &action) {
  auto options = std::make_shared<CompileOptions>();
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("compile", "compiles a model into a library");
  addCompileOptions(*command, *options);
  command->add_option("-o,--output", options->output, "the library to write")->type_name("LIB.so");
  command->add_option("--memory-budget", "what a step may use; not supported yet")
      ->type_name("SIZE")
      ->each([](const std::string &) {
        throw CLI::ValidationError("is not supported in this version");
      });
  command->add_option("--weights", options->weights,
                      "initial values: embed, beside or none; by default embed up to 16 MB");
  command->add_option("--header", options->header, "writes a typed C++ header")->type_name("LIB.h");
  command
      ->add_option("--report", options->report,
                   "writes kernels, FLOPs, bytes, memory, compile times as JSON")
      ->type_name("LIB.json");
  command->add_option("--dump-dir", options->dumpDir, "writes the IR after every phase")
      ->type_name("DIR");
  command->add_option("--stop-after", options->stopAfter, "prints the IR after this phase")
      ->type_name("PHASE");
  command->add_flag(
      "--json", *json,
      "prints {ok, problems: [{severity, fault, node, op, message}]}, and with --stop-after "
      "the IR");
  command->callback(
      [options, json, &action] { action = [options, json] { return compile(*options, *json); }; });
}
