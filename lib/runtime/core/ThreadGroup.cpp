// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GroupMath.h"
#include "accc/error.h"
#include "accc/group.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace accc {

namespace {

/// What the places of a group share: where each has its data, and a barrier.
class Meeting {
public:
  explicit Meeting(size_t size) : data(size) {}

  /// Waits for all.
  void arrive() {
    std::unique_lock lock(mutex);
    requireAll();
    if (++waiting == data.size()) {
      waiting = 0;
      ++round;
      changed.notify_all();
      return;
    }
    const uint64_t now = round;
    changed.wait(lock, [&] { return round != now || left; });
    if (round == now)
      requireAll();
  }

  void leave() {
    std::lock_guard lock(mutex);
    left = true;
    changed.notify_all();
  }

  std::vector<char *> data; // of each rank

private:
  void requireAll() const {
    if (left)
      throw Error(ErrorKind::usage, "another thread has left the group that trains together");
  }

  std::mutex mutex;
  std::condition_variable changed;
  size_t waiting = 0;
  uint64_t round = 0;
  bool left = false;
};

class ThreadGroup final : public Group {
public:
  ThreadGroup(std::shared_ptr<Meeting> meeting, size_t number)
      : meeting(std::move(meeting)), number(number) {}
  ~ThreadGroup() override { meeting->leave(); }

  int rank() const override { return static_cast<int>(number); }
  int size() const override { return static_cast<int>(meeting->data.size()); }
  bool runs_aside() const override { return true; }

  /// Each adds up a part of the elements, for all, in the order of the ranks.
  void sum(void *data, size_t count, DType type) override {
    const size_t size = meeting->data.size(), bytes = size_of(type);
    std::vector<char> sums(block * bytes);
    meet(data, [&] {
      const size_t end = count * (number + 1) / size;
      for (size_t begin = count * number / size; begin < end; begin += block) {
        const size_t part = std::min(block, end - begin);
        std::memcpy(sums.data(), meeting->data[0] + begin * bytes, part * bytes);
        for (size_t i = 1; i < size; ++i)
          detail::add(sums.data(), meeting->data[i] + begin * bytes, part, type);
        for (char *each : meeting->data)
          std::memcpy(each + begin * bytes, sums.data(), part * bytes);
      }
    });
  }

  void broadcast(void *data, size_t bytes) override {
    meet(data, [&] {
      if (number != 0 && bytes != 0)
        std::memcpy(data, meeting->data[0], bytes);
    });
  }

private:
  static constexpr size_t block = 4096; // elements, which stay in the nearest cache

  template <typename Work> void meet(void *data, Work work) {
    meeting->data[number] = static_cast<char *>(data);
    meeting->arrive();
    work();
    meeting->arrive();
  }

  std::shared_ptr<Meeting> meeting;
  size_t number;
};

} // namespace

std::vector<std::shared_ptr<Group>> thread_groups(int size) {
  if (size < 1)
    throw Error(ErrorKind::usage, "a group needs a thread at least");
  auto meeting = std::make_shared<Meeting>(static_cast<size_t>(size));
  std::vector<std::shared_ptr<Group>> groups;
  for (size_t i = 0; i < static_cast<size_t>(size); ++i)
    groups.push_back(std::make_shared<ThreadGroup>(meeting, i));
  return groups;
}

} // namespace accc
