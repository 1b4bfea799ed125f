// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpu_runner: runs, times and checks compiled models where only the runtime is there. Exit codes as
// those of accc.
#include "Commands.h"
#include "accc/Goldens.h"

#include <iostream>
#include <memory>

using namespace accc;
using namespace accc::tool;

void accc::tool::addGoldens(CLI::App &app, Action &action) {
  struct Options {
    std::string subject, params, goldens;
    ReportOptions report;
    double tolerance = DiffReport().tolerance;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("diff", "compares a library, or a run's outputs, with goldens");
  command->add_option("A", options->subject, "a library, or the outputs of a run")->required();
  command->add_option("B", options->goldens, "a folder of goldens")->required();
  command->add_option("--params", options->params, "parameters after the run's last step");
  command->add_flag("--failed", options->report.failedOnly, "lists only what failed");
  command->add_option("--tolerance", options->tolerance, "absolute and relative, of numbers")
      ->capture_default_str();
  command->callback([options, &action] {
    action = [options] {
      DiffReport report{
          .a = options->goldens, .b = options->subject, .tolerance = options->tolerance};
      if (isLibrary(options->subject))
        diffGoldens(options->subject, options->goldens, report);
      else
        diffResults(options->subject, options->params, options->goldens, report);
      return tell(report, options->report);
    };
  });
}

int main(int argc, char **argv) {
  CLI::App app("Runs, times and checks compiled models on a GPU.", "gpu_runner");
  app.require_subcommand(1);
  Action action;
  addRun(app, action);
  addBench(app, action);
  addGoldens(app, action);
  addSamples(app, action);
  addCeilings(app, action);
  addPlans(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : static_cast<int>(ErrorKind::usage);
  }
  try {
    return action();
  } catch (const Error &error) {
    std::cerr << "gpu_runner: error: " << error.what() << "\n";
    return error.exit_code();
  } catch (const std::exception &error) {
    std::cerr << "gpu_runner: error: " << error.what() << "\n";
    return static_cast<int>(ErrorKind::bug);
  }
}
