// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point numbers as a device computes with them.
#ifndef ACCC_REFERENCE_PTX_NUMBERS_H
#define ACCC_REFERENCE_PTX_NUMBERS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace accc::ptx {

/// To nearest even, toward zero, down, up; to nearest, ties away from zero.
enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

/// A binary format of at most 32 bits with an implicit leading bit, infinities and NaN.
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
};
inline constexpr FloatFormat halfFormat{5, 10}, bfloatFormat{8, 7}, floatFormat{8, 23},
    tf32Format{8, 10};

/// `value` in the format, subnormals included; NaN becomes the format's 0x7f...f. A value past the
/// largest one becomes infinite, or the largest, as the rounding has it; `saturate` keeps to the
/// largest.
uint32_t roundTo(double value, FloatFormat format, Rounding rounding, bool saturate = false);

/// a * b + c, rounded so that rounding the result to fewer than half of double's bits is exact
/// ("round to odd"). `a * b` must be exact in double.
double fmaToOdd(double a, double b, double c);

inline constexpr uint32_t canonicalNaN = 0x7fffffff;

inline float canonical(float value) {
  return value == value ? value : std::bit_cast<float>(canonicalNaN);
}
inline double canonical(double value) {
  return value == value ? value : std::bit_cast<double>(uint64_t(0xfff8000000000000));
}

/// Subnormals become zero of the same sign.
inline float flush(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>(bits & (bits & 0x7f800000 ? ~0u : 0x80000000u));
}
inline double flush(double value) { return value; }

float fromHalf(uint16_t bits);
inline float fromBFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
inline uint16_t toHalf(double value, Rounding rounding = Rounding::Nearest) {
  return uint16_t(roundTo(value, halfFormat, rounding));
}
inline uint16_t toBFloat(double value, Rounding rounding = Rounding::Nearest) {
  return uint16_t(roundTo(value, bfloatFormat, rounding));
}

/// The operation in a rounding mode of the processor's. `operation` is called once.
enum class Operation : uint8_t { Add, Multiply, Divide, MultiplyAdd, SquareRoot };
float compute(Operation operation, Rounding rounding, float a, float b, float c);
double compute(Operation operation, Rounding rounding, double a, double b, double c);
float convertToFloat(Rounding rounding, int64_t value);
float convertToFloat(Rounding rounding, uint64_t value);
double convertToDouble(Rounding rounding, int64_t value);
double convertToDouble(Rounding rounding, uint64_t value);

/// A value without a fraction.
double roundToInteger(double value, Rounding rounding);

} // namespace accc::ptx

#endif
