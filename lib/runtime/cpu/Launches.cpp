// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Launches.h"

#include <algorithm>
#include <chrono>

namespace accc::detail {

namespace {
/// The shortest of so many measurements counts: the others were disturbed.
constexpr int measurements = 3;
/// On one thread. Two threads would save 5 us less the 1 us that waking them takes.
constexpr float worthSharing = 10e-6f;
/// No disturbance makes a short launch look as long as this.
constexpr float clearlyLong = 20 * worthSharing;
} // namespace

void Launches::run(accc_kernel_function kernel, char *const *buffers, int64_t tasks) {
  // A step whose loops make more launches than were announced runs the others by the team.
  static Launch none{clearlyLong, measurements};
  Launch &launch = next < launches.size() ? launches[next++] : none;
  if (tasks <= 1 || team.threads() == 1) {
    if (tasks > 0)
      kernel(buffers, 0, tasks);
    return;
  }
  bool known = launch.measured == measurements || launch.shortest >= clearlyLong;
  if (!known) {
    auto start = std::chrono::steady_clock::now();
    kernel(buffers, 0, tasks);
    std::chrono::duration<float> taken = std::chrono::steady_clock::now() - start;
    launch.shortest = launch.measured ? std::min(launch.shortest, taken.count()) : taken.count();
    ++launch.measured;
    return;
  }
  if (launch.shortest < worthSharing)
    return kernel(buffers, 0, tasks);
  team.run([&](int thread, int threads) {
    auto [begin, end] = share(tasks, thread, threads);
    if (begin < end)
      kernel(buffers, begin, end);
  });
}

} // namespace accc::detail
