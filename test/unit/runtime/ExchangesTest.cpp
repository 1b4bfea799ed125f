// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives of an entry point on CPUs, in a group of threads.
#include "cpu/Exchanges.h"
#include "accc/accc.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace accc;
using namespace accc::detail;

namespace {

/// An entry point of one collective of f32 tensors with these numbers of elements, behind it a step
/// that reads the first of them.
struct OneCollective {
  OneCollective(accc_collective_kind kind, std::vector<size_t> counts) : counts(std::move(counts)) {
    uint64_t offset = 0;
    for (accc_access access : {ACCC_READ, ACCC_WRITE})
      for (size_t count : this->counts) {
        buffers.push_back({.space = ACCC_ARENA,
                           .access = access,
                           .offset = offset,
                           .bytes = count * sizeof(float)});
        offset += (count * sizeof(float) + 63) / 64 * 64;
      }
    const auto tensors = static_cast<int32_t>(this->counts.size());
    steps[0] = {.kind = ACCC_STEP_COLLECTIVE, .num_buffers = 2 * tensors};
    buffers.push_back(buffers[static_cast<size_t>(tensors)]);
    buffers.back().access = ACCC_READ;
    steps[1] = {.kind = ACCC_STEP_LAUNCH, .first_buffer = 2 * tensors, .num_buffers = 1};
    collective = {.kind = kind, .dtype = ACCC_F32};
    entry.name = "train_step";
    entry.num_steps = 2;
    entry.steps = steps;
    entry.num_buffers = static_cast<int32_t>(buffers.size());
    entry.buffers = buffers.data();
    entry.num_collectives = 1;
    entry.collectives = &collective;
  }

  std::vector<size_t> counts;
  std::vector<accc_buffer> buffers;
  accc_step steps[2];
  accc_collective collective;
  accc_entry entry{};
};

/// Element `i` of a tensor of a rank.
float valueOf(int rank, size_t tensor, size_t i) {
  return static_cast<float>((rank + 1) * static_cast<int>(tensor * 1000 + i % 500));
}

/// What a rank received, after the step that reads it may begin.
std::vector<std::vector<float>> exchanged(const OneCollective &one, Group *group, int rank,
                                          bool inPlace) {
  std::vector<std::vector<float>> sent, received;
  for (size_t tensor = 0; tensor < one.counts.size(); ++tensor) {
    std::vector<float> &values = sent.emplace_back(one.counts[tensor]);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = valueOf(rank, tensor, i);
    received.emplace_back(one.counts[tensor], -1.0f);
  }
  std::vector<char *> addresses;
  for (auto *tensors : {&sent, inPlace ? &sent : &received})
    for (std::vector<float> &values : *tensors)
      addresses.push_back(reinterpret_cast<char *>(values.data()));
  std::optional<GroupThread> others;
  if (group)
    others.emplace(*group);
  Exchanges exchanges(one.entry, others ? &*others : nullptr);
  exchanges.waitBefore(one.steps[0]);
  exchanges.start(one.steps[0], addresses.data());
  exchanges.waitBefore(one.steps[1]);
  return inPlace ? sent : received;
}

/// How many elements are not what `expected(tensor, i)` says.
template <typename Expected>
int64_t countWrong(const std::vector<std::vector<float>> &found, Expected expected) {
  int64_t wrong = 0;
  for (size_t tensor = 0; tensor < found.size(); ++tensor)
    for (size_t i = 0; i < found[tensor].size(); ++i)
      wrong += found[tensor][i] != expected(tensor, i);
  return wrong;
}

template <typename Work> void runTwo(Work work) {
  std::vector<std::thread> threads;
  for (auto &group : thread_groups(2))
    threads.emplace_back([&work, group = std::move(group)] { work(*group); });
  for (std::thread &thread : threads)
    thread.join();
}

// Some travel together, one in two messages' bounds, one alone.
const std::vector<size_t> kCounts = {1, 70, 0, 100000, 100000, 100000, 600000, 3, 262144, 1};

} // namespace

TEST_CASE("exchanges: tensors of all sizes become their means") {
  const OneCollective one(ACCC_ALL_REDUCE, kCounts);
  for (bool inPlace : {false, true}) {
    std::atomic<int64_t> wrong = 0;
    runTwo([&](Group &group) {
      wrong +=
          countWrong(exchanged(one, &group, group.rank(), inPlace), [](size_t tensor, size_t i) {
            return valueOf(0, tensor, i) / 2 + valueOf(1, tensor, i) / 2;
          });
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("exchanges: tensors of all sizes become their sums") {
  const OneCollective one(ACCC_ALL_REDUCE_SUM, kCounts);
  for (bool inPlace : {false, true}) {
    std::atomic<int64_t> wrong = 0;
    runTwo([&](Group &group) {
      wrong +=
          countWrong(exchanged(one, &group, group.rank(), inPlace), [](size_t tensor, size_t i) {
            return valueOf(0, tensor, i) + valueOf(1, tensor, i);
          });
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("exchanges: tensors of all sizes become those of the first process") {
  const OneCollective one(ACCC_BROADCAST, kCounts);
  for (bool inPlace : {false, true}) {
    std::atomic<int64_t> wrong = 0;
    runTwo([&](Group &group) {
      wrong += countWrong(exchanged(one, &group, group.rank(), inPlace),
                          [](size_t tensor, size_t i) { return valueOf(0, tensor, i); });
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("exchanges: who trains alone receives what it sends") {
  for (accc_collective_kind kind : {ACCC_ALL_REDUCE, ACCC_BROADCAST, ACCC_ALL_REDUCE_SUM}) {
    const OneCollective one(kind, kCounts);
    CHECK(countWrong(exchanged(one, nullptr, 0, false),
                     [](size_t tensor, size_t i) { return valueOf(0, tensor, i); }) == 0);
  }
}

TEST_CASE("exchanges: all go on, or none") {
  const OneCollective one(ACCC_ALL_REDUCE, {1});
  for (bool goesOn : {true, false}) {
    std::atomic<int> agreed = 0;
    runTwo([&](Group &group) {
      GroupThread others(group);
      agreed += Exchanges(one.entry, &others).agree(group.rank() == 0 || goesOn);
    });
    CHECK(agreed == (goesOn ? 2 : 0));
  }
  CHECK(Exchanges(one.entry, nullptr).agree(true));
  CHECK_FALSE(Exchanges(one.entry, nullptr).agree(false));
}
