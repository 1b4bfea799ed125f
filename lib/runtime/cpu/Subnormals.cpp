// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Subnormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace accc::detail {

#if defined(__x86_64__)

namespace {
/// "Flush to zero" and "denormals are zero" of the register MXCSR, which every thread has.
constexpr unsigned modes = 0x8000 | 0x0040;
/// What the thread's were; others than those two are its own affair.
thread_local unsigned before;
} // namespace

FlushSubnormals::FlushSubnormals(const Team &team) : team(team) {
  team.run([](int, int) {
    unsigned now = _mm_getcsr();
    before = now & modes;
    _mm_setcsr(now | modes);
  });
}

FlushSubnormals::~FlushSubnormals() {
  team.run([](int, int) { _mm_setcsr((_mm_getcsr() & ~modes) | before); });
}

#else

FlushSubnormals::FlushSubnormals(const Team &team) : team(team) {}
FlushSubnormals::~FlushSubnormals() = default;

#endif

} // namespace accc::detail
