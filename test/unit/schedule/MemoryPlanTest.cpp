// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets of buffers: never two at one place at one time, and few bytes in all.
#include "schedule/memory/MemoryPlan.h"

#include <catch2/catch.hpp>

#include <random>

using namespace accc;

namespace {

constexpr int64_t kAlignment = 64, kBase = 64;

bool areDisjoint(const std::vector<Lifetime> &buffers) {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Lifetime &a = buffers[i], &b = buffers[j];
      bool meet = a.first <= b.last && b.first <= a.last;
      if (meet && a.offset < b.offset + b.size && b.offset < a.offset + a.size)
        return false;
    }
  return true;
}

} // namespace

TEST_CASE("plans of any lifetimes are disjoint, aligned and within what they say") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> buffers(1 + random() % 60);
    for (Lifetime &buffer : buffers) {
      buffer.size = static_cast<int64_t>(random() % 1000);
      buffer.first = static_cast<int64_t>(random() % 40);
      buffer.last = buffer.first + static_cast<int64_t>(random() % 10);
    }
    int64_t end = planMemory(buffers, kAlignment, kBase);
    CHECK(areDisjoint(buffers));
    CHECK(end % kAlignment == 0);
    for (const Lifetime &buffer : buffers) {
      CHECK(buffer.offset % kAlignment == 0);
      CHECK(buffer.offset >= kBase);
      CHECK(buffer.offset + buffer.size <= end);
    }
  }
}

TEST_CASE("a plan without buffers has its base") {
  std::vector<Lifetime> none;
  CHECK(planMemory(none, kAlignment, kBase) == kBase);
}

TEST_CASE("where largest first takes more than what is live, another order is tried") {
  // The last one ends highest, at 512: beside 192 and 128 there is no room below 256.
  std::vector<Lifetime> buffers{{128, 0, 2}, {192, 0, 0}, {256, 1, 2}, {128, 0, 0}};
  CHECK(planMemory(buffers, kAlignment, 0) == 448);
  CHECK(areDisjoint(buffers));
}
