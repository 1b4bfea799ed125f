// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who wrote and read each byte of a memory during a launch.
#ifndef ACCC_REFERENCE_PTX_SHADOW_H
#define ACCC_REFERENCE_PTX_SHADOW_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace accc::ptx {

/// Who made an access and when: block and thread by their linear numbers, and the value of the
/// clock of the thread's warp, which each barrier advances. All zero: nobody. Flags say that others
/// made such an access as well since it may last have been ordered.
struct Stamp {
  static constexpr unsigned clockBits = 24, threadBits = 10, blockBits = 25;
  enum Flag : uint64_t {
    nonCoherent = 1, ///< a read by `ld.global.nc`
    manyThreads = 2, ///< other threads of the same warp at the same clock, too
    manyWarps = 4,   ///< other warps of the block, too
    manyBlocks = 8,  ///< other blocks, too
  };
  uint64_t bits = 0;

  static Stamp of(uint64_t block, uint32_t thread, uint32_t clock) {
    return {uint64_t(1) << 63 | block << 38 | uint64_t(thread) << 28 | uint64_t(clock) << 4};
  }
  explicit operator bool() const { return bits != 0; }
  bool has(Flag flag) const { return bits & flag; }
  uint32_t block() const { return uint32_t(bits >> 38) & ((1u << blockBits) - 1); }
  uint32_t thread() const { return uint32_t(bits >> 28) & ((1u << threadBits) - 1); }
  uint32_t warp() const { return thread() / 32; }
  uint32_t clock() const { return uint32_t(bits >> 4) & ((1u << clockBits) - 1); }
  uint64_t who() const { return bits & ~uint64_t(15); } ///< without flags
};

/// The last accesses of a few bytes. Strong and atomic writes are on their own: they order nothing
/// among each other and may follow each other unordered.
struct Cell {
  Stamp write, read, atomic;
};

/// Cells for a range of memory, made where they are touched. All bytes of a page share a
/// granularity: the smallest access that the page has seen, up to 16 bytes; so neighbours in a word
/// are told apart.
class Shadow {
public:
  /// The cells of an access of `bytes` (a power of two up to 16) bytes at `offset`, a multiple of
  /// `bytes`; their number goes to `count`. Cells of an earlier generation are empty.
  Cell *cells(uint64_t offset, unsigned bytes, uint32_t generation, unsigned &count);
  void clear() { pages.clear(); }

private:
  static constexpr unsigned pageBytes = 1024;
  struct Page {
    std::unique_ptr<Cell[]> cells;
    uint32_t generation = 0;
    uint8_t shift = 0; ///< bytes a cell, as a power of two
  };
  void prepare(Page &page, unsigned shift, uint32_t generation);

  std::vector<Page> pages;
};

} // namespace accc::ptx

#endif
