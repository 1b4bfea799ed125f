// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of threads, and the thread that works with a group beside a session's.
#include "accc/accc.h"
#include "core/GroupMath.h"
#include "core/GroupThread.h"
#include "data/HalfFloats.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

using namespace accc;
using accc::detail::GroupThread;

namespace {

/// Runs work(group) in a thread for each place.
template <typename Work> void runAll(int size, Work work) {
  std::vector<std::thread> threads;
  for (auto &group : thread_groups(size))
    threads.emplace_back([&work, group = std::move(group)] { work(*group); });
  for (std::thread &thread : threads)
    thread.join();
}

/// What one process makes of a value: elements as bytes.
template <typename T> std::vector<T> numbers(size_t count, int rank) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<int64_t>(i % 100) * (rank + 1));
  return values;
}

template <typename T> void checkSums(DType type) {
  for (size_t count : {0, 1, 2, 5, 10007}) {
    std::atomic<int> right = 0;
    runAll(3, [&](Group &group) {
      std::vector<T> values = numbers<T>(count, group.rank());
      group.sum(values.data(), count, type);
      std::vector<T> expected = numbers<T>(count, 5); // 1 + 2 + 3 times
      right += values == expected;
    });
    CHECK(right == 3);
  }
}

} // namespace

TEST_CASE("threads of a group add up what each has") {
  checkSums<float>(DType::f32);
  checkSums<double>(DType::f64);
  checkSums<int64_t>(DType::i64);
}

TEST_CASE("threads of a group add up 16-bit floats") {
  std::atomic<int> right = 0;
  runAll(4, [&](Group &group) {
    std::vector<uint16_t> half(9, detail::toHalf(1.5f)), brain(9, detail::toBrainFloat(1.5f));
    group.sum(half.data(), half.size(), DType::f16);
    group.sum(brain.data(), brain.size(), DType::bf16);
    right += detail::fromHalf(half[8]) == 6.0f && detail::fromBrainFloat(brain[8]) == 6.0f;
  });
  CHECK(right == 4);
}

TEST_CASE("all threads of a group get the same bits") {
  // Sums of these depend on their order.
  std::vector<std::vector<float>> sums(3, std::vector<float>(1000));
  runAll(3, [&](Group &group) {
    std::vector<float> &own = sums[static_cast<size_t>(group.rank())];
    for (size_t i = 0; i < own.size(); ++i)
      own[i] = 1.0f / static_cast<float>(3 * i + static_cast<size_t>(group.rank()) + 1);
    group.sum(own.data(), own.size(), DType::f32);
  });
  CHECK(sums[0] == sums[1]);
  CHECK(sums[0] == sums[2]);
}

TEST_CASE("threads of a group take over what the first has") {
  std::atomic<int> right = 0;
  runAll(3, [&](Group &group) {
    std::vector<char> bytes(11, static_cast<char>('a' + group.rank()));
    for (int i = 0; i < 20; ++i)
      group.broadcast(bytes.data(), bytes.size());
    right += bytes == std::vector<char>(11, 'a');
  });
  CHECK(right == 3);
}

TEST_CASE("who waits for a thread that has left its group is told so") {
  auto groups = thread_groups(2);
  std::string message;
  std::thread waits([&] {
    try {
      float value = 1;
      groups[0]->sum(&value, 1, DType::f32);
    } catch (const Error &error) {
      message = error.what();
    }
  });
  groups[1].reset();
  waits.join();
  CHECK(message == "another thread has left the group that trains together");
}

TEST_CASE("a group has a thread at least, and adds up what a group may") {
  CHECK_THROWS_WITH(thread_groups(0), "a group needs a thread at least");
  auto group = thread_groups(1).front();
  CHECK(group->size() == 1);
  int32_t value = 1;
  CHECK_THROWS_WITH(detail::add(&value, &value, 1, DType::i32), "a group does not add up i32");
}

TEST_CASE("tensors are multiplied in their own type, 16-bit floats in f32") {
  std::vector<float> f32{1, 2, 3};
  std::vector<float> to(3);
  detail::scale(to.data(), f32.data(), 3, DType::f32, 1.0 / 3);
  CHECK(to == std::vector<float>{1 * (1.0f / 3), 2 * (1.0f / 3), 3 * (1.0f / 3)});
  double f64 = 5;
  detail::scale(&f64, &f64, 1, DType::f64, 0.1);
  CHECK(f64 == 5 * 0.1);
  uint16_t half = detail::toHalf(7);
  detail::scale(&half, &half, 1, DType::f16, 1.0 / 3);
  CHECK(half == detail::toHalf(7 * (1.0f / 3)));
}

namespace {
/// A group whose calls are the session's thread's alone, or may be another's.
struct Alone final : Group {
  explicit Alone(bool aside) : aside(aside) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(void *, size_t, DType) override {}
  void broadcast(void *, size_t) override {}
  bool runs_aside() const override { return aside; }
  bool aside;
};
} // namespace

TEST_CASE("work with a group is done in order, in the thread that may do it") {
  for (bool aside : {false, true}) {
    Alone group(aside);
    GroupThread others(group);
    std::vector<int> done;
    std::thread::id thread;
    uint64_t last = 0;
    for (int i = 0; i < 100; ++i)
      last = others.start([&, i] {
        done.push_back(i);
        thread = std::this_thread::get_id();
      });
    others.waitFor(last);
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    CHECK(done == all);
    CHECK((thread != std::this_thread::get_id()) == aside);
  }
}

TEST_CASE("once work with a group has failed nothing follows it") {
  for (bool aside : {false, true}) {
    Alone group(aside);
    GroupThread others(group);
    int done = 0;
    uint64_t first = others.start([&] { ++done; });
    uint64_t second = others.start([] { throw Error(ErrorKind::machine, "the line is cut"); });
    uint64_t third = others.start([&] { ++done; });
    if (!aside)
      CHECK_THROWS_WITH(others.waitFor(first), "the line is cut");
    CHECK_THROWS_WITH(others.waitFor(second), "the line is cut");
    CHECK_THROWS_WITH(others.waitFor(third), "the line is cut");
    CHECK(done == 1);
  }
}
