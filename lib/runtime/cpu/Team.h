// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The OpenMP thread team that kernels and oneDNN share.
#ifndef ACCC_RUNTIME_CPU_TEAM_H
#define ACCC_RUNTIME_CPU_TEAM_H

#include <cstdint>
#include <utility>

namespace accc::detail {

/// A number of threads; the threads themselves belong to the OpenMP runtime of the process.
class Team {
public:
  /// 0: as many as OpenMP would take. At most as many as it has (OMP_THREAD_LIMIT).
  explicit Team(int threads);
  int threads() const { return count; }

  /// Calls body(thread, threads) once on every thread and returns when all are done; on the calling
  /// thread alone, as body(0, 1), where the team is one thread or is already at work.
  /// An exception must not leave `body`.
  template <typename Body> void run(Body &&body) const {
    auto call = [](void *data, int thread, int threads) {
      (*static_cast<std::remove_reference_t<Body> *>(data))(thread, threads);
    };
    fork(call, &body);
  }

  /// Calls body() where oneDNN finds the team: on a thread of its own inside a parallel region of
  /// the program's, where oneDNN works on one thread. A call that was made for several would wait
  /// for the others for ever. So it would in a child of fork(), where OpenMP's threads that the
  /// calling one had before are not there any more, and OpenMP does not know. An exception must not
  /// leave `body`.
  template <typename Body> void runOutside(Body &&body) const {
    lead([](void *data) { (*static_cast<std::remove_reference_t<Body> *>(data))(); }, &body);
  }

  /// While it lives, oneDNN calls made by this thread use the team's number of threads, all of
  /// them: OMP_DYNAMIC and OMP_MAX_ACTIVE_LEVELS make them no fewer.
  class Scope {
  public:
    explicit Scope(const Team &team);
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope();

  private:
    int threads, dynamic, levels; // as they were
  };

private:
  using Function = void (*)(void *data, int thread, int threads);
  void fork(Function function, void *data) const;
  void lead(void (*function)(void *), void *data) const;

  int count;
};

/// The part [first, second) of `tasks` that `thread` of `threads` does: sizes differ by one at
/// most.
inline std::pair<int64_t, int64_t> share(int64_t tasks, int thread, int threads) {
  return {tasks * thread / threads, tasks * (thread + 1) / threads};
}

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_TEAM_H
