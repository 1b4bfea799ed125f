// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc: the command line. Exit codes: 0 done, 1 the model or data is at fault, 2 wrong usage, 3 the
// machine is at fault, 4 a bug in accc.
#include "Command.h"
#include "Print.h"
#include "support/Log.h"

using namespace accc;
using namespace accc::tool;

int main(int argc, char **argv) {
  CLI::App app("Compiles exported models into training steps, and runs them.", "accc");
  app.set_version_flag("--version", kCompilerVersion);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the model or data is at fault, 2 wrong usage, 3 the machine is at "
      "fault, 4 a bug in accc.");
  Action action;
  addCompile(app, action);
  addCheck(app, action);
  addInspect(app, action);
  addRun(app, action);
  addDiff(app, action);
  addGolden(app, action);
  addBench(app, action);
  addMessageOptions(app);
  for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
    addMessageOptions(*command);

  PrintableOutput output;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help, --version
      return app.exit(error);
    return static_cast<int>(reportUsage(app, error));
  }
  try {
    return action();
  } catch (const Error &error) {
    log(LogLevel::Error, error.what());
    return error.exit_code();
  } catch (const std::bad_alloc &) {
    log(LogLevel::Error, "there is not enough memory");
    return static_cast<int>(ExitCode::Machine);
  } catch (const std::exception &error) {
    log(LogLevel::Error, std::string("bug in accc: ") + error.what());
    return static_cast<int>(ExitCode::Bug);
  }
}
