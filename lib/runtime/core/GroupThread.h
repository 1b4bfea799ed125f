// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session exchanges with the others of its group, beside its own thread where the group
// allows it.
#ifndef ACCC_RUNTIME_CORE_GROUPTHREAD_H
#define ACCC_RUNTIME_CORE_GROUPTHREAD_H

#include "accc/group.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace accc::detail {

/// Does work with a group piece by piece, in the order in which it was given.
class GroupThread {
public:
  explicit GroupThread(Group &group);
  GroupThread(const GroupThread &) = delete;
  /// Waits for what has been given.
  ~GroupThread();

  /// Returns the number of this work, for waitFor(). Where the group is the session's thread's
  /// alone, the work is done when this returns.
  uint64_t start(std::function<void()> work);
  /// Waits until the work of that number, and with it all before, is done. Throws, from then on,
  /// what any work has thrown, after which no other was done.
  void waitFor(uint64_t number);

  Group &group;

private:
  void run();
  void perform(const std::function<void()> &work);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  uint64_t given = 0, done = 0; // numbers of work
  std::exception_ptr failure;
  bool ends = false;
  std::thread thread;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_GROUPTHREAD_H
