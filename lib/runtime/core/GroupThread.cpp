// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GroupThread.h"

namespace accc::detail {

GroupThread::GroupThread(Group &group) : group(group) {
  if (group.runs_aside())
    thread = std::thread([this] { run(); });
}

GroupThread::~GroupThread() {
  {
    std::lock_guard lock(mutex);
    ends = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void GroupThread::perform(const std::function<void()> &work) {
  std::unique_lock lock(mutex);
  if (!failure) {
    lock.unlock();
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    failure = error;
  }
  ++done;
}

void GroupThread::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ends || !waiting.empty(); });
    if (waiting.empty())
      return;
    std::function<void()> work = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    perform(work);
    changed.notify_all();
    lock.lock();
  }
}

uint64_t GroupThread::start(std::function<void()> work) {
  uint64_t number = ++given;
  if (!thread.joinable()) {
    perform(work);
    return number;
  }
  {
    std::lock_guard lock(mutex);
    waiting.push_back(std::move(work));
  }
  changed.notify_all();
  return number;
}

void GroupThread::waitFor(uint64_t number) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= number; });
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace accc::detail
