// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals that wait while files get their names.
#ifndef ACCC_DRIVER_HELDSIGNALS_H
#define ACCC_DRIVER_HELDSIGNALS_H

#include <atomic>
#include <csignal>
#include <iterator>

namespace accc {

/// While it lives, a signal that would end the process waits: no temporary file is left behind, and
/// of several files all get their names or none. It ends the process afterwards. One at a time.
class HeldSignals {
public:
  HeldSignals() {
    received = 0;
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
    if (int signal = received)
      raise(signal);
  }

private:
  static constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};
  static inline std::atomic<int> received = 0;
  struct sigaction before[std::size(kEndings)];
};

} // namespace accc

#endif
