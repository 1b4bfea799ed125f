// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's targets are registered by the first that asks for one, whichever thread that is.
#include "target/LlvmTarget.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
constexpr int kProcesses = 200, kThreads = 8;
constexpr unsigned kSeconds = 20;

/// What a process says that has looked up targets from many threads at once, before any was
/// registered.
int lookUpFromCold() {
  std::atomic<int> ready = 0, missing = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (++ready; ready < kThreads;) // all at once
        ;
      for (const char *triple : {"x86_64-unknown-linux-gnu", "nvptx64-nvidia-cuda"})
        missing += !accc::findLlvmTarget(i % 2 ? "nvptx64-nvidia-cuda" : triple);
    });
  for (std::thread &thread : threads)
    thread.join();
  return missing ? 1 : 0;
}
} // namespace

// LLVM's list of targets, tied into a ring by two threads, is searched for ever: the alarm ends
// that.
TEST_CASE("targets are registered once, however many threads ask first", "[target]") {
  for (int i = 0; i < kProcesses; ++i) {
    pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::signal(SIGALRM, SIG_DFL);
      ::alarm(kSeconds);
      ::_exit(lookUpFromCold());
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    INFO("process " << i << (WIFSIGNALED(status) ? " ended by a signal" : " found no target"));
    REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
}
