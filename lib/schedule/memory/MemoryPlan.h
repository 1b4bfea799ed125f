// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets for buffers with known lifetimes.
#ifndef ACCC_SCHEDULE_MEMORY_MEMORYPLAN_H
#define ACCC_SCHEDULE_MEMORY_MEMORYPLAN_H

#include <cstdint>
#include <vector>

namespace accc {

/// A buffer that is live from step `first` to step `last`, both included.
struct Lifetime {
  int64_t size; // bytes
  int64_t first, last;
  int64_t offset = -1; // the plan
};

/// Gives every buffer an offset, a multiple of `alignment`, such that no two that are live at the
/// same step overlap. Largest first, each at the lowest gap that fits: Pisarchyk and Lee,
/// "Efficient memory management for deep neural net inference", 2020 (greedy by size). Where that
/// takes more than what is live at one step, tries again with the buffer that ended highest put
/// first. That looks at pairs of buffers: tens of thousands are rather placed in the order of their
/// first steps, each in the smallest gap that fits. No more is tried where a plan needs no more
/// than `enough`. Returns the bytes needed from `base` on.
int64_t planMemory(std::vector<Lifetime> &buffers, int64_t alignment, int64_t base,
                   int64_t enough = 0);

} // namespace accc

#endif
