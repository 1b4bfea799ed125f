// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compile costs: how long its phases take, how much memory, how much work they do.
#ifndef ACCC_SUPPORT_COMPILELOG_H
#define ACCC_SUPPORT_COMPILELOG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace accc {

/// Work that is counted rather than timed, so that its growth is the same on every machine.
enum class Counter {
#define ACCC_COUNTER(name) name,
#include "support/Counters.def"
};
inline constexpr const char *kCounterNames[] = {
#define ACCC_COUNTER(name) #name,
#include "support/Counters.def"
};

/// Adds to a counter of the process. From any thread.
void count(Counter counter, int64_t amount = 1);

/// The process's seconds of wall clock and of CPU time (all threads, and children that ended).
struct Clock {
  double wall = 0, cpu = 0;
  static Clock now();
  Clock operator-(const Clock &other) const { return {wall - other.wall, cpu - other.cpu}; }
};

/// The most memory that the process has had until now.
int64_t peakMemoryBytes();

class TimedPart;

/// The costs of one compile. While it lives, parts that begin on its thread are kept in it.
class CompileLog {
public:
  /// A phase, or one of its parts.
  struct Part {
    // The target and the sizes of -D that it ran for, of each if there are several.
    std::string name, sizes;
    Clock time;
    int64_t peakMemory = 0; // when it ended
    std::vector<Part> parts = {};
  };

  CompileLog();
  ~CompileLog();
  CompileLog(const CompileLog &) = delete;
  CompileLog &operator=(const CompileLog &) = delete;

  llvm::ArrayRef<Part> phases() const { return ended; }
  /// By the order of Counters.def: what was counted since the log began.
  std::array<int64_t, std::size(kCounterNames)> work() const;

private:
  friend class TimedPart;
  std::vector<Part> ended;
  TimedPart *innermost = nullptr; // of those that go on
  std::array<int64_t, std::size(kCounterNames)> before;
  CompileLog *outer;
};

/// A part of the phase, or of the part, that is going on; ends with its scope. Does nothing where
/// no log lives on this thread.
class TimedPart {
public:
  explicit TimedPart(llvm::StringRef name, llvm::StringRef sizes = "");
  ~TimedPart();
  TimedPart(const TimedPart &) = delete;
  TimedPart &operator=(const TimedPart &) = delete;

private:
  CompileLog *log;
  TimedPart *outer = nullptr;
  CompileLog::Part part;
  Clock start;
};

} // namespace accc

#endif
