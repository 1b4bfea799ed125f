// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counter-based generator Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1,
// 2, 3, 2011).
#ifndef ACCC_IR_PRIM_PHILOX_H
#define ACCC_IR_PRIM_PHILOX_H

#include <array>
#include <cstdint>

namespace accc::prim::philox {

// Table 2: multipliers, and Weyl increments of the key.
inline constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
inline constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;

/// The four words that a counter and a key give.
inline std::array<uint32_t, 4> words(std::array<uint32_t, 4> counter, uint32_t key0,
                                     uint32_t key1) {
  for (int round = 0; round < kRounds; ++round) {
    uint64_t product0 = uint64_t(kMultiplier0) * counter[0];
    uint64_t product1 = uint64_t(kMultiplier1) * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

} // namespace accc::prim::philox

#endif
