// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc: the command line. Exit codes: 0 done, 1 the model or data is at fault, 2 wrong usage, 3 the
// machine is at fault, 4 a bug in accc.
#include "Command.h"

#include <iostream>

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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : static_cast<int>(ExitCode::Usage);
  }
  try {
    return action();
  } catch (const Error &error) {
    std::cerr << "accc: error: " << error.what() << "\n";
    return error.exit_code();
  } catch (const std::bad_alloc &) {
    std::cerr << "accc: error: there is not enough memory\n";
    return static_cast<int>(ExitCode::Machine);
  } catch (const std::exception &error) {
    std::cerr << "accc: error: " << error.what() << " (this is a bug in accc)\n";
    return static_cast<int>(ExitCode::Bug);
  }
}
