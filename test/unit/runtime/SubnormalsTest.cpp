// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu/Subnormals.h"

#include <catch2/catch.hpp>

#include <array>

using namespace accc::detail;

namespace {

/// Whether each thread has a product below the smallest normal float, and a sum with such an
/// operand.
std::array<bool, 4> threadsWithSubnormals(const Team &team) {
  std::array<bool, 4> has = {};
  team.run([&](int thread, int) {
    volatile float small = 1e-30f, tiny = 1e-10f, subnormal = 1e-40f, zero = 0;
    volatile float product = small * tiny, sum = subnormal + zero;
    has.at(static_cast<size_t>(thread)) = product != 0.0f && sum != 0.0f;
  });
  return has;
}

} // namespace

TEST_CASE("subnormals: zero on all threads of a step, and on none after it") {
  for (int threads : {1, 2, 4}) {
    Team team(threads);
    std::array<bool, 4> all = {};
    for (int i = 0; i < threads; ++i)
      all.at(static_cast<size_t>(i)) = true;
    CHECK(threadsWithSubnormals(team) == all);
    {
      FlushSubnormals flush(team);
      CHECK(threadsWithSubnormals(team) == std::array<bool, 4>{});
    }
    CHECK(threadsWithSubnormals(team) == all);
  }
}
