// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Team.h"

#include "accc/error.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

// The calls that `#pragma omp parallel` of gcc turns into, a stable interface of libgomp which
// LLVM's libomp offers as well. clang's own pragma would bring a second OpenMP runtime, and with it
// a second team of threads, into a process where oneDNN already has libgomp's.
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_thread_limit();
int omp_get_dynamic();
int omp_get_max_active_levels();
int omp_in_parallel();
void omp_set_num_threads(int threads);
void omp_set_dynamic(int dynamic);
void omp_set_max_active_levels(int levels);
}

namespace accc::detail {

/// OpenMP's own bookkeeping of a team, which lies on the stack, is too large for it with more.
static constexpr int kMostThreads = 4096;

/// Whether this is the thread that called fork(), in its child; of threads that the child makes
/// OpenMP knows none.
static thread_local bool isForked = false;

static void watchForks() {
  [[maybe_unused]] static const int watches =
      ::pthread_atfork(nullptr, nullptr, [] { isForked = true; });
}

/// OpenMP ends the program where it cannot start its threads, which it does in the first step.
static void requireThreads(int count) {
  static std::atomic<int> started = 1;
  if (count <= started)
    return;
  std::vector<std::thread> others; // their stacks stay until they are joined
  std::string problem;
  try {
    for (int i = 1; i < count; ++i)
      others.emplace_back([] {});
  } catch (const std::system_error &error) {
    problem = error.code().message();
  }
  for (std::thread &other : others)
    other.join();
  if (!problem.empty())
    throw Error(ErrorKind::machine,
                "cannot start " + std::to_string(count) + " threads: " + problem);
  started = count;
}

Team::Team(int threads)
    : count(std::min(threads > 0 ? threads : omp_get_max_threads(), omp_get_thread_limit())) {
  if (count > kMostThreads)
    throw Error(ErrorKind::usage, std::to_string(count) + " threads are too many" +
                                      (threads > 0 ? "" : " (OMP_NUM_THREADS)") + ": " +
                                      std::to_string(kMostThreads) + " at most");
  watchForks();
  requireThreads(count);
}

void Team::fork(Function function, void *data) const {
  if (count == 1 || omp_in_parallel()) {
    function(data, 0, 1);
    return;
  }
  struct Work {
    Function function;
    void *data;
  } work{function, data};
  GOMP_parallel(
      [](void *pointer) {
        auto *work = static_cast<Work *>(pointer);
        // OpenMP may give fewer threads than were asked for.
        work->function(work->data, omp_get_thread_num(), omp_get_num_threads());
      },
      &work, static_cast<unsigned>(count), 0);
}

void Team::lead(void (*function)(void *), void *data) const {
  if (count == 1 || (!omp_in_parallel() && !isForked))
    return function(data);
  std::thread(function, data).join();
}

Team::Scope::Scope(const Team &team)
    : threads(omp_get_max_threads()), dynamic(omp_get_dynamic()),
      levels(omp_get_max_active_levels()) {
  omp_set_num_threads(team.threads());
  omp_set_dynamic(0);
  omp_set_max_active_levels(std::max(levels, 1));
}

Team::Scope::~Scope() {
  omp_set_num_threads(threads);
  omp_set_dynamic(dynamic);
  omp_set_max_active_levels(levels);
}

} // namespace accc::detail
