// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals that wait while files get their names.
#ifndef ACCC_DRIVER_HELDSIGNALS_H
#define ACCC_DRIVER_HELDSIGNALS_H

#include <atomic>
#include <csignal>
#include <iterator>
#include <unistd.h>

namespace accc {

/// The signals by which a terminal, a shell or `kill` ends a process.
inline constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives, a signal that would end the process waits: no temporary file is left behind, and
/// of several files all get their names or none. It ends the process afterwards. One at a time.
class HeldSignals {
public:
  HeldSignals() {
    received = 0;
    // Another thread may be in a handler that takes back what was begun.
    for (State idle = State::Idle; !state.compare_exchange_strong(idle, State::Held);
         idle = State::Idle)
      pause();
    for (size_t i = 0; i < std::size(kEndings); ++i) {
      struct sigaction action = {};
      action.sa_handler = [](int signal) { received = signal; };
      action.sa_flags = SA_RESTART;
      sigaction(kEndings[i], nullptr, &before[i]);
      if (before[i].sa_handler != SIG_IGN)
        sigaction(kEndings[i], &action, nullptr);
    }
  }
  HeldSignals(const HeldSignals &) = delete;
  HeldSignals &operator=(const HeldSignals &) = delete;
  ~HeldSignals() {
    for (size_t i = 0; i < std::size(kEndings); ++i)
      sigaction(kEndings[i], &before[i], nullptr);
    state = State::Idle;
    if (int signal = received)
      raise(signal);
  }

  /// For handlers: whether to end the process. If not, the signal waits; the second handler of a
  /// process that ends does not return.
  static bool mayEnd(int signal) {
    State now = State::Idle;
    if (state.compare_exchange_strong(now, State::Ending))
      return true;
    while (now == State::Ending)
      pause();
    received = signal;
    return false;
  }

private:
  enum class State { Idle, Held, Ending };
  static inline std::atomic<State> state = State::Idle;
  static inline std::atomic<int> received = 0;
  struct sigaction before[std::size(kEndings)];
};

} // namespace accc

#endif
