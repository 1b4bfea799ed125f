// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatModes.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace accc::detail {

#if defined(__x86_64__)

namespace {
/// Of the register MXCSR, which every thread has: no traps, rounding to nearest, no flags; "flush
/// to zero" and "denormals are zero".
constexpr unsigned modesOfSteps = 0x1f80 | 0x8000 | 0x0040;
/// What the thread's register was outside of steps, and how many it is in.
thread_local unsigned before, depth;
} // namespace

FloatModes::FloatModes(const Team &team) : team(team) {
  team.run([](int, int) {
    if (depth++ == 0)
      before = _mm_getcsr();
    _mm_setcsr(modesOfSteps);
  });
}

FloatModes::~FloatModes() {
  team.run([](int, int) { _mm_setcsr(--depth == 0 ? before : modesOfSteps); });
}

#else

FloatModes::FloatModes(const Team &team) : team(team) {}
FloatModes::~FloatModes() = default;

#endif

} // namespace accc::detail
