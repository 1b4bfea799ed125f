// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler that crashes must not take its tool with it: it runs in a child process, which ends
// when the tool is ended and leaves no file behind.
#include "driver/Driver.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace accc;

namespace {

constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<pid_t> compiler = 0;
void endCompiler(int signal) {
  if (pid_t child = compiler)
    kill(child, signal);
}

/// While it lives, what would end this process ends the child, which is waited for.
class ForwardedSignals {
public:
  explicit ForwardedSignals(pid_t child) {
    compiler = child;
    for (size_t i = 0; i < std::size(kEndings); ++i) {
      struct sigaction action = {};
      action.sa_handler = endCompiler;
      sigaction(kEndings[i], &action, &before[i]);
    }
  }
  ForwardedSignals(const ForwardedSignals &) = delete;
  ForwardedSignals &operator=(const ForwardedSignals &) = delete;
  ~ForwardedSignals() {
    for (size_t i = 0; i < std::size(kEndings); ++i)
      sigaction(kEndings[i], &before[i], nullptr);
    compiler = 0;
  }

private:
  struct sigaction before[std::size(kEndings)];
};

/// Memory has run out: whatever was begun is taken back.
[[noreturn]] void giveUp() {
  constexpr char message[] = "accc: error: not enough memory to compile the model\n";
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  _exit(static_cast<int>(ExitCode::Machine));
}

[[noreturn]] void runCompiler(const std::function<int()> &work, pid_t tool) {
  // The report is the tool's; a core file would only litter the user's folder.
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != tool) // ended before that took effect
    raise(SIGTERM);
  std::set_new_handler(giveUp);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { giveUp(); });
  int code = work();
  std::cout.flush();
  std::fflush(nullptr);
  _exit(code);
}

} // namespace

int accc::guardAgainstCrashes(const std::function<int()> &work,
                              const std::function<void(const std::string &)> &crashed) {
  std::cout.flush();
  std::fflush(nullptr);
  pid_t tool = getpid(), child = fork();
  if (child < 0)
    return work();
  if (child == 0)
    runCompiler(work, tool);
  int status = 0;
  {
    ForwardedSignals forwarded(child);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
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
