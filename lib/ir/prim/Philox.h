// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counter-based generator Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1,
// 2, 3, 2011).
#ifndef ACCC_IR_PRIM_PHILOX_H
#define ACCC_IR_PRIM_PHILOX_H

#include "mlir/IR/Builders.h"

#include <array>
#include <cstdint>

namespace accc::prim::philox {

// Table 2: multipliers, and Weyl increments of the key.
inline constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
inline constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;
/// How many words a counter gives.
inline constexpr int64_t kWords = 4;

/// The four words that a counter and a key give.
inline std::array<uint32_t, kWords> words(std::array<uint32_t, kWords> counter, uint32_t key0,
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

/// The words of the blocks with these numbers, of a prim.random_bits with this stream: 32 bits for
/// each block. `block` is an i32 (of fewer than 2^32 blocks) or an i64, seed and step are i64; all
/// are scalars, or vectors of as many lanes.
std::array<mlir::Value, kWords> emitWords(mlir::OpBuilder &builder, mlir::Location loc,
                                          mlir::Value block, mlir::Value seed, mlir::Value step,
                                          int64_t stream);

/// The type of a block's number, of a random_bits of so many elements.
mlir::IntegerType getBlockType(mlir::MLIRContext *context, int64_t elements);

/// Word `which` (an i32, in the shape of the words) of a block.
mlir::Value emitChoice(mlir::OpBuilder &builder, mlir::Location loc,
                       const std::array<mlir::Value, kWords> &words, mlir::Value which);

} // namespace accc::prim::philox

#endif
