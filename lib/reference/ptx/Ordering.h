// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses of a launch happen before which: what makes a data race.
//
// Each warp has a clock, which every barrier that it passes advances; all clocks of a block are
// equal after a barrier of the whole block. Two accesses of different threads are ordered by a
// barrier between them, or by a fence and a strong or atomic write after the first, whose value a
// strong or atomic read before the second sees, with a fence after it (PTX memory model: release
// and acquire patterns). Accesses of one warp are ordered by bar.warp.sync, for which any mask
// counts as the whole warp.
#ifndef ACCC_REFERENCE_PTX_ORDERING_H
#define ACCC_REFERENCE_PTX_ORDERING_H

#include "reference/ptx/Shadow.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace accc::ptx {

/// What a thread's fence makes visible.
struct Release {
  uint32_t block = 0, thread = 0;
  uint32_t clock = 0;         ///< of the thread's warp
  std::vector<uint32_t> seen; ///< of the thread's block: accesses of warp i before clock seen[i]
  std::vector<std::shared_ptr<const Release>> before; ///< what the thread had acquired
};
using ReleasePtr = std::shared_ptr<const Release>;

/// By address: the releases that a read there may see.
using Releases = std::unordered_map<uint64_t, std::vector<ReleasePtr>>;

/// The order of one block's accesses among themselves, and after those of other blocks.
class Ordering {
public:
  /// A block of `warps` warps starts.
  void start(uint32_t block, uint32_t warps, uint32_t blocksBefore);

  Stamp now(uint32_t warp, unsigned lane) const {
    return Stamp::of(block, warp * 32 + lane, clocks[warp]);
  }

  // Barriers.
  void wholeBlock();
  void someWarps(const std::vector<uint32_t> &warps);
  void oneWarp(uint32_t warp);

  // Fences and what goes through memory.
  void fence(uint32_t thread);
  void strongWrite(uint32_t thread, Releases &releases, uint64_t address);
  void strongRead(uint32_t thread, const Releases &releases, uint64_t address);

  /// Whether all accesses that `earlier` stands for happen before an access of `me`.
  bool settled(Stamp earlier, Stamp me) const {
    constexpr uint64_t many = Stamp::manyThreads | Stamp::manyWarps | Stamp::manyBlocks;
    if (earlier.who() == me.who() && !(earlier.bits & many))
      return true;
    if (earlier.block() == block && earlier.clock() < floor && !(earlier.bits & Stamp::manyBlocks))
      return true;
    return settledSlow(earlier, me);
  }
  /// The stamp that stands for `earlier` and, after it, `me`.
  Stamp join(Stamp earlier, Stamp me) const {
    if (!earlier || (earlier.who() == me.who()))
      return {me.bits | (earlier.bits & 15)};
    return joinSlow(earlier, me);
  }

private:
  bool settledSlow(Stamp earlier, Stamp me) const;
  Stamp joinSlow(Stamp earlier, Stamp me) const;
  bool directlyBefore(Stamp earlier, Stamp me) const;
  bool acquiredBefore(Stamp earlier, Stamp me) const;
  uint32_t advance();

  struct Acquired {
    ReleasePtr release;
    Stamp by; ///< effective for what comes after this
  };
  struct Thread {
    ReleasePtr fenced;               ///< what its next strong write releases
    std::vector<ReleasePtr> pending; ///< what its next fence acquires
  };

  uint32_t block = 0, blocksBefore = 0;
  uint32_t floor = 1; ///< accesses at earlier clocks lie before the last barrier of the whole block
  uint32_t last = 1;  ///< the greatest clock
  std::vector<uint32_t> clocks; ///< of each warp
  std::vector<std::vector<uint32_t>>
      seen; ///< [i][j]: warp i comes after what warp j did before this clock
  std::vector<Acquired> acquired;
  std::unordered_map<uint32_t, Thread> threads;
};

} // namespace accc::ptx

#endif
