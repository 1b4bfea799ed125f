// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu/FloatModes.h"

#include <catch2/catch.hpp>

#include <array>
#include <cfenv>

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

/// The sum of one and a little on each thread; zero on those that there are not.
std::array<float, 4> sums(const Team &team) {
  std::array<float, 4> result = {};
  team.run([&](int thread, int) {
    volatile float one = 1, little = 1e-20f;
    result.at(static_cast<size_t>(thread)) = one + little;
  });
  return result;
}

/// Divides by zero on all threads.
void divide(const Team &team) {
  team.run([](int, int) {
    volatile float one = 1, zero = 0;
    volatile float infinity = one / zero;
    (void)infinity;
  });
}

std::array<bool, 4> firstOf(int threads) {
  std::array<bool, 4> all = {};
  for (int i = 0; i < threads; ++i)
    all.at(static_cast<size_t>(i)) = true;
  return all;
}

} // namespace

TEST_CASE("float modes: subnormals are zero on all threads of a step, and on none after it") {
  for (int threads : {1, 2, 4}) {
    Team team(threads);
    CHECK(threadsWithSubnormals(team) == firstOf(threads));
    {
      FloatModes modes(team);
      CHECK(threadsWithSubnormals(team) == std::array<bool, 4>{});
      {
        FloatModes nested(team); // the step of another session
        CHECK(threadsWithSubnormals(team) == std::array<bool, 4>{});
      }
      CHECK(threadsWithSubnormals(team) == std::array<bool, 4>{});
    }
    CHECK(threadsWithSubnormals(team) == firstOf(threads));
  }
}

TEST_CASE("float modes: a step rounds to nearest and does not trap, whatever the program does") {
  for (int threads : {1, 2, 4}) {
    Team team(threads);
    team.run([](int, int) {
      std::feclearexcept(FE_ALL_EXCEPT);
      std::fesetround(FE_UPWARD);
      ::feenableexcept(FE_DIVBYZERO | FE_INVALID);
    });
    const std::array<float, 4> upward = sums(team);
    CHECK(upward[0] > 1);
    team.run([](int, int) { std::feclearexcept(FE_ALL_EXCEPT); });
    {
      FloatModes modes(team);
      divide(team);
      const std::array<float, 4> found = sums(team);
      for (size_t i = 0; i < found.size(); ++i)
        CHECK(found.at(i) == (upward.at(i) > 0 ? 1.0f : 0.0f));
    }
    CHECK(sums(team) == upward);
    CHECK(std::fetestexcept(FE_DIVBYZERO) == 0);
    CHECK(::fegetexcept() == (FE_DIVBYZERO | FE_INVALID));
    team.run([](int, int) {
      ::fedisableexcept(FE_ALL_EXCEPT);
      std::fesetround(FE_TONEAREST);
    });
  }
}
