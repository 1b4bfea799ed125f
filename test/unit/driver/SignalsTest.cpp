// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signal that is to end a tool ends it, whatever its compiler is doing.
#include "driver/Driver.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace accc;

/// How a process ended (as of waitpid) that runs `work` as its compiler and then does nothing.
static int runTool(const std::function<int()> &work, sighandler_t onTerm = SIG_DFL) {
  pid_t tool = fork();
  if (tool == 0) {
    std::signal(SIGTERM, onTerm);
    _exit(guardAgainstCrashes(work, [](const Crash &) {}));
  }
  int status = 0;
  waitpid(tool, &status, 0);
  return status;
}

/// Ends the tool, when nothing ends its compiler any more.
static int endToolOnly() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  kill(getppid(), SIGTERM);
  return 0;
}

TEST_CASE("signals: one that comes when the compiler is done ends the tool") {
  int status = runTool(endToolOnly);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("signals: one that the tool ignores ends nothing") {
  int status = runTool(endToolOnly, SIG_IGN);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  status = runTool(
      [] {
        kill(getppid(), SIGTERM);
        usleep(10'000);
        return 5;
      },
      SIG_IGN);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
}

TEST_CASE("signals: one that ends tool and compiler is what both end by") {
  int status = runTool([] {
    kill(getppid(), SIGTERM);
    pause();
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("signals: one that ends the compiler alone is in the exit code") {
  int status = runTool([] {
    raise(SIGTERM);
    return 0;
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
}
