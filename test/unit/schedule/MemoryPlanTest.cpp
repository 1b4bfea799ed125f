// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets of buffers: never two at one place at one time, and few bytes in all.
#include "schedule/memory/MemoryPlan.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace accc;

namespace {

constexpr int64_t kAlignment = 64, kBase = 64;

bool areDisjoint(std::vector<Lifetime> buffers) {
  std::sort(buffers.begin(), buffers.end(),
            [](const Lifetime &a, const Lifetime &b) { return a.first < b.first; });
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = i + 1; j < buffers.size() && buffers[j].first <= buffers[i].last; ++j) {
      const Lifetime &a = buffers[i], &b = buffers[j];
      if (a.offset < b.offset + b.size && b.offset < a.offset + a.size)
        return false;
    }
  return true;
}

void checkPlan(std::mt19937 &random, size_t count, uint64_t steps, int64_t most) {
  std::vector<Lifetime> buffers(count);
  for (Lifetime &buffer : buffers) {
    buffer.size = static_cast<int64_t>(random() % 1000);
    buffer.first = static_cast<int64_t>(random() % steps);
    buffer.last = buffer.first + static_cast<int64_t>(random() % 10);
  }
  int64_t end = planMemory(buffers, kAlignment, kBase);
  CHECK(areDisjoint(buffers));
  CHECK(end % kAlignment == 0);
  CHECK(end <= most);
  for (const Lifetime &buffer : buffers)
    if (buffer.offset % kAlignment != 0 || buffer.offset < kBase ||
        buffer.offset + buffer.size > end)
      FAIL("a buffer at " << buffer.offset);
}

} // namespace

TEST_CASE("plans of any lifetimes are disjoint, aligned and within what they say") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round)
    checkPlan(random, 1 + random() % 60, 40, 60 * 1024 + kBase);
}

// About 6 of 500 bytes are live at a step.
TEST_CASE("plans of very many buffers are made in the order of time, and are small as well") {
  std::mt19937 random(8);
  checkPlan(random, 40000, 40000, 20000);
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
