// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc: the command line. Exit codes: 0 done, 1 the model or data is at fault, 2 wrong usage, 3 the
// machine is at fault, 4 a bug in accc.
#include "Command.h"
#include "Json.h"
#include "Print.h"
#include "support/Log.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <unistd.h>

using namespace accc;
using namespace accc::tool;

/// Ends a command with an error, which is the result where that is JSON.
static int fail(bool json, ErrorKind kind, const std::string &message) {
  log(LogLevel::Error, message);
  if (json)
    std::cout << toText(toJson(kind, message)) << "\n";
  return static_cast<int>(kind);
}

/// Opens what is closed of standard input, output and error: the next file to be opened would take
/// its place, and what is printed would go there.
static void openStandardStreams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0)
      (void)::open("/dev/null", O_RDWR);
}

/// A write beyond the limit of a file's size (ulimit -f) then fails as one to a full disk does;
/// else the system sends a signal that ends the process.
static void ignoreFileSizeLimit() { std::signal(SIGXFSZ, SIG_IGN); }

static int runCommand(int argc, char **argv) {
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

  // Of a wrong command line, too, of which no command knows.
  const bool json = std::any_of(argv + 1, argv + argc, [](const char *argument) {
    return argument == std::string("--json");
  });
  PrintableOutput output;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help, --version
      return app.exit(error);
    int code = fail(json, ErrorKind::usage, describeUsage(app, error));
    log(LogLevel::Note, "accc --help and accc COMMAND --help say more");
    return code;
  }
  if (std::string empty = describeEmpty(app); !empty.empty())
    return fail(json, ErrorKind::usage, empty);
  try {
    return action();
  } catch (const Error &error) {
    return fail(json, error.kind(), error.what());
  } catch (const std::bad_alloc &) {
    return fail(json, ErrorKind::machine, "there is not enough memory");
  } catch (const std::filesystem::filesystem_error &error) {
    return fail(json, ErrorKind::machine, error.path1().string() + ": " + error.code().message());
  } catch (const std::exception &error) {
    return fail(json, ErrorKind::bug, std::string("bug in accc: ") + error.what());
  }
}

int main(int argc, char **argv) {
  openStandardStreams();
  ignoreFileSizeLimit();
  int code = runCommand(argc, argv);
  return flushOutput() || code != 0 ? code : static_cast<int>(ErrorKind::machine);
}
