// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler that crashes must not take its tool with it: it runs in a child process, which ends
// when the tool is ended and leaves no file behind.
#include "driver/Driver.h"
#include "driver/HeldSignals.h"
#include "support/Log.h"
#include "support/WorkScope.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace accc;

/// Of the runtime of scripts/guards' builds, which count conditions: exit() would call it.
extern "C" int __llvm_profile_write_file() __attribute__((weak));

namespace {

std::atomic<pid_t> compiler = 0;
std::atomic<int> received = 0;
void endCompiler(int signal) {
  received = signal;
  if (pid_t child = compiler)
    kill(child, signal);
}

/// While it lives, what would end this process ends the child, which is waited for, and then this
/// process, by the same signal: a shell's loop ends with it. So it does where the signal comes too
/// late for the child: else it were lost, and whatever follows would run on.
class ForwardedSignals {
public:
  explicit ForwardedSignals(pid_t child) {
    compiler = child;
    received = 0;
    for (size_t i = 0; i < std::size(kEndings); ++i) {
      struct sigaction action = {};
      action.sa_handler = endCompiler;
      sigaction(kEndings[i], nullptr, &before[i]);
      if (before[i].sa_handler != SIG_IGN)
        sigaction(kEndings[i], &action, nullptr);
    }
  }
  ForwardedSignals(const ForwardedSignals &) = delete;
  ForwardedSignals &operator=(const ForwardedSignals &) = delete;
  ~ForwardedSignals() {
    for (size_t i = 0; i < std::size(kEndings); ++i)
      sigaction(kEndings[i], &before[i], nullptr);
    compiler = 0;
    if (int signal = received)
      raise(signal);
  }

private:
  struct sigaction before[std::size(kEndings)];
};

std::atomic<bool> memoryRanOut = false;
thread_local bool endsCompiler = false;

/// Other threads, which get no memory either and may crash for it, wait for the one that ends the
/// process: what they meet is no bug.
[[noreturn]] void awaitEnd() {
  if (endsCompiler)
    _exit(static_cast<int>(ExitCode::Machine));
  while (true)
    pause();
}

/// Memory has run out: whatever was begun is taken back.
[[noreturn]] void giveUp() {
  if (memoryRanOut.exchange(true))
    awaitEnd();
  endsCompiler = true;
  constexpr char message[] = "accc: error: not enough memory to compile the model\n";
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  _exit(static_cast<int>(ExitCode::Machine));
}

/// A thread needs a stack, which is the first large piece of memory that is refused.
bool canStartThread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, [](void *) -> void * { return nullptr; }, nullptr) != 0)
    return false;
  pthread_join(thread, nullptr);
  return true;
}

/// The same, by what a handler of signals may call.
bool isOutOfMemory() {
  constexpr size_t kStack = 8 << 20;
  void *stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return stack == MAP_FAILED || munmap(stack, kStack) != 0;
}

/// LLVM gives up: because it got no thread, which is no bug, or for reasons of its own.
void onFatalError(void *, const char *reason, bool) {
  if (!canStartThread())
    giveUp();
  std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
}

/// Memory in which a compiler that crashes leaves where it was.
class SharedPlace {
public:
  SharedPlace() {
    void *memory =
        mmap(nullptr, sizeof(WorkPlace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
      place = new (memory) WorkPlace;
  }
  SharedPlace(const SharedPlace &) = delete;
  SharedPlace &operator=(const SharedPlace &) = delete;
  ~SharedPlace() {
    if (place)
      munmap(place, sizeof(WorkPlace));
  }
  WorkPlace *get() const { return place; }

private:
  WorkPlace *place = nullptr;
};

/// Ends the process by the signal, as LLVM's handler does not where the signal came by kill(). A
/// stack that finds no memory to grow is no bug: nobody is asked for that memory.
void onCrash(int signal) {
  if (memoryRanOut)
    awaitEnd();
  if (isOutOfMemory())
    giveUp();
  llvm::sys::RunSignalHandlers();
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Takes back what was begun and ends the process by the signal. A terminal sends Ctrl-C to this
/// process and to the tool, which forwards it: the second, which another thread may get, must not
/// end the process in the middle (with LLVM's own handler it does).
void onEnding(int signal) {
  if (!HeldSignals::mayEnd(signal))
    return;
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  std::signal(signal, SIG_DFL);
  raise(signal); // delivered when this returns
}

/// For the signals that this process does not ignore, as under nohup it does. LLVM, which does not
/// ask, has set its own handlers since `before`.
void handleEndings(const struct sigaction (&before)[std::size(kEndings)]) {
  struct sigaction action = {};
  action.sa_handler = onEnding;
  for (int signal : kEndings)
    sigaddset(&action.sa_mask, signal);
  for (size_t i = 0; i < std::size(kEndings); ++i)
    sigaction(kEndings[i], before[i].sa_handler == SIG_IGN ? &before[i] : &action, nullptr);
}

[[noreturn]] void runCompiler(const std::function<int()> &work, pid_t tool, WorkPlace *place) {
  // The report is the tool's; a core file would only litter the user's folder.
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != tool) // ended before that took effect
    raise(SIGTERM);
  struct sigaction before[std::size(kEndings)];
  for (size_t i = 0; i < std::size(kEndings); ++i)
    sigaction(kEndings[i], nullptr, &before[i]);
  // This sets LLVM's handlers, and a stack for them, of which ours take the place.
  auto describe = [](void *to) {
    if (to)
      describeWork(*static_cast<WorkPlace *>(to));
  };
  llvm::sys::AddSignalHandler(describe, place);
  handleEndings(before);
  if (place) {
    struct sigaction action{};
    action.sa_handler = onCrash;
    action.sa_flags = SA_NODEFER | SA_RESETHAND | SA_ONSTACK;
    for (int signal : {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS})
      sigaction(signal, &action, nullptr);
  }
  std::set_new_handler(giveUp);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { giveUp(); });
  llvm::install_fatal_error_handler(onFatalError);
  int code = work();
  if (!flushOutput() && code == 0)
    code = static_cast<int>(ExitCode::Machine);
  std::fflush(nullptr);
  if (__llvm_profile_write_file)
    __llvm_profile_write_file();
  _exit(code);
}

} // namespace

Problem accc::toProblem(const Crash &crash) {
  std::string where = crash.phase.empty() ? "" : " in the phase '" + crash.phase + "'";
  if (!crash.entry.empty())
    where += " of " + crash.entry;
  return {.node = crash.node,
          .op = crash.op,
          .message = "bug in accc: the compiler crashed (" + crash.signal + ")" + where,
          .fault = Fault::Bug};
}

int accc::guardAgainstCrashes(const std::function<int()> &work,
                              const std::function<void(const Crash &)> &crashed) {
  std::cout.flush();
  std::fflush(nullptr);
  SharedPlace shared;
  // A signal that comes before there is a child to forward it to waits until there is.
  sigset_t endings, before;
  sigemptyset(&endings);
  for (int signal : kEndings)
    sigaddset(&endings, signal);
  sigprocmask(SIG_BLOCK, &endings, &before);
  pid_t tool = getpid(), child = fork();
  if (child <= 0)
    sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0)
    return work();
  if (child == 0)
    runCompiler(work, tool, shared.get());
  int status = 0;
  {
    ForwardedSignals forwarded(child);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  // Ended from outside: the user's Ctrl-C, the system's lack of memory, or whoever read the output
  // and reads no more.
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGPIPE)
    return 128 + signal;
  if (signal == SIGKILL) {
    log(LogLevel::Error, "the compiler was killed; is there enough memory?");
    return static_cast<int>(ExitCode::Machine);
  }
  WorkPlace place = shared.get() ? *shared.get() : WorkPlace();
  crashed({strsignal(signal), place.phase, place.entry, place.node, place.op});
  return static_cast<int>(ExitCode::Bug);
}
