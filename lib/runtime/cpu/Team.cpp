// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Team.h"

// The calls that `#pragma omp parallel` of gcc turns into, a stable interface of libgomp which
// LLVM's libomp offers as well. clang's own pragma would bring a second OpenMP runtime, and with it
// a second team of threads, into a process where oneDNN already has libgomp's.
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_in_parallel();
void omp_set_num_threads(int threads);
}

namespace accc::detail {

Team::Team(int threads) : count(threads > 0 ? threads : omp_get_max_threads()) {}

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

Team::Scope::Scope(const Team &team) : previous(omp_get_max_threads()) {
  if (previous != team.threads())
    omp_set_num_threads(team.threads());
}

Team::Scope::~Scope() {
  if (omp_get_max_threads() != previous)
    omp_set_num_threads(previous);
}

} // namespace accc::detail
