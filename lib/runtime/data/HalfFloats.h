// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between f32 and the 16-bit floats, on any CPU: f16 (IEEE 754 binary16) and bf16, the upper half
// of an f32. Rounds to nearest even. No step works with subnormal f32, which a session takes for
// zero.
#ifndef ACCC_RUNTIME_DATA_HALFFLOATS_H
#define ACCC_RUNTIME_DATA_HALFFLOATS_H

#include <bit>
#include <cstdint>

namespace accc::detail {

inline float fromBrainFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t toBrainFloat(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) // a NaN stays one
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float fromHalf(uint16_t half) {
  uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  uint32_t bits = (magnitude << 13) + (112u << 23); // the exponents' biases are 15 and 127
  if (magnitude >= 0x7c00)                          // infinity and NaN
    bits |= 0x7f800000;
  else if (magnitude < 0x400) // zero and subnormals: multiples of 2^-24
    bits = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  return std::bit_cast<float>(sign | bits);
}

inline uint16_t toHalf(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00);
  if (bits >= 0x477ff000) // 65520, half way to what would follow the greatest
    return static_cast<uint16_t>(sign | 0x7c00);
  if (bits < 0x38800000) { // below 2^-14; the last place of 0.5 is 2^-24, to which this rounds
    uint32_t shifted = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f);
    return static_cast<uint16_t>(sign | (shifted - 0x3f000000));
  }
  bits += 0xfff + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | ((bits - (112u << 23)) >> 13));
}

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_HALFFLOATS_H
