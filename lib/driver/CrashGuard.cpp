// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler that crashes must not take its tool with it: it runs in a child process.
#include "driver/Driver.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace accc;

int accc::guardAgainstCrashes(const std::function<int()> &work,
                              const std::function<void(const std::string &)> &crashed) {
  std::cout.flush();
  std::fflush(nullptr);
  pid_t child = fork();
  if (child < 0)
    return work();
  if (child == 0) {
    // The report is the parent's; a core file would only litter the user's folder.
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    int code = work();
    std::cout.flush();
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  // Ended from outside: the user's Ctrl-C, or the system's lack of memory.
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
    return 128 + signal;
  if (signal == SIGKILL) {
    std::cerr << "accc: error: the compiler was killed; is there enough memory?\n";
    return static_cast<int>(ExitCode::Machine);
  }
  crashed(strsignal(signal));
  return static_cast<int>(ExitCode::Bug);
}
