// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of an entry point, run by the team where that pays.
#ifndef ACCC_RUNTIME_CPU_LAUNCHES_H
#define ACCC_RUNTIME_CPU_LAUNCHES_H

#include "Team.h"
#include "accc/abi.h"

#include <cstddef>
#include <vector>

namespace accc::detail {

/// Runs the launches of one entry point, in the order in which it makes them. In the first steps
/// every launch runs on the calling thread, which measures it; one that is done in a few
/// microseconds stays there, since waking the team costs about 1 us, and a time slice of
/// milliseconds where another process has one of the cores. How a launch is split never changes its
/// result, so neither does this choice.
class Launches {
public:
  /// `count` launches a step, by a team that must outlive this.
  Launches(size_t count, const Team &team) : launches(count), team(team) {}

  /// Before each step.
  void begin() { next = 0; }
  /// Runs the next launch of the step and returns when it is done.
  void run(accc_kernel_function kernel, char *const *buffers, int64_t tasks);

private:
  struct Launch {
    float shortest = 0; // seconds on one thread
    int measured = 0;   // how often
  };

  std::vector<Launch> launches;
  const Team &team;
  size_t next = 0;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_LAUNCHES_H
