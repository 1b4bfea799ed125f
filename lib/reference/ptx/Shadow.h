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
/// clock of the thread's warp, which each barrier advances. All zero: nobody.
struct Stamp {
  static constexpr unsigned clockBits = 24, threadBits = 10, blockBits = 26;
  enum Flag : uint64_t {
    atomic = 1,      ///< of a write: an atomic operation. Of a read: `ld.global.nc`
    manyThreads = 2, ///< other threads of the same block made such an access at the same clock, too
    manyBlocks = 4,  ///< other blocks made such an access, too
  };
  uint64_t bits = 0;

  static Stamp of(uint64_t block, uint32_t thread, uint32_t clock) {
    return {uint64_t(1) << 63 | block << 37 | uint64_t(thread) << 27 | uint64_t(clock) << 3};
  }
  explicit operator bool() const { return bits != 0; }
  bool has(Flag flag) const { return bits & flag; }
  uint32_t block() const { return uint32_t(bits >> 37) & ((1u << blockBits) - 1); }
  uint32_t thread() const { return uint32_t(bits >> 27) & ((1u << threadBits) - 1); }
  uint32_t clock() const { return uint32_t(bits >> 3) & ((1u << clockBits) - 1); }
  uint64_t who() const { return bits & ~uint64_t(7); } ///< without flags
};

/// The last accesses of a few bytes.
struct Cell {
  Stamp write, read;
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
