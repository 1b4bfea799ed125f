// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that oneDNN takes for granted: whatever OpenMP is told, and wherever a program runs a
// step.
#include "cpu/Team.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace accc::detail;

// Of libgomp, as in Team.cpp.
extern "C" {
int omp_get_max_active_levels();
void omp_set_max_active_levels(int levels);
}

/// How many threads of a team work.
static int countWorking(const Team &team) {
  std::atomic<int> count = 0;
  team.run([&](int, int) { ++count; });
  return count;
}

TEST_CASE("team: all threads work where OpenMP would take one") {
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
  Team team(2);
  CHECK(countWorking(team) == 1);
  {
    Team::Scope scope(team);
    CHECK(countWorking(team) == 2);
  }
  CHECK(omp_get_max_active_levels() == 0);
  omp_set_max_active_levels(before);
}

TEST_CASE("team: all threads work inside a parallel region of the program's") {
  Team team(2);
  int inside = 0, outside = 0, alone = 0;
  team.run([&](int thread, int) {
    if (thread != 0)
      return;
    inside = countWorking(team);
    team.runOutside([&] { outside = countWorking(team); });
    Team(1).runOutside([&] { alone = countWorking(team); });
  });
  CHECK(inside == 1);
  CHECK(outside == 2);
  CHECK(alone == 1); // one thread needs no other
}

TEST_CASE("team: all threads work in a child of fork()") {
  Team team(2);
  REQUIRE(countWorking(team) == 2); // OpenMP has threads, which the child does not
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr unsigned mostSeconds = 60; // else it would wait for ever
    ::alarm(mostSeconds);
    int working = 0;
    for (int i = 0; i < 2; ++i)
      team.runOutside([&] { working += countWorking(team); });
    ::_exit(working == 4 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  team.runOutside([&] { CHECK(countWorking(team) == 2); });
}
