// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/CompileLog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <utility>

using namespace accc;

static std::array<std::atomic<int64_t>, std::size(kCounterNames)> counters;
static thread_local CompileLog *current = nullptr;

void accc::count(Counter counter, int64_t amount) {
  counters[static_cast<size_t>(counter)].fetch_add(amount, std::memory_order_relaxed);
}

static auto countersNow() {
  std::array<int64_t, std::size(kCounterNames)> values;
  for (auto [value, counter] : llvm::zip_equal(values, counters))
    value = counter.load(std::memory_order_relaxed);
  return values;
}

static rusage usageOf(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return usage;
}

Clock Clock::now() {
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  double cpu = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = usageOf(who);
    cpu += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  std::chrono::duration<double> wall = std::chrono::steady_clock::now().time_since_epoch();
  return {wall.count(), cpu};
}

// Not ru_maxrss: that begins with what the process that started this one had.
int64_t accc::peakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (llvm::StringRef rest = line; rest.consume_front("VmHWM:")) {
      int64_t kilobytes = 0;
      rest = rest.ltrim();
      if (!rest.consumeInteger(10, kilobytes))
        return kilobytes * 1024;
    }
  return usageOf(RUSAGE_SELF).ru_maxrss * 1024;
}

CompileLog::CompileLog() : before(countersNow()), outer(current) { current = this; }

CompileLog::~CompileLog() { current = outer; }

std::array<int64_t, std::size(kCounterNames)> CompileLog::work() const {
  auto values = countersNow();
  for (auto [value, start] : llvm::zip_equal(values, before))
    value -= start;
  return values;
}

TimedPart::TimedPart(llvm::StringRef name, llvm::StringRef sizes) : log(current) {
  if (!log)
    return;
  outer = std::exchange(log->innermost, this);
  part.name = name.str();
  part.sizes = sizes.str();
  start = Clock::now();
}

TimedPart::~TimedPart() {
  if (!log)
    return;
  part.time = Clock::now() - start;
  part.peakMemory = peakMemoryBytes();
  log->innermost = outer;
  (outer ? outer->part.parts : log->ended).push_back(std::move(part));
}
